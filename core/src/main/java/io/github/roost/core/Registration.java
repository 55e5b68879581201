package io.github.roost.core;

import io.github.roost.core.spi.TableUse;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The registration of a table with an orchestrator: one mapping id for the table, or several. Closing it unregisters
 * the table: accepted tasks still run, later submissions under its ids are refused. Thread-safe.
 */
public final class Registration implements AutoCloseable {
    private final String name;
    private final int firstSlot;
    private final MappingId[] ids;
    private final Owner owner;
    /** The largest long while registered; then set once, by the mapper, to the last epoch whose tasks may use the table's ids. */
    private final AtomicLong lastEpoch;

    private final Consumer<HomeListener> homeListeners;
    private final TableUse use;
    private volatile @Nullable Recall recall;

    /**
     * The recall of a table's searches in production, measured with exact repetitions of some of them in idle time.
     *
     * @param recall mean recall of the latest searches that were repeated, from 0 to 1
     * @param low lower end of its 95 % confidence interval
     * @param high upper end of its 95 % confidence interval
     * @param window number of searches that these three are of, from 1 to 200
     * @param samples number of searches repeated since the table was opened
     * @param k mean k of the searches in the window
     * @param alarm whether the recall is under {@link Orchestrator.Builder#recallAlarm}
     */
    public record Recall(double recall, double low, double high, int window, long samples, double k, boolean alarm) {}

    /** The orchestrator that places a table. */
    interface Owner {
        /**
         * Unregisters a table: later submissions under its ids are refused, accepted tasks still run.
         *
         * @param registration the table's registration with this owner
         * @return completes when the tasks accepted before have ended
         */
        CompletionStage<Void> unregister(Registration registration);

        /**
         * The current home of a slot.
         *
         * @param slot the slot of a mapping id
         * @return id of a cache domain, or -1 if the slot has several homes
         */
        int home(int slot);
    }

    /**
     * Made by an orchestrator.
     *
     * @param owner the orchestrator that places the table
     * @param name the table's name in reports
     * @param firstSlot the slot of its first mapping id
     * @param size number of mapping ids, at least 1
     * @param lastEpoch {@link Long#MAX_VALUE}; set by the mapper when the table is unregistered
     * @param homeListeners receives each listener passed to {@link #onHomesMoved}; thread-safe
     */
    Registration(
            Owner owner,
            String name,
            int firstSlot,
            int size,
            AtomicLong lastEpoch,
            Consumer<HomeListener> homeListeners) {
        this.owner = owner;
        this.name = name;
        this.firstSlot = firstSlot;
        this.lastEpoch = lastEpoch;
        this.homeListeners = homeListeners;
        this.use = new TableUse(name);
        this.ids = new MappingId[size];
        for (int index = 0; index < size; index++) {
            ids[index] = new MappingId(this, index);
        }
    }

    /** {@return the table's name in reports} */
    public String name() {
        return name;
    }

    /** {@return the number of mapping ids, at least 1} */
    public int size() {
        return ids.length;
    }

    /**
     * The mapping id of a table that has only one.
     *
     * @return the only mapping id
     * @throws IllegalStateException if the table has more than one mapping id
     */
    public MappingId id() {
        if (ids.length != 1) {
            throw new IllegalStateException("table " + name + " has " + ids.length + " mapping ids: name one");
        }
        return ids[0];
    }

    /**
     * One of the table's mapping ids.
     *
     * @param index from 0 to {@link #size()} exclusive
     * @return the mapping id
     * @throws IllegalArgumentException if there is no such mapping id
     */
    public MappingId id(int index) {
        requireIndex(index);
        return ids[index];
    }

    /**
     * The current home of a mapping id, if it has one home. Costs only a few loads, unlike {@code Orchestrator.homes}, so a search
     * that reads data of many mapping ids can group them by home. Undefined after the table is closed.
     *
     * @param index from 0 to {@link #size()} exclusive
     * @return id of a cache domain, or -1 if the mapping id has several homes
     * @throws IllegalArgumentException if there is no such mapping id
     */
    public int home(int index) {
        requireIndex(index);
        return owner.home(firstSlot + index);
    }

    /**
     * Adds a listener that is called whenever mapping ids of this table move to other homes, until the table is closed; a call
     * already in progress then may still reach it. The current homes are not reported: to miss no move, read them after adding
     * the listener. An exception from a listener is logged, once per listener, and otherwise ignored. The listener is strongly
     * referenced until the table is closed and its last task is done.
     *
     * @param listener called in the thread that ends a window; a listener that is added twice is called twice
     */
    public void onHomesMoved(HomeListener listener) {
        homeListeners.accept(Objects.requireNonNull(listener, "listener must not be null"));
    }

    private void requireIndex(int index) {
        if (index < 0 || index >= ids.length) {
            throw new IllegalArgumentException("index of a mapping id of table " + name + " must be between 0 and "
                    + (ids.length - 1) + ", got " + index);
        }
    }

    /** {@return whether submissions under this table's ids are accepted} */
    public boolean isOpen() {
        return lastEpoch.get() == Long.MAX_VALUE;
    }

    /**
     * Whether a task that was accepted under an epoch may still use the table's ids. The slots are not reused for another table
     * before that epoch has retired.
     *
     * @param epoch the epoch of the task
     * @return whether the table was registered in that epoch
     */
    public boolean isOpenIn(long epoch) {
        return epoch <= lastEpoch.get();
    }

    /** Whether an orchestrator places this table. */
    boolean isOf(Owner other) {
        return owner == other;
    }

    /** {@return the slot of the first mapping id; further ids have the slots after it} */
    public int firstSlot() {
        return firstSlot;
    }

    /** {@return the count of the table's users} */
    public TableUse use() {
        return use;
    }

    /** {@return the measured recall of the table's searches; null if none has been measured} */
    public @Nullable Recall recall() {
        return recall;
    }

    /**
     * Sets the measured recall, for reports; called by the index.
     *
     * @param measured null if there is none any more, because the rows have been replaced
     */
    public void recall(@Nullable Recall measured) {
        recall = measured;
    }

    @Override
    public void close() {
        end();
    }

    /** As {@link #close}; returns whether this call closed the table. */
    boolean end() {
        TableUse.Hold last = use.close();
        if (last == null) {
            return false;
        }
        var _ = owner.unregister(this).thenRun(last::close);
        return true;
    }

    @Override
    public String toString() {
        return name + "[" + ids.length + "]";
    }

    /**
     * A listener that is notified when mapping ids of a table move to other homes, so that an index can move its memory, caches
     * and pins. Must be thread-safe, since calls may overlap.
     *
     * @see Registration#onHomesMoved
     */
    @FunctionalInterface
    public interface HomeListener {
        /**
         * Called after some of a table's mapping ids have moved: once per published mapping that changes homes of this table, when
         * that mapping is in force. Runs without any lock, in the thread that ended the window: the mapper's, or the caller's of
         * {@code Orchestrator.indexing().endWindow()}. That thread ends no further window before this call returns, so hand
         * work of more than a few microseconds to another thread.
         *
         * <p>If two threads end windows at the same time, calls may overlap and arrive in either order. Therefore the new homes are
         * not passed; read them with {@code Orchestrator.homes} or {@link Registration#home}. These return the homes of the mapping
         * that caused this call or of a newer one; during the last call they return the newest homes.
         *
         * @param table the table whose ids moved
         * @param indices the indices of the ids that moved, ascending; {@code table.id(index)} is the id. The listener may keep the array
         */
        void homesMoved(Registration table, int[] indices);
    }
}
