package io.github.roost.rows.service;

import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Tells gRPC's health service which tables a server has a version of. Thread-safe. */
final class ServerHealth implements AutoCloseable {
    private final HealthStatusManager health = new HealthStatusManager();
    private final Map<Consumer<ServerView>, RowsNode> watched = new HashMap<>();

    ServerHealth(Map<String, RowsNode> tables) {
        tables.forEach((name, table) -> {
            Consumer<ServerView> watcher = view -> health.setStatus(
                    name, view.versions().isEmpty() ? ServingStatus.NOT_SERVING : ServingStatus.SERVING);
            watched.put(watcher, table);
            table.watch(watcher);
        });
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
