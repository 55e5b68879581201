package io.github.roost.index.hnsw;

/** What builds the graph of a table. Either gives the same kind of graph, which is saved, opened and searched alike. */
public enum BuildMethod {
    /**
     * Nodes are inserted in C, one after the other on each worker (Malkov and Yashunin, IEEE TPAMI 42(4), 2020, algorithm 1
     * with the heuristic of algorithm 4). On one worker the same rows give the same graph. Where no native library can be
     * loaded, {@link #JVECTOR} serves.
     */
    NATIVE,
    /** jvector's builder, in Java: several times slower, with the whole table on the Java heap while it builds. */
    JVECTOR
}
