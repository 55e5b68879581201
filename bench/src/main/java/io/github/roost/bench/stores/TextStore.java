package io.github.roost.bench.stores;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;

/** A store that a Java program embeds. Thread-safe for searches beside one adding thread. */
interface TextStore extends AutoCloseable {
    /** The number of hits of a search. */
    int K = 10;

    /** Adds texts; returns when they can be found, and, if the store is durable, a killed process has not lost them. */
    void add(List<StoredText> texts) throws Exception;

    /**
     * Finds the {@link #K} nearest texts, and reads them with their metadata.
     *
     * @param query number of the query, which decides the value that the condition asks for
     * @param effort one of {@link #efforts()}
     * @return their numbers
     */
    int[] search(float[] vector, int query, Condition condition, int effort) throws Exception;

    /** Efforts, the store's default first, 0 if it has no number; one if the store has no choice, since it compares all. */
    default List<Integer> efforts() {
        return List.of(0);
    }

    /** The number of texts. */
    int size() throws Exception;

    /** Closes the store so that it can be opened again. */
    @Override
    void close() throws IOException, SQLException;
}
