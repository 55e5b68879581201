package io.github.roost.index.remote;

import io.github.roost.core.TableFileException;
import io.github.roost.index.hnsw.HnswGraph;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A partition's bytes in local memory, or on their way there. Fields are guarded by the cache, but for the graph and the log, which one
 * search publishes when it has compared their bytes with their checksums; of two that do so at once either may. Bytes that are there
 * do not change: what a log has more is read behind them.
 */
final class CachedPartition {
    /** Which bytes: those of a partition differ from generation to generation. */
    record Key(int partition, int generation) {}

    final Key key;
    final Directory.Place place;
    final Directory.Gap gap;
    final List<Waiting> waiters = new ArrayList<>();
    /** Records of the log that are there. */
    int records;
    /** Whether the image is there. */
    boolean loaded;

    boolean loading;

    int pins;
    /** When it was last used, in uses of the cache. */
    long used;

    @Nullable
    Memory memory;

    private volatile @Nullable HnswGraph graph;
    private volatile PartitionLog log = PartitionLog.EMPTY;

    /** Memory of the cache. Its fields are guarded by the cache. */
    static final class Memory {
        private final Arena arena;
        private final MemorySegment bytes;
        /** Reads that the provider has not ended: their bytes may still come, so the memory stays until then. */
        int reads;
        /** Whether one of them was given up. */
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

    CachedPartition(Key key, Directory.Place place, Directory.Gap gap) {
        this.key = key;
        this.place = place;
        this.gap = gap;
    }

    /** What it takes: the image and room for its log. */
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

    /** Where in memory the header and the graph are. */
    MemorySegment image() {
        return all().asSlice(isEven() ? 0 : gap.bytes(), place.bytes());
    }

    /** Where in memory records {@code from} to {@code to} of the log are: upwards from the image, or downwards. */
    MemorySegment log(int from, int to, int recordBytes) {
        long fromBytes = (long) from * recordBytes;
        long bytes = (long) (to - from) * recordBytes;
        return isEven()
                ? all().asSlice(place.bytes() + fromBytes, bytes)
                : all().asSlice(gap.bytes() - fromBytes - bytes, bytes);
    }

    /** The read that is still needed for so many records: the whole, or the end of the log. */
    RemoteRegion.Transfer read(int upTo, int recordBytes) {
        long logBytes = (long) upTo * recordBytes;
        if (!loaded) {
            return isEven()
                    ? new RemoteRegion.Transfer(place.at(), all().asSlice(0, place.bytes() + logBytes))
                    : new RemoteRegion.Transfer(
                            place.at() - logBytes, all().asSlice(gap.bytes() - logBytes, logBytes + place.bytes()));
        }
        MemorySegment missing = log(records, upTo, recordBytes);
        return isEven()
                ? new RemoteRegion.Transfer(gap.at() + (long) records * recordBytes, missing)
                : new RemoteRegion.Transfer(gap.end() - logBytes, missing);
    }

    /** The graph once it has been verified; a partition without rows has none. */
    @Nullable
    HnswGraph graph() {
        return graph;
    }

    boolean isVerified() {
        return place.rows() == 0 || graph != null;
    }

    /**
     * What the log says, at least up to a slot.
     *
     * @param tail slots of it; their bytes must be there, and the last must be that of a record
     * @param dimension of the rows
     */
    PartitionLog log(String region, int tail, int dimension) throws DamagedPartitionException {
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

    /** What the log says as far as it has been looked at. */
    PartitionLog knownLog() {
        return log;
    }

    /** The row of the partition with an id, or null. */
    float @Nullable [] vector(long id, PartitionLog upTo) {
        LogRecord changed = upTo.row(id);
        if (changed != null) {
            return changed.vector().clone();
        }
        HnswGraph rows = graph;
        int row = rows == null || upTo.hides(id) ? -1 : rows.row(id);
        return rows == null || row < 0 ? null : rows.vector(row);
    }

    /**
     * Compares some bytes with their checksums.
     *
     * @param pool that the partition is one of
     * @param from the first block to look at
     * @param most blocks to look at
     * @return the next block, or -1 when all have been looked at and the graph can be searched
     */
    int verify(String region, PoolHead pool, int from, int most) throws DamagedPartitionException {
        MemorySegment image = image();
        long graphBytes = ImageHeader.check(region, key.partition(), place, image);
        MemorySegment bytes = image.asSlice(ImageHeader.bytes(graphBytes), graphBytes);
        int blocks = ImageHeader.blocks(graphBytes);
        int to = (int) Math.min(blocks, (long) from + most);
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

    private HnswGraph open(String region, PoolHead pool, MemorySegment bytes) throws DamagedPartitionException {
        try {
            HnswGraph opened = HnswGraph.open("partition " + key.partition(), bytes);
            if (opened.rows() != place.rows()) {
                throw new DamagedPartitionException(
                        region, key.partition(), "it has " + opened.rows() + " rows, not " + place.rows());
            }
            if (opened.dimension() != pool.dimension() || opened.metric() != pool.metric()) {
                throw new DamagedPartitionException(
                        region,
                        key.partition(),
                        "its rows have " + opened.dimension() + " dimensions by " + opened.metric() + ", not "
                                + pool.dimension() + " by " + pool.metric());
            }
            return opened;
        } catch (TableFileException wrong) {
            throw new DamagedPartitionException(region, key.partition(), String.valueOf(wrong.getMessage()));
        }
    }
}
