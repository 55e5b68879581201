package io.github.roost.bench.rivals;

/**
 * What all engines are built and searched with, as far as it applies to them.
 *
 * @param m neighbors per node of a graph, twice as many in layer 0
 * @param efConstruction ef of a graph's build
 * @param nlist number of lists of an IVF index
 * @param threads search threads, 1 or 2
 * @param alone whether there is only one search at a time, which may use all threads; otherwise an engine gets many queries at once
 */
public record EngineSettings(int m, int efConstruction, int nlist, int threads, boolean alone) {
    /** A graph that is searched on as many threads as it is built with. */
    public static EngineSettings graph(int m, int efConstruction) {
        return new EngineSettings(m, efConstruction, 1, Engine.THREADS, false);
    }

    /** Number of threads that search if each search runs on one thread. */
    int searchThreads() {
        return alone ? 1 : threads;
    }
}
