package io.github.roost.index.disk;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.Space;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.index.disk.update.DiskUpdates;
import io.github.roost.index.disk.update.Update;
import io.github.roost.index.disk.update.UpdateThread;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.file.HeldFile;
import io.github.roost.vector.memory.MemoryLimit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A table on disk whose rows can be changed: an update is written to a log, then applied to the graph as maintenance, in pieces of some
 * microseconds, and acknowledged when it is durable and visible to searches. Pages are never overwritten in place: a checkpoint
 * writes changed pages to free blocks. After any crash, a reopened table has every acknowledged update, and each other update as a
 * whole or not at all. Only one opener at a time, across processes, may update a table; other openers are refused. Thread-safe.
 */
public final class MutableDiskTable extends DiskTable implements MutableVectorTable, MemoryLimited {
    private final MemoryLimit limit = new MemoryLimit();

    MutableDiskTable(
            Orchestrator orchestrator,
            BlockIo io,
            String name,
            DiskGraph graph,
            int maxChangedPages,
            int maxLogBlocks,
            @Nullable HeldFile held)
            throws IOException {
        super(orchestrator, io, name, graph, true, true, maxChangedPages, maxLogBlocks, held);
    }

    /**
     * {@inheritDoc} Waits until the update is durable; {@link #putLater} does not.
     *
     * @throws UncheckedIOException if it cannot be written; when the table is opened again, it may have the old row or the new one
     */
    @Override
    public boolean put(long id, float[] vector) {
        return wait(putLater(id, vector));
    }

    /**
     * {@inheritDoc} Waits until the update is durable; {@link #removeLater} does not.
     *
     * @throws UncheckedIOException if it cannot be written; when the table is opened again, it may have the row or not
     */
    @Override
    public boolean remove(long id) {
        return wait(removeLater(id));
    }

    /**
     * Inserts a row, or replaces the row of the same id. Updates of one id are applied in call order. Blocks only while about a
     * thousand updates are pending.
     *
     * @param id any
     * @param vector of the table's dimension, finite, not zero for cosine; copied
     * @return completes when the update is durable and visible to searches that begin afterwards, with whether there was no row of
     *     this id; or with an {@link UncheckedIOException}, as {@link #put} throws it
     * @throws TableFullException if codes and ids exceed the memory limit, or the table has almost 10^9 rows; nothing has changed
     */
    public CompletableFuture<Boolean> putLater(long id, float[] vector) {
        requireQuery("vector", vector);
        return add(Update.put(id, Space.of(metric(), vector)));
    }

    /**
     * Removes a row. Updates of one id are applied in call order. Blocks only while about a thousand updates are pending.
     *
     * @param id external id
     * @return completes when the update is durable and searches that begin afterwards do not find the row, with whether there was
     *     one; or with an {@link UncheckedIOException}, as {@link #remove} throws it
     */
    public CompletableFuture<Boolean> removeLater(long id) {
        return add(Update.remove(id));
    }

    private CompletableFuture<Boolean> add(Update update) {
        // Before it is logged: a closed orchestrator would not apply it, but reopening the table would.
        changeBegins();
        if (update.vector() != null) {
            limit.admit(name(), this::memoryBytesWithMore);
            requireRoom(graph().codes().nodes());
        }
        return log().add(update);
    }

    /** Before an insert is logged, as long as those under way fit in. */
    void requireRoom(int nodes) {
        if (nodes > Superblock.MAX_NODES - DiskUpdates.MAX_UNDER_WAY) {
            throw new TableFullException(
                    name(),
                    "it has " + nodes + " nodes, and a table on disk holds " + Superblock.MAX_NODES
                            + "; divide its rows between tables",
                    null);
        }
    }

    private DiskUpdates log() {
        return Objects.requireNonNull(updates());
    }

    private static boolean wait(CompletableFuture<Boolean> update) {
        try {
            return update.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
        }
    }

    /**
     * Writes the changes to the file, so that the table opens faster the next time: all updates that were acknowledged before the call. Happens
     * automatically when 32 MiB of pages have changed or the log has grown by 16 MiB, and when the table is closed.
     *
     * @return completes when the checkpoint is durable; with an {@link IOException} if it cannot be written: the updates are in the
     *     log, and the next checkpoint includes them
     */
    public CompletableFuture<Void> checkpoint() {
        requireOpen();
        return log().checkpoint();
    }

    /**
     * Sets how long updates run before their worker checks whether reads of searches have completed: updates that fill a stall
     * overrun it by at most about this time. In a long slice one update goes on until it is done or must wait, and no other begins.
     *
     * @param slice from a microsecond to a second, or zero for the worker's own limit, the default: 5 us, or the value of
     *     {@link io.github.roost.index.disk.stall.StallPolicy}. Takes effect at once
     */
    public void updateSlice(Duration slice) {
        Objects.requireNonNull(slice, "slice must not be null");
        if (!slice.isZero()
                && (slice.compareTo(Duration.ofNanos(1_000)) < 0 || slice.compareTo(Duration.ofSeconds(1)) > 0)) {
            throw new IllegalArgumentException(
                    "the slice of updates must be zero or from a microsecond to a second, got " + slice);
        }
        log().writer().sliceNanos(slice.toNanos());
    }

    /** Sets which thread applies updates; takes effect with the next step of an update. */
    void updateThread(UpdateThread thread) {
        log().writer().thread(thread);
    }

    /** {@inheritDoc} Covers codes and ids; vectors and edges are in the file. Inserts are refused a thousand rows below the limit. */
    @Override
    public void memoryLimit(long bytes) {
        limit.set(bytes);
    }

    @Override
    public long memoryLimit() {
        return limit.bytes();
    }
}
