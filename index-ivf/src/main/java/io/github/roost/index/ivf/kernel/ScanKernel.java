package io.github.roost.index.ivf.kernel;

/** Compares every row of a run with every query of a group, in one pass. Thread-safe; a group belongs to one thread. */
public interface ScanKernel {
    /** The kernel's name: its instruction set, {@code portable} or {@code java}. */
    String name();

    /**
     * Scans the run: offers each row to each query's reservoir. Every kernel sums in {@link RowRun#LANES} fused lanes folded by
     * halves, so all kernels give bit-equal distances and ids.
     *
     * @throws IllegalArgumentException if run and group have different strides
     */
    void scan(RowRun run, QueryGroup group);

    /**
     * Computes the weights of a group's queries for a scan of codes. Every kernel takes the same steps, so all kernels give bit-equal
     * weights.
     */
    void weigh(CodeGroup group);

    /**
     * Scans some rows of codes; the rows found replace those of the last scan. Sums are integers, so all kernels give
     * bit-equal scores.
     *
     * @param from first row, a multiple of {@link CodeRun#TILE}
     * @param to end of the rows, exclusive; the following rows of the run may be prefetched for the next scan
     * @throws IllegalArgumentException if run and group have different strides, the rows are not in the run, or more than
     *     {@link CodeGroup#MAX_ROWS}
     */
    void scan(CodeRun run, int from, int to, CodeGroup group);

    /** Whether scanning a row of codes takes a fraction of the time of a row of floats. */
    boolean scansCodesFaster();

    /** Computes the distances of picked rows, bit-equal to {@link #scan(RowRun, QueryGroup)}, and their ids. */
    void compare(RowPicks picks);

    /**
     * The {@code wanted}-th smallest score among rows scoring above {@code certain}; infinity if there are fewer.
     *
     * @param rows rows whose scores are not NaN
     * @param certain NaN to count all rows
     * @param wanted at least 1
     */
    float bound(ScoredRows rows, float certain, int wanted);

    /** Keeps, in their order, the rows with scores up to a bound. */
    void keepUpTo(ScoredRows rows, float bound);

    /**
     * Writes the numbers of the nearest rows to {@code order}, by distance, ties in row order: the {@code wanted} nearest and
     * all rows that tie with the last of them; more if a kernel cannot leave out unwanted rows.
     *
     * @param distances of which the first {@code count} are not NaN
     * @param wanted at least 1; capped at {@code count}
     * @param order room for {@code count} numbers
     * @return how many numbers were written
     * @throws IllegalArgumentException if the arrays are smaller than {@code count} or nothing is wanted
     */
    int order(float[] distances, int count, int wanted, int[] order);
}
