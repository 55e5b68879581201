package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.vector.IdFilter;
import java.util.function.IntPredicate;

/** The rows of an image that are alive and that a filter allows, asked about one by one. Used by one search. */
final class AskedRows implements IntPredicate {
    /** Rows between two expiry checks. */
    private static final int RUN = 64;
    /** A sample ends with so many allowed rows: then its share is off by a sixth on average. */
    private static final int SAMPLE_ALLOWED = 32;
    /** Rows of a sample in which fewer are allowed: some 10 us, or one in 32 rows of a large image. */
    private static final int SAMPLE = 256;

    private static final int ROWS_PER_SAMPLED = 32;
    /** The golden ratio as a fraction of 2^64: its multiples spread rows evenly, whatever pattern ids follow. */
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private final GraphImage image;
    private final NodeSet alive;
    private final IdFilter filter;
    private final Runnable betweenRows;
    private int asked;

    /** @param betweenRows runs every few rows */
    AskedRows(GraphImage image, NodeSet alive, IdFilter filter, Runnable betweenRows) {
        this.image = image;
        this.alive = alive;
        this.filter = filter;
        this.betweenRows = betweenRows;
    }

    @Override
    public boolean test(int row) {
        if (++asked % RUN == 0) {
            betweenRows.run();
        }
        return alive.contains(row) && filter.allows(image.id(row));
    }

    /** An estimate of the share of allowed rows among those that are alive, from a sample; 0 if none is alive. */
    double share() {
        int rows = image.shape().rows();
        int max = Math.max(SAMPLE, rows / ROWS_PER_SAMPLED);
        int living = 0;
        int allowed = 0;
        for (int i = 1; i <= max && allowed < SAMPLE_ALLOWED; i++) {
            int row = (int) Math.multiplyHigh((i * STEP) >>> 1, 2L * rows);
            if (alive.contains(row)) {
                living++;
                allowed += test(row) ? 1 : 0;
            }
        }
        return living == 0 ? 0 : (double) allowed / living;
    }
}
