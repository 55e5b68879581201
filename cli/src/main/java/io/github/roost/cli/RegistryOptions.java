package io.github.roost.cli;

import io.github.roost.rows.service.Tokens;
import io.github.roost.rows.service.etcd.EtcdRegistry;
import io.github.roost.simulator.options.CommandFailure;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options shared by all parts of a table service: the registry, the table, and the token. */
final class RegistryOptions {
    private static final int MAX_PORT = 65_535;

    @Option(
            names = "--registry",
            paramLabel = "URI",
            description = "Address of etcd, http or https; may be given several times; default http://127.0.0.1:2379.")
    private List<URI> registry = List.of(URI.create("http://127.0.0.1:2379"));

    @Option(
            names = "--registry-trusted",
            paramLabel = "FILE",
            description = "Certificates (PEM) of the authorities that etcd's is checked against; default the JDK's.")
    private @Nullable Path trusted;

    @Option(
            names = "--registry-certificate",
            paramLabel = "FILE",
            description = "Certificate (PEM) for an etcd that asks for one.")
    private @Nullable Path certificate;

    @Option(names = "--registry-key", paramLabel = "FILE", description = "Private key (PEM) of the certificate.")
    private @Nullable Path key;

    @Option(
            names = "--registry-user",
            paramLabel = "NAME",
            description = "User of an etcd with authentication; its password is in ROOST_REGISTRY_PASSWORD.")
    private @Nullable String user;

    @Option(names = "--registry-prefix", paramLabel = "PREFIX", description = "Begins all keys in etcd; default none.")
    private String prefix = "";

    @Option(names = "--table", paramLabel = "NAME", description = "Name of the table; default items.")
    private String table = "items";

    String table() {
        return table;
    }

    /** Connects to the registry; the caller closes it. */
    EtcdRegistry connect() {
        try {
            return EtcdRegistry.connect(
                    registry,
                    EtcdRegistry.Options.DEFAULT
                            .withTls(new EtcdRegistry.Tls(trusted, certificate, key))
                            .withUser(user == null ? null : user(user))
                            .withPrefix(prefix));
        } catch (UncheckedIOException | IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
    }

    private static EtcdRegistry.User user(String name) {
        String password = System.getenv("ROOST_REGISTRY_PASSWORD");
        if (password == null) {
            throw new CommandFailure("--registry-user needs the variable ROOST_REGISTRY_PASSWORD");
        }
        return new EtcdRegistry.User(name, password);
    }

    @Nullable
    Tokens tokens() {
        return tokens(System.getenv(), "ROOST_TABLE_TOKEN");
    }

    /** Of coordinators, which may do more than clients. */
    @Nullable
    Tokens ordersTokens() {
        return tokens(System.getenv(), "ROOST_TABLE_ORDERS_TOKEN");
    }

    /** The token in a variable, or those in the file that a second variable names; null if there is neither. */
    static @Nullable Tokens tokens(Map<String, String> variables, String name) {
        String token = variables.get(name);
        String file = variables.get(name + "_FILE");
        if (token != null && file != null) {
            throw new CommandFailure("only one of the variables " + name + " and " + name + "_FILE may be set");
        }
        try {
            return token != null ? Tokens.of(token) : file != null ? Tokens.inFile(Path.of(file)) : null;
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(name + ": " + e.getMessage());
        }
    }

    /** Parses the address of an option, such as {@code 127.0.0.1:0} or {@code [::1]:0}. */
    static InetSocketAddress address(String option, String given) {
        int colon = given.lastIndexOf(':');
        if (colon > 0) {
            try {
                int port = Integer.parseInt(given, colon + 1, given.length(), 10);
                String host = given.substring(0, colon);
                if (port >= 0 && port <= MAX_PORT) {
                    return new InetSocketAddress(host, port);
                }
            } catch (NumberFormatException e) {
                // Reported below.
            }
        }
        throw new CommandFailure(option + " must be as 127.0.0.1:0, got " + given);
    }
}
