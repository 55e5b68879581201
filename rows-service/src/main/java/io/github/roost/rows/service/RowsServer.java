package io.github.roost.rows.service;

import io.github.roost.vector.Vectors;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.util.AdvancedTlsX509KeyManager;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Serves tables by gRPC: one method fetches rows of one shard of one version, without an object per row; another, which is optional, takes a
 * coordinator's orders. gRPC's health service answers without a token: {@code SERVING} for the empty name, and for a table's name once a version of it
 * is loaded. No reflection, no other service. A certificate and its key are read again within seconds after both have changed. Thread-safe.
 */
public final class RowsServer implements AutoCloseable {
    static final Metadata.Key<String> TOKEN = Metadata.Key.of("roost-token", Metadata.ASCII_STRING_MARSHALLER);

    private static final long CLOSE_SECONDS = 5;
    /** The maximum number of requests of a connection at once; gRPC clients keep others back. */
    private static final int MAX_CALLS = 1_000;

    /** The minimum interval between a client's keep-alive pings. */
    private static final long KEEP_ALIVE_SECONDS = 5;

    private final FetchService fetches;
    private final @Nullable OrderService orders;
    private final ServerHealth health;
    private final ChangedFiles secrets;
    private final Server server;

    private RowsServer(
            FetchService fetches,
            ServerHealth health,
            ChangedFiles secrets,
            NettyServerBuilder builder,
            Options options,
            @Nullable OrderService orders)
            throws IOException {
        this.fetches = fetches;
        this.health = health;
        this.secrets = secrets;
        this.orders = orders;
        if (orders != null) {
            builder.addService(guarded(orders.definition(), orders.tokens(), options.tokens()));
        }
        this.server = builder.addService(guarded(fetches.definition(), options.tokens(), null))
                .addService(health.service())
                .addTransportFilter(fetches.connections())
                .addStreamTracerFactory(fetches.deadlines())
                .directExecutor()
                .build()
                .start();
    }

    /**
     * Starts a server that takes no orders: its tables are loaded in its own process.
     *
     * @param tables the tables by name; the caller closes them after the server
     * @param options the network options
     * @return the server; the caller closes it
     * @throws IOException if it cannot listen on the address, or the certificate or key cannot be read
     */
    public static RowsServer start(Map<String, RowsNode> tables, Options options) throws IOException {
        return start(Map.copyOf(tables), options, (OrderService) null);
    }

    /**
     * Starts a server whose tables are loaded by a {@link Coordinator}, which may be in another process.
     *
     * @param tables the tables by name; the caller closes them after the server
     * @param options the network options
     * @param orders the options of orders: registry, seat and sources of rows
     * @return the server; the caller closes it
     * @throws IOException if it cannot listen on the address, or the certificate or key cannot be read
     * @throws IllegalArgumentException if only one of fetches and orders needs a token, or both need the same: who may read may not give orders
     */
    public static RowsServer start(Map<String, RowsNode> tables, Options options, Orders orders) throws IOException {
        boolean isOpen = options.tokens() == null && orders.tokens() == null;
        if (!isOpen
                && (options.tokens() == null
                        || orders.tokens() == null
                        || options.tokens().sharesOneWith(orders.tokens()))) {
            throw new IllegalArgumentException(
                    "fetches and orders must have a token each, and not the same, or neither");
        }
        Map<String, RowsNode> copy = Map.copyOf(tables);
        return start(copy, options, new OrderService(copy, orders));
    }

    private static RowsServer start(Map<String, RowsNode> tables, Options options, @Nullable OrderService orders)
            throws IOException {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(options.address())
                .maxInboundMessageSize(options.maxMessageBytes())
                .decompressorRegistry(Channels.PLAIN)
                .maxConcurrentCallsPerConnection(MAX_CALLS)
                .permitKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
        ChangedFiles secrets = new ChangedFiles();
        ServerHealth health = new ServerHealth(tables);
        RowsServer started = null;
        try {
            if (options.certificate() != null && options.key() != null) {
                builder.sslContext(tls(options.certificate(), options.key(), secrets));
            }
            Stream.of(options.tokens(), orders == null ? null : orders.tokens())
                    .filter(Objects::nonNull)
                    .forEach(tokens -> tokens.follow(secrets));
            FetchService fetches = new FetchService(tables, options.maxReplyBytes());
            started = new RowsServer(fetches, health, secrets, builder, options, orders);
            return started;
        } finally {
            if (started == null) {
                health.close();
                secrets.close();
            }
        }
    }

    private static SslContext tls(Path certificate, Path key, ChangedFiles secrets) throws IOException {
        AdvancedTlsX509KeyManager identity = new AdvancedTlsX509KeyManager();
        try {
            secrets.follow(List.of(certificate, key), () -> PemFiles.read(certificate, key, identity));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException(
                    "PEM files of a certificate and its key are needed, got " + certificate + " and " + key, e);
        }
        return GrpcSslContexts.configure(SslContextBuilder.forServer(identity)).build();
    }

    /** @param lesser tokens of a lesser right, which do not give this one, even if a file names one for both; null for none */
    private static ServerServiceDefinition guarded(
            ServerServiceDefinition service, @Nullable Tokens tokens, @Nullable Tokens lesser) {
        return tokens == null ? service : ServerInterceptors.intercept(service, new TokenCheck(tokens, lesser));
    }

