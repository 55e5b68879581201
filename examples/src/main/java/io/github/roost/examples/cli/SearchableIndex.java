package io.github.roost.examples.cli;

import io.github.roost.bench.ExactSearch;
import io.github.roost.core.Neighbors;
import java.util.concurrent.CompletableFuture;

/** A built index as {@code search} asks it. Thread-safe. */
interface SearchableIndex extends AutoCloseable {
    /**
     * Starts one search.
     *
     * @param width how much of the index to look at (HNSW: ef; IVF: lists), from 1 to {@link #widest()}
     */
    CompletableFuture<Neighbors> search(float[] query, int k, int width);

    /** The width that the command line asks for. */
    int width();

    /** The width at which the whole index is looked at. */
    int widest();

    @Override
    void close();

    /**
     * Starts a search that always finds k neighbours: it widens while it finds fewer, where too few lists were probed, and
     * ends in an exact search where even the widest does not reach enough, as in a graph of mostly equal vectors.
     */
    default CompletableFuture<Neighbors> searchFully(float[] query, int k, ExactSearch exact) {
        return searchFully(query, k, width(), exact);
    }

    private CompletableFuture<Neighbors> searchFully(float[] query, int k, int width, ExactSearch exact) {
        return search(query, k, width).thenCompose(found -> {
            if (found.size() == k) {
                return CompletableFuture.completedFuture(found);
            }
            return width < widest()
                    ? searchFully(query, k, (int) Math.min(widest(), 2L * width), exact)
                    : CompletableFuture.completedFuture(exact.search(query, k));
        });
    }
}
