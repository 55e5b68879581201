package io.github.roost.tableservice;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A registry for servers and clients of one process. Thread-safe. */
public final class InMemoryRegistry implements Registry {
    /** Guarded by this. */
    private final Map<String, InetSocketAddress> servers = new HashMap<>();

    private final List<Consumer<Map<String, InetSocketAddress>>> listeners = new CopyOnWriteArrayList<>();
    /** Guarded by this. */
    private final Map<String, Long> terms = new HashMap<>();

    /** An empty registry. */
    public InMemoryRegistry() {}

    @Override
    public synchronized Registration register(String server, InetSocketAddress address) {
        if (servers.putIfAbsent(server, address) != null) {
            throw new IllegalArgumentException(
                    "server must have a name of its own, got " + server + ", which is there");
        }
        tell();
        return () -> {
            synchronized (this) {
                if (servers.remove(server, address)) {
                    tell();
                }
            }
        };
    }

    /** Called under the lock, so that listeners see changes in their order. */
    private void tell() {
        listeners.forEach(listener -> listener.accept(Map.copyOf(servers)));
    }

    @Override
    public synchronized Map<String, InetSocketAddress> servers() {
        return Map.copyOf(servers);
    }

    @Override
    public synchronized Registration watch(Consumer<Map<String, InetSocketAddress>> listener) {
        listeners.add(listener);
        listener.accept(Map.copyOf(servers));
        return () -> listeners.remove(listener);
    }

    @Override
    public synchronized long takeCharge(String table) {
        return terms.merge(table, 1L, Long::sum);
    }

    @Override
    public void close() {
        listeners.clear();
    }
}
