package io.github.roost.index.ivf.kernel;

/** Compares every row of a run with every query of a group, in one pass. Thread-safe; a group belongs to one thread. */
public interface ScanKernel {
    /** What it runs on: an instruction set's name, or {@code java}. */
    String name();

    /**
     * Scans the run: offers each row to each query's reservoir. Every kernel sums in {@link RowRun#LANES} fused lanes folded by halves, so all of them give
     * bit-equal distances and ids.
     *
     * @throws IllegalArgumentException if run and group have different strides
     */
    void scan(RowRun run, QueryGroup group);

    /**
     * Scans some rows of codes: what it finds for each query replaces what the last scan found. Sums are whole numbers, so
     * every kernel gives bit-equal scores.
     *
     * @param from first row, a multiple of {@link CodeRun#TILE}
     * @param to end of the rows, exclusive; those of the run that follow may be asked of memory, for the next scan
     * @throws IllegalArgumentException if run and group have different strides, the rows are not all of the run, or more than
     *     {@link CodeGroup#MAX_ROWS}
     */
    void scan(CodeRun run, int from, int to, CodeGroup group);

    /** Whether a row of codes takes a fraction of the time that a row of floats takes. */
    boolean scansCodesFaster();

    /** Finds the distances of picked rows, those of {@link #scan(RowRun, QueryGroup)} to the bit, and their ids. */
    void compare(RowPicks picks);

    /**
     * The {@code wanted}-th smallest score among rows scoring above {@code certain}; infinity if there are fewer.
     *
     * @param rows whose scores are no NaN
     * @param certain NaN to count all rows
     * @param wanted at least 1
     */
    float bound(ScoredRows rows, float certain, int wanted);

    /** Keeps, in their order, the rows with scores up to a bound. */
    void keepUpTo(ScoredRows rows, float bound);

    /**
     * Finds which rows are nearest: {@code order} becomes the numbers of those with the least distances, by distance, ties in
     * the order of their numbers. These are the {@code wanted} nearest and all that tie with the last of them, and more where a
     * kernel has no way to leave out what is not wanted.
     *
     * @param distances of which the first {@code count} are numbers
     * @param wanted at least 1; as many as there are where it is more
     * @param order room for {@code count} numbers
     * @return how many numbers there are in {@code order}
     * @throws IllegalArgumentException if the arrays are smaller than {@code count} or nothing is wanted
     */
    int order(float[] distances, int count, int wanted, int[] order);
}
