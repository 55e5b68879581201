package io.github.roost.rows.service;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A server that executes coordinators' orders one after the other, like a {@code RowsNode}: before an order it asks the registry which coordinator
 * is in charge, it obeys no lower term than it has seen, and it checks the term again when it unloads a version. Its versions survive a kill; queued
 * orders and the term do not. Not thread-safe.
 */
final class VirtualServer {
    private static final int MAX_VERSIONS = 2;
    private static final long LOAD = 400 * VirtualNetwork.MILLI;
    private static final long UNLOAD = 5 * VirtualNetwork.MILLI;

    final String name;
    final int group;
    final int ordinal;
    /** The initial view. */
    private final ServerView first;

    private final VirtualNetwork network;
    private final SplittableRandom random;
    private final LongSupplier termInCharge;
    private final Watch watch;
    private final Queue<Runnable> waiting = new ArrayDeque<>();

    private boolean isBusy;
    private boolean isAlive = true;
    private long incarnation;
    private long term;
    /** The highest term seen by a look; it survives kills, and is the reference for {@link Watch#outOfTurn}. */
    private long seenBy;

    private Map<Long, Served> versions;
    private ServerView view;

    /**
     * An order of a coordinator.
     *
     * @param term of the coordinator
     * @param version to load or unload
     * @param served the shards to load; null to unload the version
     * @param makesRoom whether the version is unloaded to make room for the next one
     */
    record Order(long term, long version, @Nullable Served served, boolean makesRoom) {
        boolean isLoad() {
            return served != null;
        }
    }

    /** Observes servers. */
    interface Watch {
        void begun(VirtualServer server, Order order);

        void done(VirtualServer server, Order order);

        void fencedOff();

        /** An order changes a state that a later coordinator has already seen. */
        void outOfTurn();

        void changed();
    }

    VirtualServer(
            int group,
            int ordinal,
            Served of,
            VirtualNetwork network,
            SplittableRandom random,
            LongSupplier termInCharge,
            Watch watch) {
        this.name = "s" + group + "-" + ordinal;
        this.group = group;
        this.ordinal = ordinal;
        this.network = network;
        this.random = random;
        this.termInCharge = termInCharge;
        this.watch = watch;
        this.versions = Map.of(1L, of);
        this.view = new ServerView(name, 1, versions);
        this.first = view;
    }

    boolean isAlive() {
        return isAlive;
    }

    ServerView view() {
        return view;
    }

    ServerView first() {
        return first;
    }

    long newest() {
        return versions.keySet().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    void kill() {
        isAlive = false;
        incarnation++;
        waiting.clear();
        isBusy = false;
        watch.changed();
    }

    void restart() {
        isAlive = true;
        term = 0;
        show(versions);
    }

    private void show(Map<Long, Served> has) {
        versions = has;
        view = new ServerView(name, view.sequence() + 1, has);
        watch.changed();
    }

    /** A look of a coordinator, which also brings its term. */
    ServerView look(long from) {
        term = Math.max(term, from);
        seenBy = Math.max(seenBy, from);
        return view;
    }

    /** Queues an order. */
    void order(Order order, Consumer<Boolean> answer) {
        waiting.add(() -> obey(order, answer));
        if (!isBusy) {
            doNext();
        }
    }

    private void doNext() {
        Runnable next = waiting.poll();
        isBusy = next != null;
        if (next != null) {
            next.run();
        }
    }

    private void obey(Order order, Consumer<Boolean> answer) {
        term = Math.max(term, order.term);
        boolean isHere = versions.containsKey(order.version);
        if (termInCharge.getAsLong() != order.term || term != order.term) {
            watch.fencedOff();
            end(answer, false);
        } else if (order.isLoad() ? !isHere && versions.size() >= MAX_VERSIONS : isHere && versions.size() == 1) {
            end(answer, false);
        } else if (order.isLoad() == isHere) {
            end(answer, true);
        } else {
            if (order.isLoad()) {
                requireTurn(order);
            }
            long now = incarnation;
            long takes = order.isLoad() ? LOAD / 2 + random.nextLong(LOAD) : UNLOAD;
            network.after(takes, () -> {
                if (incarnation == now) {
                    apply(order, answer);
                }
            });
            watch.begun(this, order);
        }
    }

    /** A load counts when it begins, since a look sees loads in progress; an unload counts when it is done. */
    private void requireTurn(Order order) {
        if (order.term < seenBy) {
            watch.outOfTurn();
        }
    }

    private void apply(Order order, Consumer<Boolean> answer) {
        Served loaded = order.served;
        if (loaded == null && term != order.term) {
            watch.fencedOff();
            end(answer, false);
            return;
        }
        // A new map, since views in transit must not change.
        Map<Long, Served> has = new HashMap<>(versions);
        if (loaded == null) {
            requireTurn(order);
            has.remove(order.version);
        } else {
            has.put(order.version, loaded);
        }
        show(has);
        end(answer, true);
        watch.done(this, order);
    }

    private void end(Consumer<Boolean> answer, boolean isObeyed) {
        answer.accept(isObeyed);
        doNext();
    }
}
