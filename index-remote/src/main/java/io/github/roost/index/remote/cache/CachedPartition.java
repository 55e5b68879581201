package io.github.roost.index.remote.cache;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.ImageHeader;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.PartitionLog;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.vector.FileFormatException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A partition's bytes in local memory, or being read. Fields are guarded by the cache, except graph and log: a search publishes them after it has
 * verified their bytes; if two searches do so at once, either may win. Bytes never change once they are loaded: further log records are read
 * behind them.
 */
public final class CachedPartition {
    final Directory.Key key;
    final Directory.Place place;
    final Directory.Gap gap;
    final List<PartitionWaiter> waiters = new ArrayList<>();
    /** Slots of the log that are loaded. */
    int records;
    /** Whether the image is loaded. */
    boolean loaded;

    boolean loading;

    int pins;
    /** Time of the last use, as a count of the cache's uses. */
    long used;

    @Nullable
    Memory memory;

    private volatile @Nullable Graph graph;
    private volatile PartitionLog log = PartitionLog.EMPTY;

    /** A piece of the cache's memory. Its fields are guarded by the cache. */
    static final class Memory {
        private final Arena arena;
        private final MemorySegment bytes;
        /** Reads that the provider has not ended. Their bytes may still arrive, so the memory must not be freed. */
        int reads;
        /** Whether one of these reads was given up. */
        boolean givenUp;

        Memory(Arena arena, MemorySegment bytes) {
            this.arena = arena;
            this.bytes = bytes;
        }

        MemorySegment bytes() {
            return bytes;
        }

        void free() {
            arena.close();
        }
    }

    private CachedPartition(Directory.Key key, Directory.Place place, Directory.Gap gap) {
        this.key = key;
        this.place = place;
        this.gap = gap;
    }

    /** A partition without memory. */
    static CachedPartition of(Directory directory, int partition) {
        return new CachedPartition(
                directory.key(partition), directory.partitions().get(partition), directory.gapOf(partition));
    }

    /** A partition outside the cache, in memory that has at least its {@link #bytes}. */
    public static CachedPartition in(MemorySegment memory, Directory directory, int partition) {
        CachedPartition made = of(directory, partition);
        made.memory = new Memory(Arena.global(), memory.asSlice(0, made.bytes()));
        return made;
    }

    /** Bytes of the image and of the whole gap. */
    long bytes() {
        return place.bytes() + gap.bytes();
    }

    private MemorySegment all() {
        Memory held = memory;
        if (held == null) {
            throw new IllegalStateException("partition " + key.partition() + " has no memory");
        }
        return held.bytes();
    }

    private boolean isEven() {
        return key.partition() % 2 == 0;
    }

    /** The part of the memory with header and graph. */
    MemorySegment image() {
        return all().asSlice(isEven() ? 0 : gap.bytes(), place.bytes());
    }

    /** The part of the memory with slots {@code from} to {@code to} of the log: above the image for even partitions, below it for odd ones. */
    public MemorySegment log(int from, int to, int recordBytes) {
        long fromBytes = (long) from * recordBytes;
        long bytes = (long) (to - from) * recordBytes;
        return isEven()
                ? all().asSlice(place.bytes() + fromBytes, bytes)
                : all().asSlice(gap.bytes() - fromBytes - bytes, bytes);
    }

    /** The read that is needed to have {@code upTo} slots of the log: the whole partition, or the end of the log. */
    public RemoteMemory.Region.Transfer read(int upTo, int recordBytes) {
        long logBytes = (long) upTo * recordBytes;
        if (!loaded) {
            return isEven()
                    ? new RemoteMemory.Region.Transfer(place.at(), all().asSlice(0, place.bytes() + logBytes))
                    : new RemoteMemory.Region.Transfer(
                            place.at() - logBytes, all().asSlice(gap.bytes() - logBytes, logBytes + place.bytes()));
        }
        MemorySegment missing = log(records, upTo, recordBytes);
        return isEven()
                ? new RemoteMemory.Region.Transfer(gap.at() + (long) records * recordBytes, missing)
                : new RemoteMemory.Region.Transfer(gap.end() - logBytes, missing);
    }

    /** The graph, if it was verified; null before, and for a partition without rows. */
    @Nullable
    public Graph graph() {
        return graph;
    }

    public boolean isVerified() {
        return place.rows() == 0 || graph != null;
    }

    /**
     * The content of the log, at least up to a slot.
     *
     * @param tail number of slots; their bytes must be loaded, and the last slot must have a record
     * @param dimension of the rows
     */
    public PartitionLog log(String region, int tail, int dimension)
            throws RemoteMemoryException.DamagedPartitionException {
        PartitionLog known = log;
        if (known.tail() < tail) {
            int recordBytes = LogRecord.bytes(dimension);
            known = known.upTo(
                    tail,
                    region,
                    key.partition(),
                    slot -> LogRecord.read(region, key, slot, dimension, log(slot, slot + 1, recordBytes)));
            log = known;
        }
        return known;
    }

    /** The content of the log as far as it was parsed. */
    public PartitionLog knownLog() {
        return log;
    }

    /** The vector of a row, or null if the partition has no live row of this id. */
    public float @Nullable [] vector(long id, PartitionLog upTo) {
        LogRecord changed = upTo.row(id);
        if (changed != null) {
            return changed.vector().clone();
        }
        Graph rows = graph;
        int row = rows == null || upTo.hides(id) ? -1 : rows.row(id);
        return rows == null || row < 0 ? null : rows.vector(row);
    }

    /**
     * Verifies the checksums of some blocks.
     *
     * @param pool head of the partition's pool
     * @param from first block to verify
     * @param max maximum number of blocks to verify
     * @return the next block, or -1 if all are verified and the graph can be searched
     */
    public int verify(String region, PoolHead pool, int from, int max)
            throws RemoteMemoryException.DamagedPartitionException {
        MemorySegment image = image();
        long graphBytes = ImageHeader.check(region, key.partition(), place, image);
        MemorySegment bytes = image.asSlice(ImageHeader.bytes(graphBytes), graphBytes);
        int blocks = ImageHeader.blocks(graphBytes);
        int to = (int) Math.min(blocks, (long) from + max);
        for (int block = from; block < to; block++) {
            ImageHeader.checkBlock(region, key.partition(), image, bytes, block);
        }
        if (to < blocks) {
            return to;
        }
        if (graphBytes > 0) {
            graph = open(region, pool, bytes);
        }
        return -1;
    }

    private Graph open(String region, PoolHead pool, MemorySegment bytes)
            throws RemoteMemoryException.DamagedPartitionException {
        try {
            Graph opened = Graph.open("partition " + key.partition(), bytes);
            if (opened.rows() != place.rows()) {
                throw new RemoteMemoryException.DamagedPartitionException(
                        region, key.partition(), "it has " + opened.rows() + " rows, not " + place.rows());
            }
            if (opened.dimension() != pool.dimension() || opened.metric() != pool.metric()) {
                throw new RemoteMemoryException.DamagedPartitionException(
                        region,
                        key.partition(),
                        "its rows have " + opened.dimension() + " dimensions by " + opened.metric() + ", not "
                                + pool.dimension() + " by " + pool.metric());
            }
            return opened;
        } catch (FileFormatException wrong) {
            throw new RemoteMemoryException.DamagedPartitionException(
                    region, key.partition(), String.valueOf(wrong.getMessage()));
        }
    }
}
