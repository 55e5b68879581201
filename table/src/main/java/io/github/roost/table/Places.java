package io.github.roost.table;

/**
 * What a payload of 52 bits says of a row: in memory, where it is there; cold, which is the highest bit, where it is in the values of the version's
 * file, and in how many blocks of that, so that they can be read at once, before the row's length is known.
 *
 * <pre>
 * 1 bit   cold
 * 6 bits  class of the number of blocks: 0 for one, and so on to 31 for 32; from there on in steps of 8
 * 45 bits place, in units of 8 bytes
 * </pre>
 */
final class Places {
    private static final int UNIT_BITS = 45;
    /** As many as can be told apart. */
    static final long UNITS = 1L << UNIT_BITS;

    private static final long COLD = 1L << 51;
    private static final int EXACT = 32;
    private static final int STEP = 8;
    private static final long LONGS = CheckedBlocks.CONTENT_BYTES / Long.BYTES;

    private Places() {}

    static boolean isCold(long payload) {
        return (payload & COLD) != 0;
    }

    /** A place in a file, of which it is known how many blocks to read, as one of a row that is not in memory. */
    static long cold(long inFile) {
        return inFile | COLD;
    }

    /** Where a row is, in units of 8 bytes. */
    static long unit(long payload) {
        return payload & UNITS - 1;
    }

    /**
     * The place of a row in a file.
     *
     * @param unit in the values
     * @param before longs in the body of the file before the values
     * @param rowBytes of the row
     */
    static long inFile(long unit, long before, long rowBytes) {
        long last = before + unit + (Values.taken(rowBytes) >> Values.UNIT_SHIFT) - 1;
        long blocks = last / LONGS - (before + unit) / LONGS + 1;
        long blockClass = blocks <= EXACT ? blocks - 1 : EXACT - 1 + (blocks - EXACT + STEP - 1) / STEP;
        return blockClass << UNIT_BITS | unit;
    }

    /** Whether a number from a file can be the place of a row there. */
    static boolean isInFile(long place, long valueBytes) {
        return place >= 0 && place < COLD && unit(place) <= (valueBytes - Integer.BYTES) >> Values.UNIT_SHIFT;
    }

    /** In how many blocks of a file a row is, at most. */
    static int blocks(long payload) {
        int blockClass = (int) ((payload & ~COLD) >>> UNIT_BITS);
        return blockClass < EXACT ? blockClass + 1 : EXACT + STEP * (blockClass - EXACT + 1);
    }
}
