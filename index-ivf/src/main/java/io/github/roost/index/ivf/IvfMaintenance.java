package io.github.roost.index.ivf;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.Indexing;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.spi.BuildWork;
import io.github.roost.vector.spi.TableMemory;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a table's lists in order while searches and changes go on: flushes the insert buffer, compacts sparse lists, and
 * rebuilds the table, all on the orchestrator's workers. {@link IvfRows} has the steps of this work. Thread-safe.
 */
final class IvfMaintenance {
    /** Progress of a rebuild after its rows are copied. */
    private static final double COPIED = .05;

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final ListHomes homes;
    private final IvfRows rows;
    private final Training training;
    private final TableMemory memory;
    /** The rebuild under way, or the last one; guarded by this. */
    private @Nullable TableBuild<IvfTable> rebuild;
    /** Whether closing has begun: no rebuild begins any more. Guarded by this. */
    private boolean isClosing;

    IvfMaintenance(
            Orchestrator orchestrator,
            Registration registration,
            ListHomes homes,
            IvfRows rows,
            Training training,
            TableMemory memory) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.homes = homes;
        this.rows = rows;
        this.training = training;
        this.memory = memory;
    }

    /** Called after an addition or a search. If the flush is put off, the next addition or search tries again. */
    void flushIfDue() {
        InsertBuffer buffer = rows.lists().buffer();
        if (buffer.claimFlush()) {
            run(0, () -> rows.flush(buffer), buffer::putOffFlush, buffer::flushFailed);
        }
    }

    /**
     * Called after a removal. If the compaction is put off, the next removal from the list tries again.
     *
     * @param list -1 for none
     */
    void compactIfSparse(int list) {
        if (list >= 0 && rows.claimCompaction(list)) {
            Runnable putOff = () -> rows.putOffCompaction(list);
            run(list, () -> compaction(list), putOff, putOff);
        }
    }

    private IvfRows.Steps compaction(int list) {
        IvfRows.Steps steps = rows.compaction(list);
        return () -> {
            IvfRows.Progress progress = steps.step();
            if (progress == IvfRows.Progress.DONE) {
                memory.isNew(homes.index(list));
            }
            return progress;
        };
    }

    /**
     * Runs maintenance of a list at its home. Puts it off if it would have to wait, and reports it if it fails; if the table or
     * its orchestrator has been closed, the maintenance is not needed.
     *
     * @param work called by the first step
     */
    private void run(int list, Supplier<IvfRows.Steps> work, Runnable putOff, Runnable failed) {
        boolean accepted = false;
        try {
            var _ = orchestrator
                    .indexing()
                    .maintenance(homes.id(list), new RowMaintenance(work, putOff))
                    .whenComplete((none, failure) -> {
                        if (failure != null) {
                            failed.run();
                        }
                    });
            accepted = true;
        } catch (RejectedExecutionException | TableClosedException | OutOfMemoryError notNow) {
            // The addition, removal or search that triggered the maintenance has succeeded.
            return;
        } finally {
            if (!accepted) {
                putOff.run();
            }
        }
    }

    /** Steps of {@link IvfRows} as maintenance. */
    private static final class RowMaintenance implements Indexing.Maintenance {
        private final Supplier<IvfRows.Steps> begin;
        private final Runnable putOff;
        private IvfRows.@Nullable Steps steps;

        RowMaintenance(Supplier<IvfRows.Steps> begin, Runnable putOff) {
            this.begin = begin;
            this.putOff = putOff;
        }

        @Override
        public boolean step(SearchContext context) {
            IvfRows.Steps begun = steps;
            if (begun == null) {
                begun = begin.get();
                steps = begun;
            }
            IvfRows.Progress progress = begun.step();
            if (progress == IvfRows.Progress.PUT_OFF) {
                putOff.run();
            }
            return progress == IvfRows.Progress.MORE;
        }
    }

    /**
     * Starts a rebuild, or returns the one that is under way.
     *
     * @param rebuilt called once the new lists are in force; returns the result of the rebuild
     * @throws TableClosedException if closing has begun
     */
    synchronized TableBuild<IvfTable> rebuild(Supplier<IvfTable> rebuilt) {
        requireNotClosing();
        TableBuild<IvfTable> last = rebuild;
        if (last != null && !last.result().isDone()) {
            return last;
        }
        TableBuild<IvfTable> begun = new BuildWork(orchestrator, registration.name() + " (rebuild)").start(work -> {
            rebuild(work);
            return rebuilt.get();
        });
        rebuild = begun;
        return begun;
    }

    private synchronized void requireNotClosing() {
        if (isClosing) {
            throw new TableClosedException(registration.name());
        }
    }

    private void rebuild(BuildWork work) {
        try {
            replaceLists(work);
        } catch (CancellationException cancelled) {
            requireNotClosing();
            throw cancelled;
        }
        memory.allIsNew();
    }

    private void replaceLists(BuildWork work) {
        RowCopy copy = copyRows(work);
        try (copy) {
            RowMap locations = new RowMap(copy.count());
            boolean isDone = false;
            try {
                // The table is not held meanwhile, so closing it does not wait for the training.
                Lists fresh = copy.count() == 0
                        ? rows.lists().emptied()
                        : training.lists(
                                work,
                                copy::row,
                                copy.ids(),
                                registration.size(),
                                rows.lists().layout().dimension(),
                                locations);
                try (var _ = registration.use().hold()) {
                    work.finish();
                    rows.exchange(fresh, locations);
                    isDone = true;
                }
            } finally {
                if (!isDone) {
                    locations.close();
                }
            }
        } catch (Throwable failure) {
            rows.giveUp();
            throw failure;
        }
    }

    private RowCopy copyRows(BuildWork work) {
        work.phase(COPIED, registration.size());
        try (var _ = registration.use().hold()) {
            return rows.copyForRebuild(() -> work.done(1));
        }
    }

    /**
     * Ends the rebuild under way; none begins any more. A rebuild begins under the same lock, only if closing has not begun.
     * So a rebuild that is not seen here never begins. One that is seen ends at its next step, unless its lists are being
     * put in force: that is done before the table's memory is freed.
     */
    void close() {
        TableBuild<IvfTable> underWay;
        synchronized (this) {
            isClosing = true;
            underWay = rebuild;
        }
        if (underWay != null) {
            underWay.cancel();
        }
    }
}
