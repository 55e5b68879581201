package io.github.roost.index.hnsw;

import java.util.Locale;
import java.util.Optional;

/**
 * Which layout a table is given whose builder names none: {@link GraphLayout#FLOAT32} or {@link GraphLayout#INT8}. Where its shape
 * does not tell, a sample of searches of both does, by what they would cost; not by a clock, which other work of the machine moves.
 * {@link GraphLayout#NEIGHBOR_CODES} is never chosen: it takes the most memory, and has been slower than FLOAT32 wherever
 * both were measured. Stateless.
 */
final class LayoutRule {
    /** Below, a code is hardly shorter than what else a walk reads of a node. */
    static final int MIN_DIMENSION = 64;
    /** Vectors of less lie in caches, where walks over codes gain nothing. */
    static final long MIN_VECTOR_BYTES = 8L << 20;
    /** What a distance costs besides the bytes it reads, in nanoseconds; fitted to walks of 128, 384 and 960 dimensions on Zen 3. */
    private static final double PER_DISTANCE = 22;

    private static final double PER_BYTE = .04;
    /** A table by codes takes a quarter more memory: less than this share of the time is saved for nothing. */
    private static final double MIN_GAIN = .1;

    private LayoutRule() {}

    /**
     * What the searches of a sample take in one layout.
     *
     * @param ef the narrowest width that reaches the recall
     * @param recall that it reaches; less than was asked for where no width does
     * @param walked distances per search of the walk
     * @param walkedBytes that each of them reads
     * @param again distances per search from vectors, after a walk by codes
     * @param vectorBytes of a vector
     */
    record Cost(int ef, double recall, double walked, long walkedBytes, double again, long vectorBytes) {
        /** Nanoseconds of a search, nearly. */
        double nanos() {
            return walked * (PER_DISTANCE + PER_BYTE * walkedBytes) + again * (PER_DISTANCE + PER_BYTE * vectorBytes);
        }
    }

    /**
     * The choice where the table's shape tells.
     *
     * @param codedBytes what it takes by codes
     * @param memoryLimit what it may take
     */
    static Optional<LayoutChoice> withoutSample(int dimension, int rows, long codedBytes, long memoryLimit) {
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

    private static Optional<LayoutChoice> floats(String reason) {
        return Optional.of(new LayoutChoice(GraphLayout.FLOAT32, reason));
    }

    /**
     * The choice by a sample.
     *
     * @param target recall that is asked for
     * @param floats of walks by vectors
     * @param codes of walks by codes
     */
    static LayoutChoice bySample(double target, Cost floats, Cost codes) {
        String measured = String.format(
                Locale.ROOT,
                "at recall %s by a sample: by vectors ef %d, %.0f distances, %.1f us; by codes ef %d, %.0f distances, %.1f us",
                target,
                floats.ef(),
                floats.walked(),
                floats.nanos() / 1e3,
                codes.ef(),
                codes.walked() + codes.again(),
                codes.nanos() / 1e3);
        boolean isAsGood = codes.recall() >= Math.min(target, floats.recall());
        boolean isFaster = codes.nanos() <= (1 - MIN_GAIN) * floats.nanos();
        return new LayoutChoice(isAsGood && isFaster ? GraphLayout.INT8 : GraphLayout.FLOAT32, measured);
    }
}
