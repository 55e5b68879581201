package io.github.roost.cli.rows;

import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.RowSource;
import io.github.roost.rows.service.RowsNode;
import io.github.roost.rows.service.RowsServer;
import io.github.roost.rows.service.Tokens;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One server of one table: its data, its network server, and its entry in a registry. For one thread at a time. */
public final class ServiceNode implements AutoCloseable {
    private final RowsNode tables;
    private final RowsServer server;
    private final Registry.Registration registration;
    private final InetSocketAddress address;

    private ServiceNode(
            RowsNode tables, RowsServer server, Registry.Registration registration, InetSocketAddress address) {
        this.tables = tables;
        this.server = server;
        this.registration = registration;
        this.address = address;
    }

    /**
     * The settings of a server.
     *
     * @param name unique name
     * @param table the table it serves
     * @param seat the replica, and the part of it, that the server has
     * @param data folder of its data
     * @param options of the network server
     * @param ordersTokens those of coordinators, or null for none
     * @param advertised the address for clients, or null for the one it listens on
     */
    public record Settings(
            String name,
            String table,
            RowsServer.Seat seat,
            Path data,
            RowsServer.Options options,
            @Nullable Tokens ordersTokens,
            @Nullable InetSocketAddress advertised) {}

    /**
     * Starts a server with its stored data and enters it into the registry.
     *
     * @param registry its registry; the caller closes it, after the node
     * @param source supplies versions
     */
    public static ServiceNode start(Settings settings, Registry registry, RowSource source) throws IOException {
        RowsNode tables = RowsNode.open(settings.name, settings.data);
        RowsServer server = null;
        boolean done = false;
        try {
            server = RowsServer.start(
                    Map.of(settings.table, tables),
                    settings.options,
                    new RowsServer.Orders(
                            registry, settings.seat, Map.of(settings.table, source), settings.ordersTokens));
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

    /** The address for clients. */
    public InetSocketAddress address() {
        return address;
    }

    /** Removes it from the registry and stops it. */
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
