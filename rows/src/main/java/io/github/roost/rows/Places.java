package io.github.roost.rows;

/**
 * The encoding of a row's place in a payload of 52 bits. For a row in memory it is the position there. For a cold row, marked by the highest bit, it
 * is the position in the values of the version's file and the number of blocks, so that all blocks can be read at once, before the row's length is
 * known.
 *
 * <pre>
 * 1 bit   cold
 * 6 bits  class of the number of blocks: 0 for one block up to 31 for 32 blocks; above that in steps of 8 blocks
 * 45 bits place, in units of 8 bytes
 * </pre>
 */
final class Places {
    private static final int UNIT_BITS = 45;
    /** The number of positions that can be encoded. */
    static final long UNITS = 1L << UNIT_BITS;

    private static final long COLD = 1L << 51;
    private static final int EXACT = 32;
    private static final int STEP = 8;
    private static final long LONGS = CheckedBlocks.CONTENT_BYTES / Long.BYTES;

    private Places() {}

    static boolean isCold(long payload) {
        return (payload & COLD) != 0;
    }

    /** Marks a place in a file as cold. */
    static long cold(long inFile) {
        return inFile | COLD;
    }

    /** The position of a row, in units of 8 bytes. */
    static long unit(long payload) {
        return payload & UNITS - 1;
    }

    /**
     * The place of a row in a file.
     *
     * @param unit its position in the values, in units of 8 bytes
     * @param before the number of longs in the file's body before the values
     * @param rowBytes the length of the row
     */
    static long inFile(long unit, long before, long rowBytes) {
        long last = before + unit + (Values.taken(rowBytes) >> Values.UNIT_SHIFT) - 1;
        long blocks = last / LONGS - (before + unit) / LONGS + 1;
        long blockClass = blocks <= EXACT ? blocks - 1 : EXACT - 1 + (blocks - EXACT + STEP - 1) / STEP;
        return blockClass << UNIT_BITS | unit;
    }

    /** Whether a number read from a file is a possible place of a row in it. */
    static boolean isInFile(long place, long valueBytes) {
        return place >= 0 && place < COLD && unit(place) <= (valueBytes - Integer.BYTES) >> Values.UNIT_SHIFT;
    }

    /** The maximum number of blocks that a row extends over. */
    static int blocks(long payload) {
        int blockClass = (int) ((payload & ~COLD) >>> UNIT_BITS);
        return blockClass < EXACT ? blockClass + 1 : EXACT + STEP * (blockClass - EXACT + 1);
    }
}
