package io.github.roost.index.remote;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.remote.format.RowDistance;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.pool.ReaderHold;
import io.github.roost.index.remote.update.NoSpaceException;
import io.github.roost.index.remote.update.PairRebuild;
import io.github.roost.index.remote.update.PartitionLogFullException;
import io.github.roost.index.remote.update.PoolWriter;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.BuildWork;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table in remote memory whose rows can be changed: they are inserted, replaced and removed by log records written straight into the region; see
 * {@link #put}. Thread-safe.
 */
public final class MutableRemoteTable extends RemoteTable implements MutableVectorTable {
    /** How often a change waits for the rebuild of a full log that other writers fill again. */
    private static final int MAX_REBUILDS = 8;

    private static final Logger LOG = LoggerFactory.getLogger(MutableRemoteTable.class);

    private final PoolWriter writer;
    private final PairRebuild rebuild;
    private final boolean rebuildsFullLogs;
    /**
     * Pairs being rebuilt because of their logs. A pair whose rebuild failed stays here for one lease term, so that it is not retried with each
     * change.
     */
    private final Map<Integer, CompletableFuture<Void>> rebuilding = new ConcurrentHashMap<>();

    /** Rebuilds under way that callers have asked for; {@link #close} cancels them. */
    private final Set<BuildWork> rebuilds = ConcurrentHashMap.newKeySet();

    private volatile boolean isClosing;

    MutableRemoteTable(Orchestrator orchestrator, String name, OpenPool pool, ReaderHold hold, Builder options) {
        super(orchestrator, name, pool, hold, options);
        this.writer = new PoolWriter(pool, options.transferTimeout.toNanos(), this::rebuildLater);
        this.rebuild = new PairRebuild(pool, writer);
        this.rebuildsFullLogs = options.rebuildsFullLogs;
    }

    @Override
    PoolWriter writer() {
        return writer;
    }

    /**
     * {@inheritDoc} Writes a record into the log of the partition whose centroid is nearest; of all processes one writer at a time. The first
     * change made by a table reads the whole pool, to learn the partition of each row. If the log is full, the pair is rebuilt first, unless
     * {@link RemoteTable.Builder#rebuildsFullLogs} is off. Blocks: do not call it on a worker.
     *
     * @throws TableFullException if the log is full and is not or cannot be emptied; nothing has changed
     * @throws UncheckedIOException with a {@link RemoteMemoryException}: {@link RemoteMemoryException.WriterFencedException} if another writer has taken over; if the
     *     region fails, the row may have its old or its new state
     */
    @Override
    public boolean put(long id, float[] vector) {
        requireQuery("vector", vector);
        return change(writer -> writer.put(id, RowDistance.inSpace(metric(), vector)));
    }

    /**
     * {@inheritDoc} Writes a record like {@link #put}. Blocks: do not call it on a worker.
     *
     * @throws TableFullException as for {@link #put}
     * @throws UncheckedIOException as for {@link #put}
     */
    @Override
    public boolean remove(long id) {
        return change(writer -> writer.remove(id));
    }

    /**
     * Rebuilds the pair of a partition from its live rows: its logs are empty then, and the next epoch begins. Runs as batch work, concurrently
     * with searches and changes. By default tables do this by themselves as logs fill, see {@link RemoteTable.Builder#rebuildsFullLogs}. Blocks: do not call
     * it on a worker; {@link #startRebuild} does not block.
     *
     * @param partition its number, from 0
     * @return true if the pair was rebuilt; false if it was rebuilt meanwhile, by another table or by this one as a log was full
     * @throws UncheckedIOException with a {@link RemoteMemoryException} if the region fails, all its spare space is used or held by readers, or
     *     another writer has taken over; the pair is unchanged then
     */
    public boolean rebuild(int partition) {
        return rebuild(rebuildOf(partition), partition / 2);
    }

    /**
     * Starts to rebuild the pair of a partition, as {@link #rebuild(int)} does.
     *
     * @param partition its number, from 0
     * @return the running rebuild. Its result is this table, once the pair has been rebuilt, by this or another table; it fails as
     *     {@link #rebuild(int)} does, and with a {@link TableClosedException} if the table is closed meanwhile. If it is cancelled, the pair is
     *     unchanged, unless it was being published at that moment
     * @throws TableClosedException if the table is closed
     * @throws OrchestratorClosedException if the orchestrator is closed
     */
    public TableBuild<MutableRemoteTable> startRebuild(int partition) {
        return rebuildOf(partition).start(work -> {
            rebuild(work, partition / 2);
            return this;
        });
    }

    private BuildWork rebuildOf(int partition) {
        Vectors.requireRange("partition", partition, 0, registration().size() - 1L);
        requireOpen();
        return new BuildWork(orchestrator(), name() + " (rebuild)");
    }

    /**
     * A rebuild enters the set and then looks whether the table closes; closing is first set and then cancels what is in the set. So at least one of
     * them sees the other, and closing does not wait for the graphs of a rebuild.
     */
    private boolean rebuild(BuildWork work, int pair) {
        rebuilds.add(work);
        try (var _ = use()) {
            requireNotClosing();
            boolean rebuilt = rebuild.run(work, pair);
            work.finish();
            return rebuilt;
        } catch (CancellationException cancelled) {
            requireNotClosing();
            throw cancelled;
        } catch (RemoteMemoryException failed) {
            throw new UncheckedIOException(failed);
        } finally {
            rebuilds.remove(work);
        }
    }

    private void requireNotClosing() {
        if (isClosing) {
            throw new TableClosedException(name());
        }
    }

    /** Called while the lease is held, so the rebuild runs in another thread. */
    private void rebuildLater(int pair) {
        CompletableFuture<Void> rebuilt = new CompletableFuture<>();
        if (!rebuildsFullLogs || rebuilding.putIfAbsent(pair, rebuilt) != null) {
            return;
        }
        Thread.ofVirtual().name("roost-rebuild-" + name()).start(() -> {
            // A change that was accepted before the table was closed may be waiting for this rebuild.
            try (var _ = registration().use().holdFromInside()) {
                // Not cancelled when the table is closed, for the same reason.
                rebuild.run(new BuildWork(orchestrator(), name() + " (rebuild)"), pair);
                rebuilding.remove(pair);
                rebuilt.complete(null);
                return;
            } catch (TableClosedException | OrchestratorClosedException closed) {
                LOG.debug("pair {} of {} is not rebuilt: {}", pair, name(), closed.getMessage());
                rebuilt.completeExceptionally(closed);
            } catch (Throwable failed) {
                LOG.warn("pair {} of {} could not be rebuilt: {}", pair, name(), failed.getMessage());
                rebuilt.completeExceptionally(failed);
            }
            // Otherwise each change would retry it.
            LockSupport.parkNanos(pool().head().leaseMillis() * 1_000_000L);
            rebuilding.remove(pair);
        });
    }

    private interface Change {
        boolean by(PoolWriter writer) throws RemoteMemoryException;
    }

    private boolean change(Change change) {
        // After shutdown no worker would rebuild a pair whose log fills up.
        try (var _ = change()) {
            for (int rebuilds = 0; ; rebuilds++) {
                try {
                    return change.by(writer);
                } catch (PartitionLogFullException full) {
                    awaitRoom(full, rebuilds);
                }
            }
        } catch (RemoteMemoryException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Waits for the rebuild of a pair with a full log; it was requested when the log was found full. */
    private void awaitRoom(PartitionLogFullException full, int rebuilds) throws RemoteMemoryException {
        if (!rebuildsFullLogs || rebuilds == MAX_REBUILDS) {
            throw new TableFullException(
                    name(),
                    full.getMessage() + ", as by rebuild(" + full.partition() + ")"
                            + (rebuilds == 0 ? "" : "; it was so " + rebuilds + " times, and the log filled each time"),
                    full);
        }
        CompletableFuture<Void> rebuilt = rebuilding.get(full.partition() / 2);
        if (rebuilt != null) {
            try {
                rebuilt.join();
            } catch (CompletionException failed) {
                if (failed.getCause() instanceof OrchestratorClosedException closed) {
                    throw closed;
                }
                if (failed.getCause() instanceof NoSpaceException none) {
                    throw new TableFullException(name(), full.getMessage() + ", but " + none.getMessage(), none);
                }
                throw OpenPool.failure(pool().region().name(), failed);
            }
        }
    }

    @Override
    public void close() {
        isClosing = true;
        rebuilds.forEach(BuildWork::cancel);
        super.close();
    }

    @Override
    protected void free() {
        writer.close();
        super.free();
    }
}
