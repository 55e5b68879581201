package io.github.roost.index.remote;

import static io.github.roost.index.remote.Bytes.INT;
import static io.github.roost.index.remote.Bytes.LONG;

import io.github.roost.core.Metric;
import io.github.roost.core.Vectors;
import io.github.roost.core.file.Checksum;
import io.github.roost.core.vector.TableFormat;
import java.lang.foreign.MemorySegment;

/**
 * The first bytes of a region: what never changes, behind a checksum, and where the words are that do.
 *
 * @param partitions how many there are
 * @param dimension components of a vector
 * @param metric how distances are measured
 * @param m neighbours per row, see the build
 * @param efConstruction see the build
 * @param visited partitions that a search visits which does not say
 * @param recordBytes size of a record of a log
 * @param bytes of the region
 * @param leaseMillis how long a writer's lease and a reader's hold last that are not renewed
 * @param directoryBytes room for a directory
 * @param metaAt where the graph of the centroids is, which the sample follows
 * @param metaBytes of that graph
 * @param sample vectors after it
 * @param metaChecksum of both
 */
record PoolHead(
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
        int metaChecksum) {
    static final int BYTES = 4_096;
    /** Words that change: the {@link Root}. */
    static final int ROOT_AT = 512;

    static final int HEARTBEAT_AT = 520;
    static final int TERM_AT = 528;
    /** See {@link WriterLease}. */
    static final int LEASE_AT = 536;

    static final int ROWS_AT = 544;
    /** The {@link Filling} of the writer, 0 for none. */
    static final int FILLING_AT = 552;
    /** Those of writers that were lost, 0 for none. */
    static final int LOST_AT = 560;

    static final int MAX_LOST = 32;
    /** Two words per reader, see {@link ReaderHold}. */
    static final int READERS_AT = 1_024;

    static final int READERS = 128;
    static final int READER_BYTES = 16;
    /** Four words per pair: {@link LogTails} and {@link LogSlots} of even generations, and of odd ones. */
    static final int PAIRS_AT = BYTES;

    static final int PAIR_BYTES = 32;
    static final int MIN_LEASE_MILLIS = 50;
    static final int MAX_LEASE_MILLIS = 3_600_000;

    static final int MAX_PARTITIONS = 10_000;
    /** "ROOSTRMP", little-endian. */
    private static final long MAGIC = TableFormat.POOL.magic();

    private static final int VERSION = 2;
    private static final int CHECKED_BYTES = 248;
    private static final int CHECKSUM_AT = CHECKED_BYTES;

    int pairs() {
        return (partitions + 1) / 2;
    }

    /** Where the tails of a pair's logs are. Those of the generation before stay until the one after this. */
    static long tailsAt(int pair, int generation) {
        return PAIRS_AT + (long) pair * PAIR_BYTES + (generation & 1) * (PAIR_BYTES / 2L);
    }

    /** Where it is counted which slots are handed out. */
    static long slotsAt(int pair, int generation) {
        return tailsAt(pair, generation) + Long.BYTES;
    }

    static long pairsEnd(int partitions) {
        return PAIRS_AT + (partitions + 1) / 2 * (long) PAIR_BYTES;
    }

    long sampleBytes() {
        return (long) sample * dimension * Float.BYTES;
    }

    void write(MemorySegment into) {
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
        into.set(INT, CHECKSUM_AT, Checksum.of(into.asSlice(0, CHECKED_BYTES)));
    }

    /** Reads and checks a head: nothing that it says is believed before. */
    static PoolHead read(String region, long regionBytes, MemorySegment from) throws RemoteMemoryException {
        if (from.get(LONG, 0) != MAGIC) {
            throw new RemoteMemoryException(region, TableFormat.POOL.mismatch(from.get(LONG, 0)));
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
                from.get(INT, 84));
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
        require(region, "size of the centroids", head.metaBytes, 1, head.bytes - head.metaAt - head.sampleBytes());
        return head;
    }

    static void require(String region, String what, long value, long least, long most) throws RemoteMemoryException {
        if (value < least || value > most) {
            throw new RemoteMemoryException(
                    region, "has a " + what + " of " + value + ", it must be between " + least + " and " + most);
        }
    }
}
