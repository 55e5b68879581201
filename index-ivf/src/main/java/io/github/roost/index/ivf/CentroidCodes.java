package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScoredRows;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Centroids as bytes, which tell in a fraction of the time which of them may be the nearest, and never leave one out that
 * is. Thread-safe.
 *
 * <p>With x = y + e, where y is what a centroid's bytes stand for, a query's weights w and what their rounding took from
 * them, d, the score of a centroid is off by at most |q| |e| + |d| |c| (Cauchy and Schwarz), c being its bytes, and by what
 * floats round. So whatever has a score within twice that of the count-th best may be nearer than it, and nothing else.
 */
final class CentroidCodes {
    /** Rows of the first scan, so few that the others begin with a bound. A multiple of a tile. */
    private static final int FIRST_ROWS = 2 * CodeRun.TILE;

    private static final ThreadLocal<CodeGroup> GROUP = ThreadLocal.withInitial(CodeGroup::new);
    /** An ulp of a float and its half, for the sum that a kernel makes and the one that it is compared with. */
    private static final double ROUNDING = 0x1p-22;

    private final ScanKernel kernel;
    private final ScalarCodec codec;
    private final CodeRun run;
    /** The largest distance of a centroid from the middles, or its largest length for products. */
    private final double length;
    /** The largest distance of a centroid from what its bytes stand for. */
    private final double error;
    /** The largest length of a centroid's bytes. */
    private final double codeLength;

    CentroidCodes(ScanKernel kernel, Metric metric, float[][] centroids) {
        this.kernel = kernel;
        this.codec = ScalarCodec.of(metric, centroids);
        this.run = CodeRun.allocate(Arena.ofAuto(), centroids.length, CodeRun.strideOf(codec.middles().length));
        double mostLength = 0;
        double mostError = 0;
        double mostCodeLength = 0;
        for (int i = 0; i < centroids.length; i++) {
            byte[] codes = codec.encode(centroids[i]);
            ScalarCodec.Loss loss = codec.loss(centroids[i], codes);
            run.write(i, codes, term(metric, loss.length()));
            mostLength = Math.max(mostLength, metric == Metric.SQUARED_L2 ? loss.length() : norm(centroids[i]));
            mostError = Math.max(mostError, loss.error());
            mostCodeLength = Math.max(mostCodeLength, loss.codeLength());
        }
        this.length = mostLength;
        this.error = mostError;
        this.codeLength = mostCodeLength;
    }

    /** Of the centroid itself, not of its bytes: so their error tells in the product alone. */
    private static float term(Metric metric, double length) {
        return metric == Metric.SQUARED_L2 ? (float) Math.min(length * length, Float.MAX_VALUE) : 0;
    }

    private static double norm(float[] vector) {
        double squares = 0;
        for (float component : vector) {
            squares += (double) component * component;
        }
        return Math.sqrt(squares);
    }

    /**
     * For each query the centroids that may be among its {@code count} nearest, these among them; fewer than {@code count} only
     * where there are fewer.
     *
     * @param queries at most {@link CodeGroup#MAX_QUERIES}
     */
    int[][] candidates(float[][] queries, int count) {
        CodeGroup group = GROUP.get();
        group.begin(run.stride());
        Candidates[] candidates = new Candidates[queries.length];
        for (int i = 0; i < queries.length; i++) {
            ScalarCodec.Weights weights = codec.weights(queries[i]);
            group.add(weights.weights(), weights.sum(), weights.slope(), Float.POSITIVE_INFINITY);
            candidates[i] = new Candidates(count, 2 * mostOff(weights, queries[i].length));
        }
        for (int from = 0; from < run.count(); ) {
            int to = Math.min(run.count(), from + (from == 0 ? FIRST_ROWS : CodeGroup.MAX_ROWS));
            kernel.scan(run, from, to, group);
            for (int i = 0; i < candidates.length; i++) {
                candidates[i].take(group, i);
                group.lowerBound(i, candidates[i].bound);
            }
            from = to;
        }
        int[][] rows = new int[queries.length][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = candidates[i].rows();
        }
        return rows;
    }

    /** By how much a score may differ from the distance that it stands for, less what is the same for all centroids. */
    private double mostOff(ScalarCodec.Weights weights, int dimension) {
        double products = weights.length() * error + weights.error() * codeLength;
        double magnitude = (weights.length() + length) * (weights.length() + length);
        // Distances that overflow are ordered by ids alone.
        return magnitude < Float.MAX_VALUE
                ? 2 * products + ROUNDING * (dimension / 16.0 + 16) * magnitude
                : Double.POSITIVE_INFINITY;
    }

    /** The centroids that one query may want. */
    private static final class Candidates {
        private final int count;
        private final double margin;
        private final ScoredRows rows = new ScoredRows();
        private float bound = Float.POSITIVE_INFINITY;

        Candidates(int count, double margin) {
            this.count = count;
            this.margin = margin;
            rows.makeRoom(2 * FIRST_ROWS);
        }

        void take(CodeGroup group, int query) {
            int found = group.found(query);
            if (rows.size() + found > rows.room()) {
                rows.makeRoom(2 * (rows.size() + found));
            }
            rows.add(group, query, 0);
            // Where nothing is known all are candidates; the bound is infinite then.
            if (found > 0 && rows.size() >= count && margin < Double.POSITIVE_INFINITY) {
                bound = Math.min(bound, Math.nextUp((float) (rows.nthScore(count - 1) + margin)));
            }
        }

        int[] rows() {
            int[] within = new int[rows.size()];
            int kept = 0;
            for (int i = 0; i < within.length; i++) {
                within[kept] = (int) rows.place(i);
                kept += rows.score(i) <= bound ? 1 : 0;
            }
            return Arrays.copyOf(within, kept);
        }
    }
}
