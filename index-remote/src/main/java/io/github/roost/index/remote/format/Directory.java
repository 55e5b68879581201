package io.github.roost.index.remote.format;

import static io.github.roost.index.remote.format.Bytes.INT;
import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.vector.file.Checksum;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The directory of one epoch: the places of all partitions and the free space. Immutable.
 *
 * @param epoch its number
 * @param partitions one entry per partition, in order of their numbers
 * @param gaps one entry per pair of partitions
 * @param free space that no partition of this epoch uses, see {@link Space}
 * @param end end of the last block; all space after it is free
 */
public record Directory(long epoch, List<Place> partitions, List<Gap> gaps, List<Space> free, long end) {
    private static final long MAGIC = 0x5249444d45523031L;
    private static final int HEADER_BYTES = 64;
    private static final int PLACE_BYTES = 24;
    private static final int GAP_BYTES = 32;
    private static final int SPACE_BYTES = 24;
    private static final int MIN_RECORDS = 64;
    private static final int MAX_RECORDS = 65_535;

    /**
     * The place of a partition.
     *
     * @param at offset of its header
     * @param bytes of header and graph
     * @param rows number of rows of its graph
     * @param generation number of rebuilds of the pair, modulo 65,536
     */
    public record Place(long at, long bytes, int rows, int generation) {}

    /** Identifies the bytes of a partition, which differ per generation. */
    public record Key(int partition, int generation) {}

    /**
     * The gap between the two partitions of a pair, and the block of all three.
     *
     * @param at offset of the gap: the end of the even partition
     * @param bytes size of the gap, up to the odd partition
     * @param blockAt offset of the block
     * @param blockBytes size of both partitions and the gap
     */
    public record Gap(long at, long bytes, long blockAt, long blockBytes) {
        /** The size of a gap: a share of its pair's bytes in whole records, within the range of a log's counters. */
        public static long bytes(long pairBytes, double share, int recordBytes) {
            return (long) recordBytes * Math.clamp((long) (pairBytes * share) / recordBytes, MIN_RECORDS, MAX_RECORDS);
        }

        public long end() {
            return at + bytes;
        }
    }

    /**
     * A block that is not used any more.
     *
     * @param at its offset
     * @param bytes its size
     * @param lastEpoch the last epoch that used it: readers that hold this epoch may still read it
     */
    public record Space(long at, long bytes, long lastEpoch) {
        public long end() {
            return at + bytes;
        }
    }

    public Directory {
        partitions = List.copyOf(partitions);
        gaps = List.copyOf(gaps);
        free = List.copyOf(free);
    }

    /** Upper bound of a directory's size: each pair may have left two blocks, and as many directories. */
    public static long room(int partitions) {
        int pairs = (partitions + 1) / 2;
        return Bytes.aligned(
                HEADER_BYTES
                        + (long) partitions * PLACE_BYTES
                        + (long) pairs * GAP_BYTES
                        + maxFree(partitions) * (long) SPACE_BYTES
                        + Long.BYTES,
                4_096);
    }

    public static int maxFree(int partitions) {
        return 2 * partitions + 64;
    }

    public Key key(int partition) {
        return new Key(partition, partitions.get(partition).generation());
    }

    public Gap gapOf(int partition) {
        return gaps.get(partition / 2);
    }

    public void write(MemorySegment into) {
        into.set(LONG, 0, MAGIC);
        into.set(LONG, 8, epoch);
        into.set(LONG, 16, end);
        into.set(INT, 24, partitions.size());
        into.set(INT, 28, free.size());
        long at = HEADER_BYTES;
        for (Place place : partitions) {
            into.set(LONG, at, place.at());
            into.set(LONG, at + 8, place.bytes());
            into.set(INT, at + 16, place.rows());
            into.set(INT, at + 20, place.generation());
            at += PLACE_BYTES;
        }
        for (Gap gap : gaps) {
            into.set(LONG, at, gap.at());
            into.set(LONG, at + 8, gap.bytes());
            into.set(LONG, at + 16, gap.blockAt());
            into.set(LONG, at + 24, gap.blockBytes());
            at += GAP_BYTES;
        }
        for (Space space : free) {
            into.set(LONG, at, space.at());
            into.set(LONG, at + 8, space.bytes());
            into.set(LONG, at + 16, space.lastEpoch());
            at += SPACE_BYTES;
        }
        into.set(LONG, at, Integer.toUnsignedLong(Checksum.of(into.asSlice(0, at))));
    }

