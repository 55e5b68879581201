package io.github.roost.rows.service;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A registry for servers and clients of one process. Thread-safe. */
final class InMemoryRegistry implements Registry {
    /** Guarded by this. */
    private final Map<String, InetSocketAddress> servers = new HashMap<>();

    private final List<Consumer<Map<String, InetSocketAddress>>> listeners = new CopyOnWriteArrayList<>();
    /** Guarded by this. */
    private final Map<String, Long> terms = new HashMap<>();
    /** Guarded by this. */
    private final Map<String, Announced> announced = new HashMap<>();

    @Override
    public synchronized Registration register(String server, InetSocketAddress address) {
        if (servers.putIfAbsent(server, address) != null) {
            throw new IllegalArgumentException(
                    "server must have a name of its own, got " + server + ", which is there");
        }
        tell();
        return once(() -> {
            synchronized (this) {
                servers.remove(server);
                tell();
            }
        });
    }

    /** A registration that ends once: if it is closed again, the name may be a successor's. */
    private static Registration once(Runnable end) {
        AtomicBoolean isOver = new AtomicBoolean();
        return () -> {
            if (!isOver.getAndSet(true)) {
                end.run();
            }
        };
    }

    /** Calls the listeners, under the lock so that they see changes in order. */
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
        return once(() -> listeners.remove(listener));
    }

    @Override
    public synchronized long takeCharge(String table, long above) {
        return terms.merge(table, above + 1, (before, next) -> Math.max(before + 1, next));
    }

    @Override
    public synchronized long termInCharge(String table) {
        return terms.getOrDefault(table, 0L);
    }

    @Override
    public synchronized Optional<Announced> announced(String table) {
        return Optional.ofNullable(announced.get(table));
    }

    @Override
    public synchronized boolean announce(String table, long term, long before, Announced next) {
        long inCharge = termInCharge(table);
        if (term != inCharge) {
            throw new IllegalStateException(
                    "a coordinator of term " + inCharge + " is in charge, not one of term " + term);
        }
        Announced now = announced.get(table);
        if ((now == null ? 0 : now.version()) != before) {
            return false;
        }
        announced.put(table, next);
        return true;
    }

    @Override
    public void close() {
        listeners.clear();
    }
}
