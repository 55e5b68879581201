package io.github.roost.examples.tableservice;

import io.github.roost.tableservice.OrderOptions;
import io.github.roost.tableservice.Registry;
import io.github.roost.tableservice.RowSource;
import io.github.roost.tableservice.Seat;
import io.github.roost.tableservice.ServerOptions;
import io.github.roost.tableservice.TableNode;
import io.github.roost.tableservice.TableServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One server of one table: its data, what serves them, and its entry in a registry. For one thread at a time. */
public final class ServiceNode implements AutoCloseable {
    private final TableNode tables;
    private final TableServer server;
    private final Registry.Registration registration;
    private final InetSocketAddress address;

    private ServiceNode(
            TableNode tables, TableServer server, Registry.Registration registration, InetSocketAddress address) {
        this.tables = tables;
        this.server = server;
        this.registration = registration;
        this.address = address;
    }

    /**
     * What a server is.
     *
     * @param name of no other server
     * @param table that it serves
     * @param seat which part of which replica it has
     * @param data folder in which it keeps what it has
     * @param options how it is reached
     * @param advertised where clients find it, or null for where it listens
     */
    public record Settings(
            String name,
            String table,
            Seat seat,
            Path data,
            ServerOptions options,
            @Nullable InetSocketAddress advertised) {}

    /**
     * Starts a server, with what it had before, and enters it.
     *
     * @param registry that it is entered in; closed by who opened it, after the node
     * @param source where it gets versions from
     */
    public static ServiceNode start(Settings settings, Registry registry, RowSource source) throws IOException {
        TableNode tables = TableNode.open(settings.name, settings.data);
        TableServer server = null;
        boolean done = false;
        try {
            server = TableServer.start(
                    Map.of(settings.table, tables),
                    settings.options,
                    new OrderOptions(registry, settings.seat, Map.of(settings.table, source)));
            InetSocketAddress address = settings.advertised == null
                    ? server.address()
                    : new InetSocketAddress(
                            settings.advertised.getHostString(),
                            settings.advertised.getPort() == 0
                                    ? server.address().getPort()
                                    : settings.advertised.getPort());
            ServiceNode node = new ServiceNode(tables, server, registry.register(settings.name, address), address);
            done = true;
            return node;
        } finally {
            if (!done) {
                if (server != null) {
                    server.close();
                }
                tables.close();
            }
        }
    }

    /** Where clients find it. */
    public InetSocketAddress address() {
        return address;
    }

    /** Takes it out of the registry, and ends it. */
    @Override
    public void close() {
        try {
            registration.close();
        } finally {
            server.close();
            tables.close();
        }
    }
}
