package io.github.roost.vector.math;

import io.github.roost.vector.Metric;
import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * Measures on a sample of rows what the codes of a {@link ScalarQuantizer} lose: which share of the nearest rows is nearest by
 * codes too. Deterministic. Stateless.
 */
public final class CodeRecall {
    /** From this recall on, codes are worth their loss: a search reranks more rows than it returns. */
    public static final double ENOUGH = .95;

    /** Queries of a sample by which codes are chosen for a table. */
    public static final int QUERIES = 32;
    /** Queries that notice in some milliseconds that codes cannot tell rows apart. */
    public static final int FEW_QUERIES = 2;

    private static final int K = 10;
    private static final int ROWS_PER_QUERY = 256;
    /** Max components of the compared rows: bounds the memory to 20 MiB, and the time to some tenths of a second. */
    private static final int COMPONENTS = 1 << 22;

    private CodeRecall() {}

    /**
     * Returns the recall of the codes' order: rows of the table are queries, and a scan of other rows by codes is compared with a scan of
     * the decoded values' originals. A row as near as the last true neighbor counts as a hit, so equal rows lose nothing.
     *
     * @param metric the metric; under cosine the rows are of length 1
     * @param quantizer the quantizer
     * @param rows returns a row by its number; finite values
     * @param count the number of rows, at least 1; of more than 8,192, or than 4,194,304 components, evenly spaced ones are compared
     * @return from 0 to 1
     */
    public static double of(Metric metric, ScalarQuantizer quantizer, IntFunction<float[]> rows, int count) {
        return of(metric, quantizer, rows, count, QUERIES, () -> {});
    }

    /**
     * As {@link #of(Metric, ScalarQuantizer, IntFunction, int)}, with pauses, and with fewer queries and rows in proportion.
     *
     * @param metric the metric; under cosine the rows are of length 1
     * @param quantizer the quantizer
     * @param rows returns a row by its number; finite values
     * @param count the number of rows, at least 1
     * @param maxQueries max number of queries, from 1; each for 256 rows that are compared
     * @param betweenRows runs about once per microsecond
     * @return from 0 to 1
     */
    public static double of(
            Metric metric,
            ScalarQuantizer quantizer,
            IntFunction<float[]> rows,
            int count,
            int maxQueries,
            Runnable betweenRows) {
        int size =
                Math.min(count, Math.min(ROWS_PER_QUERY * maxQueries, Math.max(1, COMPONENTS / quantizer.dimension())));
        boolean innerProduct = metric != Metric.SQUARED_L2;
        Coded[] coded = new Coded[size];
        for (int i = 0; i < size; i++) {
            betweenRows.run();
            coded[i] = Coded.of(quantizer, innerProduct, rows.apply((int) ((long) i * count / size)));
        }
        int queries = Math.min(maxQueries, size);
        int k = Math.min(K, size - 1);
        long hits = 0;
        for (int i = 0; i < queries && k > 0; i++) {
            hits += hits(quantizer.center(), innerProduct, coded, (int) ((long) i * size / queries), k, betweenRows);
        }
        return k == 0 ? 1 : (double) hits / ((long) queries * k);
    }

    private static int hits(
            float[] center, boolean innerProduct, Coded[] rows, int query, int k, Runnable betweenRows) {
        float[] vector = rows[query].row();
        QueryWeights.Fine weights = QueryWeights.fine(center, innerProduct, vector);
        double[] distances = new double[rows.length];
        double[] scores = new double[rows.length];
        for (int i = 0; i < rows.length; i++) {
            betweenRows.run();
            // The query finds itself, which no other query does.
            distances[i] = i == query ? Double.POSITIVE_INFINITY : distance(innerProduct, vector, rows[i].row());
            scores[i] = i == query ? Double.POSITIVE_INFINITY : rows[i].score(weights);
        }
        double reach = smallest(distances, k);
        double best = smallest(scores, k);
        int hits = 0;
        for (int i = 0; i < rows.length && hits < k; i++) {
            hits += scores[i] <= best && distances[i] <= reach ? 1 : 0;
        }
        return hits;
    }

    /** The k-th smallest value. */
    private static double smallest(double[] values, int k) {
        double[] least = Arrays.copyOf(values, k);
        Arrays.sort(least);
        for (int i = k; i < values.length; i++) {
            int at = k - 1;
            if (values[i] < least[at]) {
                for (; at > 0 && least[at - 1] > values[i]; at--) {
                    least[at] = least[at - 1];
                }
                least[at] = values[i];
            }
        }
        return least[k - 1];
    }

    private static double distance(boolean innerProduct, float[] query, float[] row) {
        double sum = 0;
        for (int d = 0; d < query.length; d++) {
            double difference = (double) query[d] - row[d];
            sum += innerProduct ? -(double) query[d] * row[d] : difference * difference;
        }
        return sum;
    }

    private record Coded(float[] row, byte[] codes, float scale, float term) {
        static Coded of(ScalarQuantizer quantizer, boolean innerProduct, float[] row) {
            byte[] codes = new byte[row.length];
            float scale = quantizer.encode(row, codes);
            return new Coded(row.clone(), codes, scale, quantizer.term(innerProduct, codes, scale));
        }

        double score(QueryWeights.Fine weights) {
            return term + (double) weights.slope() * scale * weights.sum(codes);
        }
    }
}