    /** Reads and checks a directory; null if it is incomplete, for example because its space was reused. */
    public static @Nullable Directory read(String region, PoolHead head, long expectedEpoch, MemorySegment from)
            throws RemoteMemoryException {
        int count = from.get(INT, 24);
        int freeCount = from.get(INT, 28);
        int pairs = head.pairs();
        if (from.get(LONG, 0) != MAGIC
                || from.get(LONG, 8) != expectedEpoch
                || count != head.partitions()
                || freeCount < 0
                || freeCount > maxFree(count)) {
            return null;
        }
        Place[] places = new Place[count];
        Gap[] gaps = new Gap[pairs];
        Space[] free = new Space[freeCount];
        long end =
                HEADER_BYTES + (long) count * PLACE_BYTES + (long) pairs * GAP_BYTES + (long) freeCount * SPACE_BYTES;
        if (from.get(LONG, end) != Integer.toUnsignedLong(Checksum.of(from.asSlice(0, end)))) {
            return null;
        }
        long at = HEADER_BYTES;
        for (int i = 0; i < count; i++, at += PLACE_BYTES) {
            places[i] = new Place(
                    from.get(LONG, at), from.get(LONG, at + 8), from.get(INT, at + 16), from.get(INT, at + 20));
            inside(region, "partition " + i, places[i].at(), places[i].bytes(), head);
            PoolHead.require(region, "size of partition " + i, places[i].bytes(), ImageHeader.BYTES, head.bytes());
        }
        for (int i = 0; i < pairs; i++, at += GAP_BYTES) {
            gaps[i] = new Gap(
                    from.get(LONG, at), from.get(LONG, at + 8), from.get(LONG, at + 16), from.get(LONG, at + 24));
            inside(region, "gap " + i, gaps[i].at(), gaps[i].bytes(), head);
            inside(region, "block " + i, gaps[i].blockAt(), gaps[i].blockBytes(), head);
            requireBeside(region, i, places, gaps[i]);
        }
        for (int i = 0; i < freeCount; i++, at += SPACE_BYTES) {
            free[i] = new Space(from.get(LONG, at), from.get(LONG, at + 8), from.get(LONG, at + 16));
            inside(region, "free block " + i, free[i].at(), free[i].bytes(), head);
        }
        PoolHead.require(region, "end of blocks", from.get(LONG, 16), 0, head.bytes());
        return new Directory(expectedEpoch, List.of(places), List.of(gaps), List.of(free), from.get(LONG, 16));
    }

    private static void requireBeside(String region, int pair, Place[] places, Gap gap) throws RemoteMemoryException {
        Place even = places[2 * pair];
        boolean beside = even.at() + even.bytes() == gap.at();
        if (2 * pair + 1 < places.length) {
            beside &= places[2 * pair + 1].at() == gap.end();
        }
        if (!beside) {
            throw new RemoteMemoryException(region, "has a gap " + pair + " that is not between its partitions");
        }
    }

    private static void inside(String region, String what, long at, long bytes, PoolHead head)
            throws RemoteMemoryException {
        if (at < PoolHead.BYTES || bytes < 0 || bytes > head.bytes() || at > head.bytes() - bytes || at % 8 != 0) {
            throw new RemoteMemoryException(
                    region,
                    "has " + what + " of " + bytes + " bytes at " + at + ", outside of its " + head.bytes() + " bytes");
        }
    }
}
