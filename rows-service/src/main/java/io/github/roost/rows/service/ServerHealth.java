package io.github.roost.rows.service;

import io.grpc.BindableService;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells gRPC's health service which tables a server has a version of. Thread-safe. */
final class ServerHealth implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServerHealth.class);

    private final HealthStatusManager health = new HealthStatusManager();
    private final Map<Consumer<ServerView>, RowsNode> watched = new HashMap<>();

    ServerHealth(Map<String, RowsNode> tables) {
        tables.forEach((name, table) -> {
            Consumer<ServerView> watcher = view -> tell(name, view);
            watched.put(watcher, table);
            table.watch(watcher);
        });
    }

    private void tell(String name, ServerView view) {
        try {
            health.setStatus(name, view.versions().isEmpty() ? ServingStatus.NOT_SERVING : ServingStatus.SERVING);
        } catch (StatusRuntimeException gone) {
            // A client that ends its watch at this moment must not fail a load.
            LOG.debug("a watch of {} has ended", name, gone);
        }
    }

    BindableService service() {
        return health.getHealthService();
    }

    /** From now on nothing is served. */
    @Override
    public void close() {
        watched.forEach((watcher, table) -> table.unwatch(watcher));
        health.enterTerminalState();
    }
}
