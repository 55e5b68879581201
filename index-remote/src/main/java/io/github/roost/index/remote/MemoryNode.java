package io.github.roost.index.remote;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.HeldFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner of a pool's file: increments the pool's heartbeat, which shows tables that the owner is alive. Tables read the pool without its help.
 * While its process is stopped or dead they refuse to search, since the memory may be gone or out of date. Thread-safe.
 */
public final class MemoryNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryNode.class);
    /** Beats per term; several, so that a reader that looks now and then sees one in time. */
    private static final int BEATS_PER_TERM = 4;

    private static final long MIN_TERM_MILLIS = 20;
    private static final long MAX_TERM_MILLIS = 3_600_000;

    private final HeldFile held;
    private final RemoteMemory.Region region;
    private final long partitions;
    private final long beatMillis;
    private final Thread beating;
    private final CountDownLatch closing = new CountDownLatch(1);

    private MemoryNode(HeldFile held, RemoteMemory.Region region, int partitions, long termMillis) {
        this.held = held;
        this.region = region;
        this.partitions = partitions;
        this.beatMillis = termMillis / BEATS_PER_TERM;
        beat();
        write(PoolHead.TERM_AT, termMillis);
        this.beating = Thread.ofPlatform().daemon().name("roost-memory-node").unstarted(this::run);
    }

    /**
     * Serves the pool of a file until the node is closed. A table that was opened before the pool was first served does not watch the heartbeat.
     *
     * @param pool a file built by {@link PartitionedIndex}; one node at a time serves it
     * @param term time without a heartbeat after which tables consider the node lost, from 20 ms to an hour
     * @return the running node
     * @throws IOException if the file holds no pool, cannot be written, or is served by another node
     * @throws IllegalArgumentException if the term is out of range
     */
    public static MemoryNode serve(Path pool, Duration term) throws IOException {
        Objects.requireNonNull(pool, "pool must not be null");
        Objects.requireNonNull(term, "term must not be null");
        Path folder = pool.toAbsolutePath().getParent();
        if (folder == null) {
            throw new RemoteMemoryException(pool.toString(), "is not a file");
        }
        return serve(pool, term, RemoteMemory.mapped(folder));
    }

    /** @param memory provider that has the file under its name */
    static MemoryNode serve(Path pool, Duration term, RemoteMemory memory) throws IOException {
        Vectors.requireRange("term in milliseconds", term.toMillis(), MIN_TERM_MILLIS, MAX_TERM_MILLIS);
        Path file = pool.toAbsolutePath();
        HeldFile held = HeldFile.toChange(file);
        if (held == null) {
            throw new RemoteMemoryException(file.toString(), "is served by another node, or being replaced");
        }
        boolean serving = false;
        try {
            RemoteMemory.Region region = memory.open(file.getFileName().toString());
            try {
                PoolHead head = head(region);
                MemoryNode node = new MemoryNode(held, region, head.partitions(), term.toMillis());
                node.beating.start();
                serving = true;
                return node;
            } finally {
                if (!serving) {
                    region.close();
                }
            }
        } finally {
            if (!serving) {
                held.close();
            }
        }
    }

    private static PoolHead head(RemoteMemory.Region region) throws RemoteMemoryException {
        if (region.bytes() < PoolHead.BYTES) {
            throw new RemoteMemoryException(
                    region.name(), "has " + region.bytes() + " bytes, less than a pool's head of " + PoolHead.BYTES);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment first = arena.allocate(PoolHead.BYTES, 8);
            region.get(List.of(new RemoteMemory.Region.Transfer(0, first))).join();
            return PoolHead.read(region.name(), region.bytes(), first);
        }
    }

    private void run() {
        try {
            boolean beats = true;
            while (!closing.await(beatMillis, TimeUnit.MILLISECONDS)) {
                beats = beatOrTellWhyNot(beats);
            }
        } catch (InterruptedException e) {
            LOG.info("{} is served no longer: interrupted", region.name());
        }
    }

    /** Returns whether the heartbeat was incremented. Tables consider the node lost while it cannot be, and alive when it can again. */
    private boolean beatOrTellWhyNot(boolean before) {
        try {
            beat();
            return true;
        } catch (CompletionException failed) {
            if (before) {
                LOG.warn("{} is not served until it can be written again", region.name(), failed.getCause());
            }
            return false;
        }
    }

    /** Not atomic: only the node that holds the file increments, in one thread at a time. */
    private void beat() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(Long.BYTES, 8);
            RemoteMemory.Region.Transfer heartbeat = new RemoteMemory.Region.Transfer(PoolHead.HEARTBEAT_AT, word);
            region.get(List.of(heartbeat)).join();
            word.set(LONG, 0, word.get(LONG, 0) + 1);
            region.put(List.of(heartbeat)).join();
        }
    }

    private void write(long at, long value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(Long.BYTES, 8);
            word.set(LONG, 0, value);
            region.put(List.of(new RemoteMemory.Region.Transfer(at, word))).join();
        }
    }

    /** {@return the pool's file} */
    public String region() {
        return region.name();
    }

    /** {@return the pool's size in bytes} */
    public long bytes() {
        return region.bytes();
    }

    /** {@return the number of partitions in the pool} */
    public long partitions() {
        return partitions;
    }

    /** Stops the heartbeat: tables consider the node lost within its term. A second call does nothing. */
    @Override
    public synchronized void close() throws IOException {
        if (closing.getCount() == 0) {
            return;
        }
        closing.countDown();
        boolean interrupted = false;
        while (beating.isAlive()) {
            try {
                beating.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        region.close();
        held.close();
    }
}
