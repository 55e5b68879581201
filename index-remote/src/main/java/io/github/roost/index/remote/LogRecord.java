package io.github.roost.index.remote;

/** How a record of a log lies in memory. Stateless. */
final class LogRecord {
    private static final int CACHE_LINE = 64;
    private static final int FIXED_BYTES = 48;

    private LogRecord() {}

    /** Size of a record, which is the same for all of a table: so that a log that grows downwards is read like the other. */
    static int bytes(int dimension) {
        return (int) Bytes.aligned(FIXED_BYTES + (long) dimension * Float.BYTES, CACHE_LINE);
    }
}
