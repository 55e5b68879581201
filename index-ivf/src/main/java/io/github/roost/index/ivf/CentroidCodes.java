package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScoredRows;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.ScalarQuantizer;
import io.github.roost.vector.memory.ScratchMemory;
import java.util.Arrays;

/**
 * Centroids as 8-bit codes. A scan of them finds the candidates for the nearest centroids in a fraction of the time of a scan
 * of floats; the candidates always include the nearest. Thread-safe.
 */
final class CentroidCodes {
    /** Rows of the first scan; few, so that later scans begin with a bound. A multiple of a tile. */
    private static final int FIRST_ROWS = 2 * CodeRun.TILE;

    private final ScanKernel kernel;
    private final Metric metric;
    private final ScalarCodec codec;
    private final CodeRun run;

    CentroidCodes(ScanKernel kernel, Metric metric, float[][] centroids) {
        this.kernel = kernel;
        float[][] sample = Arrays.stream(ScalarQuantizer.sample(centroids.length))
                .mapToObj(i -> centroids[i])
                .toArray(float[][]::new);
        this.metric = metric;
        this.codec = ScalarCodec.of(metric, ScalarQuantizer.of(sample), sample);
        int stride = CodeRun.strideOf(codec.quantizer().dimension());
        // Allocated by the first search that needs it, which must not fail if rows have used up the JVM's limit.
        this.run = new CodeRun(
                ScratchMemory.allocate(CodeRun.codeBytes(centroids.length, stride)),
                ScratchMemory.allocate(CodeRun.termBytes(centroids.length)),
                centroids.length,
                stride);
        for (int i = 0; i < centroids.length; i++) {
            codec.write(run, i, centroids[i], true);
        }
    }

    /**
     * Per query, a superset of its {@code count} nearest centroids; fewer than {@code count} only if there are fewer
     * centroids.
     *
     * @param queries at most {@link CodeGroup#MAX_QUERIES}
     */
    int[][] candidates(float[][] queries, int count) {
        Candidates[] candidates = new Candidates[queries.length];
        CodeGroup group = Scratch.CODE_GROUPS.take();
        try {
            scan(queries, count, candidates, group);
        } finally {
            Scratch.CODE_GROUPS.giveBack(group);
        }
        int[][] rows = new int[queries.length][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = candidates[i].rows();
        }
        return rows;
    }

    private void scan(float[][] queries, int count, Candidates[] candidates, CodeGroup group) {
        group.begin(metric, codec.quantizer().center());
        for (float[] query : queries) {
            group.add(query);
        }
        kernel.weigh(group);
        for (int i = 0; i < queries.length; i++) {
            ScoreMargin margin = codec.margin(group, i);
            candidates[i] = new Candidates(kernel, count, margin);
            group.lowerScores(i, margin.scoreError());
            group.bound(i, Float.POSITIVE_INFINITY);
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
    }

    /** The candidates of one query. */
    private static final class Candidates {
        private final ScanKernel kernel;
        private final int count;
        private final ScoreMargin margin;
        private final ScoredRows rows = new ScoredRows();
        private float bound = Float.POSITIVE_INFINITY;

        Candidates(ScanKernel kernel, int count, ScoreMargin margin) {
            this.kernel = kernel;
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
            if (found > 0 && rows.size() >= count && margin.tells()) {
                float farthest = margin.farthest(kernel.bound(rows, ScoreMargin.CERTAIN, count));
                bound = Math.min(bound, margin.within(farthest));
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
