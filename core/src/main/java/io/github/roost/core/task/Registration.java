package io.github.roost.core.task;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A table that an orchestrator places: either one mapping id, or one for each of its clusters. Closing it
 * unregisters the table: tasks already accepted still run, later submissions under its ids are refused. Thread-safe.
 */
public final class Registration implements AutoCloseable {
    private final String name;
    private final int firstSlot;
    private final MappingId[] ids;
    private final Owner owner;
    /** {@link #OPEN}; set once, by the owner, to the last epoch whose tasks may use the table's ids. */
    private final AtomicLong lastEpoch;

    /** Stands for the last epoch of a table that is registered. */
    public static final long OPEN = Long.MAX_VALUE;

    private final Consumer<HomeListener> homeListeners;
    private final TableUse use;

    /** The orchestrator that places a table. */
    public interface Owner {
        /**
         * Refuses submissions under a table's ids from now on; tasks already accepted still run.
         *
         * @param registration made for this owner
         */
        void unregister(Registration registration);

        /**
         * The only home of a slot now.
         *
         * @param slot of a mapping id
         * @return id of a cache domain, or -1 if the slot has several homes
         */
        int home(int slot);
    }

    /**
     * Made by an orchestrator when a table is registered; of no use otherwise.
     *
     * @param owner places the table
     * @param name how the table shows in reports
     * @param firstSlot of its mapping ids
     * @param clusters number of mapping ids, at least 1
     * @param lastEpoch {@link #OPEN}; set by the owner when the table is unregistered
     * @param homeListeners takes the listeners of moved homes; thread-safe
     */
    public Registration(
            Owner owner,
            String name,
            int firstSlot,
            int clusters,
            AtomicLong lastEpoch,
            Consumer<HomeListener> homeListeners) {
        this.owner = owner;
        this.name = name;
        this.firstSlot = firstSlot;
        this.lastEpoch = lastEpoch;
        this.homeListeners = homeListeners;
        this.use = new TableUse(name);
        this.ids = new MappingId[clusters];
        for (int cluster = 0; cluster < clusters; cluster++) {
            ids[cluster] = new MappingId(this, cluster);
        }
    }

    /** {@return the table's name, as it shows in reports} */
    public String name() {
        return name;
    }

    /** {@return the number of mapping ids, at least 1} */
    public int clusters() {
        return ids.length;
    }

    /** {@return the mapping id of a table without clusters} */
    public MappingId id() {
        if (ids.length != 1) {
            throw new IllegalStateException("table " + name + " has " + ids.length + " clusters: name one");
        }
        return ids[0];
    }

    /**
     * One of the table's mapping ids.
     *
     * @param cluster from 0 to {@link #clusters()} exclusive
     * @return the mapping id of the cluster
     */
    public MappingId id(int cluster) {
        requireCluster(cluster);
        return ids[cluster];
    }

    /**
     * The domain that is the only home of a cluster now: {@code Orchestrator.homes} in the time of a few loads, so that a search
     * that reads many clusters can give those at one home to one task. Means nothing once the table is closed.
     *
     * @param cluster from 0 to {@link #clusters()} exclusive
     * @return id of a cache domain, or -1 if the cluster has several homes
     */
    public int home(int cluster) {
        requireCluster(cluster);
        return owner.home(firstSlot + cluster);
    }

    /**
     * Calls a listener whenever ids of this table get other homes, from now until the table is closed; a call that is under way
     * then may still reach it. The present homes are not reported: ask for them after this call, and no move is missed. What a
     * listener throws is logged, once for each listener, and changes nothing else. A listener
     * is kept, with what it refers to, until the table is closed and its last task is done.
     *
     * @param listener called in the thread that ends a window; a listener that is added twice is called twice
     */
    public void onHomesMoved(HomeListener listener) {
        homeListeners.accept(Objects.requireNonNull(listener, "listener must not be null"));
    }

    private void requireCluster(int cluster) {
        if (cluster < 0 || cluster >= ids.length) {
            throw new IllegalArgumentException(
                    "cluster of table " + name + " must be between 0 and " + (ids.length - 1) + ", got " + cluster);
        }
    }

    /** {@return whether submissions under this table's ids are accepted} */
    public boolean isOpen() {
        return lastEpoch.get() == OPEN;
    }

    /**
     * Says whether what was accepted under an epoch may still use the table's ids: its slots are not another table's before
     * that epoch has retired.
     *
     * @param epoch of what asks
     * @return whether the table was registered in that epoch
     */
    public boolean isOpenIn(long epoch) {
        return epoch <= lastEpoch.get();
    }

    /**
     * Says whether an orchestrator places this table.
     *
     * @param other perhaps its owner
     * @return whether {@code other} places this table
     */
    public boolean isOf(Owner other) {
        return owner == other;
    }

    /** {@return the slot of the first mapping id; the others follow} */
    public int firstSlot() {
        return firstSlot;
    }

    /** {@return the count of the table's users} */
    public TableUse use() {
        return use;
    }

    @Override
    public void close() {
        end();
    }

    /**
     * {@link #close} for a caller that does something once when the table is closed.
     *
     * @return whether this is the first such call
     */
    public boolean end() {
        owner.unregister(this);
        return use.close();
    }

    @Override
    public String toString() {
        return name + "[" + ids.length + "]";
    }
}
