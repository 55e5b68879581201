package io.github.roost.index.hnsw;

import java.util.Locale;
import java.util.Optional;

/**
 * Chooses the layout of a table whose builder sets none: {@link GraphLayout#FLOAT32} or {@link GraphLayout#INT8}. If the table's shape
 * does not decide, a sample of searches of both does. Their cost is computed from counts rather than measured by a clock, which other
 * load on the machine would disturb. Stateless.
 */
final class LayoutRule {
    /** With fewer dimensions, codes save little compared with the rest of the node's record that a search reads. */
    static final int MIN_DIMENSION = 64;
    /** Smaller tables are in the caches, where a search over codes saves nothing. */
    static final long MIN_VECTOR_BYTES = 8L << 20;
    /** Nanoseconds per distance, besides {@code PER_BYTE}; fitted to searches of 128, 384 and 960 dimensions on Zen 3. */
    private static final double PER_DISTANCE = 22;

    private static final double PER_BYTE = .04;
    /** Min share of the search time that codes must save, because they take a quarter more memory. */
    private static final double MIN_GAIN = .1;

    private LayoutRule() {}

    /**
     * The cost of the sample searches in one layout.
     *
     * @param ef the smallest tried ef that reaches the target recall
     * @param recall the recall at that ef; below the target if no ef reaches it
     * @param searched distances per search that the graph search computes
     * @param searchedBytes bytes per such distance
     * @param again distances per search that the rerank computes from vectors, after a search over codes
     * @param vectorBytes bytes per vector
     */
    record Cost(int ef, double recall, double searched, long searchedBytes, double again, long vectorBytes) {
        /** Estimated nanoseconds per search. */
        double nanos() {
            return searched * (PER_DISTANCE + PER_BYTE * searchedBytes)
                    + again * (PER_DISTANCE + PER_BYTE * vectorBytes);
        }
    }

    /**
     * The choice, if the table's shape decides it.
     *
     * @param codedBytes bytes of the table with codes
     * @param memoryLimit max bytes of the table
     */
    static Optional<GraphLayout.Choice> withoutSample(int dimension, int rows, long codedBytes, long memoryLimit) {
        long vectorBytes = (long) rows * dimension * Float.BYTES;
        if (dimension < MIN_DIMENSION) {
            return floats("%d dimensions are fewer than the %d from which codes save time"
                    .formatted(dimension, MIN_DIMENSION));
        }
        if (vectorBytes < MIN_VECTOR_BYTES) {
            return floats(
                    "%d bytes of vectors lie in caches, being less than %d".formatted(vectorBytes, MIN_VECTOR_BYTES));
        }
        if (codedBytes > memoryLimit) {
            return floats(
                    "codes would make it %d bytes, and the memory limit is %d".formatted(codedBytes, memoryLimit));
        }
        return Optional.empty();
    }

    private static Optional<GraphLayout.Choice> floats(String reason) {
        return Optional.of(new GraphLayout.Choice(GraphLayout.FLOAT32, reason));
    }

    /**
     * The choice by sample searches.
     *
     * @param target the target recall
     * @param floats cost of searches over vectors
     * @param codes cost of searches over codes
     */
    static GraphLayout.Choice bySample(double target, Cost floats, Cost codes) {
        String measured = String.format(
                Locale.ROOT,
                "a search with recall %s takes about %.1f us by 8-bit codes (ef %d, %.0f distances) and %.1f us by floats (ef"
                        + " %d, %.0f distances), by a sample",
                target,
                codes.nanos() / 1e3,
                codes.ef(),
                codes.searched() + codes.again(),
                floats.nanos() / 1e3,
                floats.ef(),
                floats.searched());
        boolean isAsGood = codes.recall() >= Math.min(target, floats.recall());
        boolean isFaster = codes.nanos() <= (1 - MIN_GAIN) * floats.nanos();
        return new GraphLayout.Choice(isAsGood && isFaster ? GraphLayout.INT8 : GraphLayout.FLOAT32, measured);
    }
}
