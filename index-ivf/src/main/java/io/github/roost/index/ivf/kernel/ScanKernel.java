package io.github.roost.index.ivf.kernel;

/** Offers every row of a run to every query of a group, in one pass. Thread-safe; a group belongs to one thread. */
public interface ScanKernel {
    /** What it runs on: an instruction set's name, or {@code java}. */
    String name();

    /**
     * Scans the run. Every kernel sums in {@link RowRun#LANES} fused lanes folded by halves, so all of them give
     * bit-equal distances and ids.
     *
     * @throws IllegalArgumentException if run and group have different strides
     */
    void scan(RowRun run, QueryGroup group);
}
