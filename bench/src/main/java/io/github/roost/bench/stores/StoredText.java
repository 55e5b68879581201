package io.github.roost.bench.stores;

/**
 * A text that is stored with its vector and some metadata, which follow from its number.
 *
 * @param number names it
 * @param vector of length one; not copied
 */
record StoredText(int number, String text, float[] vector) {
    static final String TENANT = "tenant";
    static final String SOURCE = "source";
    static final String PAGE = "page";

    static final int TENANTS = 10;
    static final int SOURCES = 500;
    static final int PAGES = 100;

    private static final int TENANT_SEED = 1;
    private static final int SOURCE_SEED = 2;
    private static final int PAGE_SEED = 3;

    String id() {
        return "text-" + number;
    }

    String tenant() {
        return tenant(tenantOf(number));
    }

    String source() {
        return source(sourceOf(number));
    }

    int page() {
        return pageOf(number);
    }

    static String tenant(int tenant) {
        return "tenant-" + tenant;
    }

    static String source(int source) {
        return "source-" + source;
    }

    static int tenantOf(int number) {
        return drawn(number, TENANT_SEED, TENANTS);
    }

    static int sourceOf(int number) {
        return drawn(number, SOURCE_SEED, SOURCES);
    }

    static int pageOf(int number) {
        return drawn(number, PAGE_SEED, PAGES);
    }

    /** A number that looks random and independent of those with other seeds. */
    private static int drawn(int number, int seed, int bound) {
        long mixed = (number * 31L + seed) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ (mixed >>> 29)) * 0xBF58_476D_1CE4_E5B9L;
        return (int) Long.remainderUnsigned(mixed ^ (mixed >>> 32), bound);
    }
}
