package io.github.roost.index.disk;

/** How a search of a table on disk waits for its reads. */
public enum ReadMode {
    /** Reads some pages and waits for all of them (Subramanya et al., "DiskANN", NeurIPS 2019): fewest pages per search. */
    BEAM,
    /**
     * Keeps reads in flight while it processes completed ones, first few and then more (Guo and Lu, "Achieving Low-Latency Graph-Based Vector
     * Search", OSDI 2025): some more pages per search, at lower latency.
     */
    PIPELINED
}
