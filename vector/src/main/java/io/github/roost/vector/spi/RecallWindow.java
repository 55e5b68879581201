package io.github.roost.vector.spi;

/**
 * The recalls of the latest {@value #SIZE} searches that were repeated exactly, and the confidence of their mean. The rows of one search are
 * found or missed together, so each search counts as one value, by whose variance the confidence is estimated. Not thread-safe.
 */
final class RecallWindow {
    static final int SIZE = 200;
    /** With fewer searches nothing is decided. */
    static final int LEAST = 20;
    /** Standard deviations of a 95 % confidence interval. */
    private static final double DEVIATIONS = 1.96;

    private final double[] recalls = new double[SIZE];
    private final int[] neighbors = new int[SIZE];
    private int next;
    private int size;

    /**
     * Adds a search.
     *
     * @param recall its recall, from 0 to 1
     * @param k the rows it asked for
     */
    void add(double recall, int k) {
        recalls[next] = recall;
        neighbors[next] = k;
        next = (next + 1) % SIZE;
        size = Math.min(SIZE, size + 1);
    }

    void clear() {
        next = 0;
        size = 0;
    }

    int size() {
        return size;
    }

    double mean() {
        double sum = 0;
        for (int i = 0; i < size; i++) {
            sum += recalls[i];
        }
        return sum / size;
    }

    double meanNeighbors() {
        double sum = 0;
        for (int i = 0; i < size; i++) {
            sum += neighbors[i];
        }
        return sum / size;
    }

    /** The lower end of the confidence interval. */
    double low() {
        return Math.max(0, end(0, -DEVIATIONS));
    }

    /** The upper end of the confidence interval. */
    double high() {
        return Math.min(1, end(1, DEVIATIONS));
    }

    /**
     * An end of the interval, as if one more search had found none of its rows, or all. Without it, searches that all happen to have the same
     * recall would be certain; with it, n searches of recall 1 give a lower end of about 1 - 3/n, as the rule of three does.
     */
    private double end(double another, double deviations) {
        double mean = (mean() * size + another) / (size + 1);
        double squares = (another - mean) * (another - mean);
        for (int i = 0; i < size; i++) {
            squares += (recalls[i] - mean) * (recalls[i] - mean);
        }
        return mean + deviations * Math.sqrt(squares / size / (size + 1));
    }
}
