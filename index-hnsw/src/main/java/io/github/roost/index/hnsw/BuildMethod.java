package io.github.roost.index.hnsw;

/** The builder of a table's graph. Both build the same kind of graph, which is saved, opened and searched in the same way. */
public enum BuildMethod {
    /**
     * Insertion in C, one node at a time per worker (Malkov and Yashunin, IEEE TPAMI 42(4), 2020, algorithm 1
     * with the heuristic of algorithm 4). Deterministic on one worker. If no native library can be
     * loaded, {@link #JVECTOR} is used instead.
     */
    NATIVE,
    /**
     * jvector's builder, in Java: several times slower, and keeps the whole table on the Java heap during the build. It is in the artifact
     * {@code roost-index-jvector}; without it a build fails with an {@link IllegalStateException}.
     */
    JVECTOR
}