    /** Rejects requests without the right token. */
    private record TokenCheck(Tokens tokens, @Nullable Tokens lesser) implements ServerInterceptor {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            String brought = headers.get(TOKEN);
            if (brought != null && tokens.accept(brought) && !(lesser != null && lesser.accept(brought))) {
                return next.startCall(call, headers);
            }
            call.close(Status.UNAUTHENTICATED.withDescription("the token is missing or wrong"), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }

    /**
     * The address that the server listens on.
     *
     * @return the address, with the actual port
     */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().getFirst();
    }

    /**
     * Closes the server: refuses further requests, interrupts a load in progress and waits up to a minute for it, waits five seconds for other
     * requests, then cancels them.
     */
    @Override
    public void close() {
        health.close();
        secrets.close();
        server.shutdown();
        if (orders != null) {
            orders.close();
        }
        try {
            if (!server.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                server.shutdownNow();
                server.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
        fetches.close();
    }

    /**
     * The network options of a {@link RowsServer}: address, TLS, token and limits.
     *
     * @param address the address to listen on; port 0 for any free port. An address other than loopback requires TLS and a token
     * @param certificate PEM file of the server's certificate chain, or null for no TLS
     * @param key PEM file of its private key, or null for no TLS
     * @param tokens those that requests must carry one of, or null for none
     * @param maxMessageBytes the maximum size of a request, from 1,024 to 2^30
     * @param maxReplyBytes the maximum size of the rows of an answer, from 1,024 to 2^28, the maximum that clients accept; a quarter of the heap's
     *     maximum size if that is less, which is the most that all answers in flight take together
     */
    public record Options(
            InetSocketAddress address,
            @Nullable Path certificate,
            @Nullable Path key,
            @Nullable Tokens tokens,
            int maxMessageBytes,
            int maxReplyBytes) {
        /** The default maximum size of the rows of an answer, and the maximum that clients accept. */
        static final int USUAL_REPLY_BYTES = 256 << 20;

        private static final int USUAL_MESSAGE_BYTES = 1 << 20;
        /**
         * Checks the arguments.
         *
         * @throws IllegalArgumentException if the address is not loopback and TLS or the token is missing, or the address is unresolved; if only one of
         *     certificate and key is given; or if a limit is out of range
         */
        public Options {
            Vectors.requireRange("maxMessageBytes", maxMessageBytes, 1_024, 1 << 30);
            Vectors.requireRange("maxReplyBytes", maxReplyBytes, 1_024, USUAL_REPLY_BYTES);
            if ((certificate == null) != (key == null)) {
                throw new IllegalArgumentException("certificate and key must be given together, got one of them");
            }
            if (address.getAddress() == null) {
                throw new IllegalArgumentException("address must be known, got " + address);
            }
            if (!address.getAddress().isLoopbackAddress() && (certificate == null || tokens == null)) {
                throw new IllegalArgumentException(
                        "address must be a loopback address without a certificate and a token, got " + address);
            }
        }

        /**
         * Options of a server on a loopback address, for clients on the same machine.
         *
         * @param port the port to listen on; 0 for any free port
         * @return the options: no TLS, no token, requests of up to 1 MiB, answers of up to 256 MiB
         */
        public static Options onLoopback(int port) {
            return new Options(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                    null,
                    null,
                    null,
                    USUAL_MESSAGE_BYTES,
                    USUAL_REPLY_BYTES);
        }
    }

    /**
     * The options of a {@link RowsServer} that takes orders of a {@link Coordinator} in another process.
     *
     * @param registry is asked before each load or unload whether the order's coordinator is in charge; the caller closes it after the server
     * @param seat the replica, and the part of it, that the server holds
     * @param sources the sources of rows, by table name; each is used by one thread at a time
     * @param tokens those that orders must carry one of, or null for none; one that requests may carry, too, gives no right to order
     */
    public record Orders(
            Registry registry,
            Seat seat,
            Map<String, RowSource> sources,
            @Nullable Tokens tokens) {
        /** Copies the map. */
        public Orders {
            sources = Map.copyOf(sources);
        }
    }

    /**
     * The replica, and the part of it, that a server holds. The servers of one group together hold one replica of every shard.
     *
     * @param group the replica, from 0 to 1,024
     * @param ordinal the server's index in its group, from 0 to {@code of} - 1
     * @param of the number of servers in the group, from 1 to 1,024
     */
    public record Seat(int group, int ordinal, int of) {
        private static final int MAX = 1_024;

        /**
         * Checks the arguments.
         *
         * @throws IllegalArgumentException if a number is out of range
         */
        public Seat {
            Vectors.requireRange("group", group, 0, MAX);
            Vectors.requireRange("of", of, 1, MAX);
            Vectors.requireRange("ordinal", ordinal, 0, of - 1L);
        }

        /**
         * The seat of a server that holds all shards.
         *
         * @param group the replica, from 0 to 1,024
         * @return its seat
         */
        public static Seat whole(int group) {
            return new Seat(group, 0, 1);
        }
    }
}
