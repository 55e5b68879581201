package io.github.roost.index.remote.format;

import static io.github.roost.index.remote.format.Bytes.INT;
import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.Checksum;
import java.lang.foreign.MemorySegment;

/**
 * The first page of a region: constant fields with a checksum, and the offsets of the mutable words.
 *
 * @param partitions number of partitions
 * @param dimension components per vector
 * @param metric the metric
 * @param m neighbors per row, see the build
 * @param efConstruction see the build
 * @param visited default number of partitions per search
 * @param recordBytes size of a log record
 * @param bytes size of the region
 * @param leaseMillis term of a writer's lease and of a reader's hold, in milliseconds
 * @param directoryBytes space reserved for a directory
 * @param metaAt offset of the graph of the centroids, followed by the sample and a number per partition
 * @param metaBytes size of that graph
 * @param sample number of sample vectors after it
 * @param metaChecksum checksum of all three
 * @param gapShare size of a rebuilt pair's gap as a share of its partitions, from 0 to 1
 */
public record PoolHead(
        int partitions,
        int dimension,
        Metric metric,
        int m,
        int efConstruction,
        int visited,
        int recordBytes,
        long bytes,
        int leaseMillis,
        long directoryBytes,
        long metaAt,
        long metaBytes,
        int sample,
        int metaChecksum,
        double gapShare) {
    public static final int BYTES = 4_096;
    /** Offsets of mutable words, here of the {@link EpochRoot}. */
    public static final int ROOT_AT = 512;

    public static final int HEARTBEAT_AT = 520;
    public static final int TERM_AT = 528;
    /** The word of the writer's lease. */
    public static final int LEASE_AT = 536;

    /** The {@link RowCount}. */
    public static final int ROWS_AT = 544;
    /** The {@link SpaceReservation} of the writer, 0 for none. */
    public static final int RESERVATION_AT = 552;
    /** The {@link SpaceReservation}s of lost writers, 0 for none. */
    public static final int LOST_AT = 560;

    public static final int MAX_LOST = 32;
    /** A number that two mirrored pools have in common, 0 for a pool that is not mirrored. */
    public static final int MIRROR_AT = LOST_AT + MAX_LOST * Long.BYTES;

    /** Two words per reader: its hold on an epoch. */
    public static final int READERS_AT = 1_024;

    public static final int READERS = 128;
    public static final int READER_BYTES = 16;
    /** Four words per pair: {@link LogTails} and {@link LogSlots} of even generations, then the same of odd generations. */
    public static final int PAIRS_AT = BYTES;

    static final int PAIR_BYTES = 32;
    public static final int MIN_LEASE_MILLIS = 50;
    public static final int MAX_LEASE_MILLIS = 3_600_000;

    public static final int MAX_PARTITIONS = 10_000;
    /** "ROOSTRMP", little-endian. */
    private static final long MAGIC = RemoteFormats.POOL.magic();

    private static final int VERSION = 4;
    private static final int CHECKED_BYTES = 248;
    private static final int CHECKSUM_AT = CHECKED_BYTES;

    public int pairs() {
        return (partitions + 1) / 2;
    }

    /** Offset of a pair's {@link LogTails}. The word of one generation is not overwritten by the next generation. */
    public static long tailsAt(int pair, int generation) {
        return PAIRS_AT + (long) pair * PAIR_BYTES + (generation & 1) * (PAIR_BYTES / 2L);
    }

    /** Offset of a pair's {@link LogSlots}. */
    public static long slotsAt(int pair, int generation) {
        return tailsAt(pair, generation) + Long.BYTES;
    }

    public static long pairsEnd(int partitions) {
        return PAIRS_AT + (partitions + 1) / 2 * (long) PAIR_BYTES;
    }

    public long sampleBytes() {
        return (long) sample * dimension * Float.BYTES;
    }

    /** Bytes of the numbers after the sample: per partition, how much farther its rows may be from its centroid than from another. */
    public long excessBytes() {
        return (long) partitions * Float.BYTES;
    }

    public void write(MemorySegment into) {
        into.set(LONG, 0, MAGIC);
        into.set(INT, 8, VERSION);
        into.set(INT, 12, partitions);
        into.set(INT, 16, dimension);
        into.set(INT, 20, metric.ordinal());
        into.set(INT, 24, m);
        into.set(INT, 28, efConstruction);
        into.set(INT, 32, visited);
        into.set(INT, 36, recordBytes);
        into.set(LONG, 40, bytes);
        into.set(LONG, 48, leaseMillis);
        into.set(LONG, 56, directoryBytes);
        into.set(LONG, 64, metaAt);
        into.set(LONG, 72, metaBytes);
        into.set(INT, 80, sample);
        into.set(INT, 84, metaChecksum);
        into.set(LONG, 88, Double.doubleToRawLongBits(gapShare));
        into.set(INT, CHECKSUM_AT, Checksum.of(into.asSlice(0, CHECKED_BYTES)));
    }

    /** Reads and checks a head. Nothing in it is used before it is checked. */
    public static PoolHead read(String region, long regionBytes, MemorySegment from) throws RemoteMemoryException {
        if (from.get(LONG, 0) != MAGIC) {
            throw new RemoteMemoryException(region, RemoteFormats.POOL.mismatch(from.get(LONG, 0)));
        }
        if (from.get(INT, 8) != VERSION) {
            throw new RemoteMemoryException(
                    region, "is of version " + from.get(INT, 8) + ", this library reads " + VERSION);
        }
        if (from.get(INT, CHECKSUM_AT) != Checksum.of(from.asSlice(0, CHECKED_BYTES))) {
            throw new RemoteMemoryException(region, "has a damaged head: wrong checksum");
        }
        Metric[] metrics = Metric.values();
        int metric = from.get(INT, 20);
        require(region, "metric", metric, 0, metrics.length - 1);
        PoolHead head = new PoolHead(
                from.get(INT, 12),
                from.get(INT, 16),
                metrics[metric],
                from.get(INT, 24),
                from.get(INT, 28),
                from.get(INT, 32),
                from.get(INT, 36),
                from.get(LONG, 40),
                Math.clamp(from.get(LONG, 48), -1, Integer.MAX_VALUE),
                from.get(LONG, 56),
                from.get(LONG, 64),
                from.get(LONG, 72),
                from.get(INT, 80),
                from.get(INT, 84),
                Double.longBitsToDouble(from.get(LONG, 88)));
        require(region, "number of partitions", head.partitions, 1, MAX_PARTITIONS);
        require(region, "dimension", head.dimension, 1, Vectors.MAX_DIMENSIONS);
        require(region, "number of partitions per search", head.visited, 1, head.partitions);
        require(
                region,
                "record size",
                head.recordBytes,
                LogRecord.bytes(head.dimension),
                LogRecord.bytes(head.dimension));
        if (head.bytes > regionBytes) {
            throw new RemoteMemoryException(region, "has " + regionBytes + " bytes, its head says " + head.bytes);
        }
        long pairsEnd = pairsEnd(head.partitions);
        require(region, "lease in milliseconds", head.leaseMillis, MIN_LEASE_MILLIS, MAX_LEASE_MILLIS);
        long room = Directory.room(head.partitions);
        require(region, "size of directories", head.directoryBytes, room, room);
        require(region, "sample", head.sample, 0, 1_000);
        require(region, "place of the centroids", head.metaAt, pairsEnd, head.bytes);
        require(
                region,
                "size of the centroids",
                head.metaBytes,
                1,
                head.bytes - head.metaAt - head.sampleBytes() - head.excessBytes());
        if (!(head.gapShare >= 0 && head.gapShare <= 1)) {
            throw new RemoteMemoryException(
                    region, "has gaps of a share of " + head.gapShare + ", it must be between 0 and 1");
        }
        return head;
    }

    public static void require(String region, String what, long value, long min, long max)
            throws RemoteMemoryException {
        if (value < min || value > max) {
            throw new RemoteMemoryException(
                    region, "has a " + what + " of " + value + ", it must be between " + min + " and " + max);
        }
    }
}
