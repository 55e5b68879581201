package io.github.roost.vector;

import io.github.roost.core.Registration;
import io.github.roost.core.TableClosedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A table of vectors placed by an orchestrator: each row has an external id and a vector. All indexes are searched, saved, measured and closed
 * through this interface, those whose rows can be changed through {@link MutableVectorTable}, and throw the same exceptions:
 *
 * <ul>
 *   <li>{@link IllegalArgumentException}, thrown: an argument is invalid; nothing has begun or changed.
 *   <li>{@link NullPointerException}, thrown: an argument is null; nothing has begun or changed.
 *   <li>{@link TableClosedException}, thrown: the table is closed. A merge or rebuild under way when it is closed fails with it.
 *   <li>{@link io.github.roost.core.OrchestratorClosedException}, thrown by searches, measurements, changes and builds: the orchestrator is
 *       closed; nothing has begun or changed. Searches and builds that were accepted before but could not be finished fail with it.
 *   <li>{@link io.github.roost.core.RejectedSearchException}, thrown: queues are full. {@link #searchAll} fails the future of the refused
 *       search instead, since other searches have begun.
 *   <li>{@link io.github.roost.vector.TableFullException}, thrown: the table's {@linkplain MemoryLimited memory limit}, or the index's own room
 *       for changes, is used up.
 *   <li>{@link io.github.roost.core.DeadlineExceededException}, in the future: the deadline passed.
 * </ul>
 *
 * <p>A search with a {@linkplain SearchRequest#targetRecall target recall} whose effort is still to be measured is submitted later: what is said
 * above to be thrown because the table or orchestrator is closed or queues are full is then in the future.
 *
 * <p>Thread-safe. Searches are asynchronous; their futures may be waited for inside another search too.
 */
public interface VectorTable extends AutoCloseable {
    /**
     * Submits one search. Cancelling the future cancels the search; cancelling a future derived from it ({@code thenApply}) does not.
     *
     * @param request the query and options; query and effort are checked against the table
     * @return completes with the nearest rows found and the cost of the search
     */
    CompletableFuture<SearchResult> search(SearchRequest request);

    /**
     * Submits several searches together. An index may batch searches that read the same memory.
     *
     * @param requests the searches; all are checked before one begins
     * @return one future per request, in the same order; each completes by itself
     */
    List<CompletableFuture<SearchResult>> searchAll(List<SearchRequest> requests);

    /**
     * Submits a search with the table's default effort.
     *
     * @param query a finite vector of the table's dimension; copied
     * @param k the maximum number of rows, from 1 to 10,000
     * @return as {@link #search(SearchRequest)}
     */
    default CompletableFuture<SearchResult> search(float[] query, int k) {
        return search(SearchRequest.of(query, k));
    }

    /**
     * Submits a search.
     *
     * @param query a finite vector of the table's dimension; copied
     * @param k the maximum number of rows, from 1 to 10,000
     * @param effort ef of a graph, nprobe of an inverted file; see {@link SearchRequest#effort}
     * @return as {@link #search(SearchRequest)}
     */
    default CompletableFuture<SearchResult> search(float[] query, int k, int effort) {
        return search(SearchRequest.of(query, k).effort(effort));
    }

    /**
     * Measures the smallest effort, to within 5 %, whose searches reach a recall on average. Runs the sample queries on the workers as batch work.
     * Blocks.
     *
     * @param recall the target recall, over 0, at most 1
     * @param k the number of rows of a search, from 1 to 10,000
     * @param sample typical queries, at least one; a few hundred measure the recall to about .01
     * @return a valid effort of the table; the largest if none reaches the recall
     */
    int effortFor(double recall, int k, float[][] sample);

    /**
     * Returns the smallest valid effort of a search.
     *
     * @param k the number of rows, from 1 to 10,000
     * @return k for a graph, 1 for an inverted file
     */
    int minEffort(int k);

    /** {@return the largest valid effort of a search: 100,000 for a graph, the number of lists of an inverted file} */
    int maxEffort();

    /**
     * Returns the vector of a row as the table stores it: normalized to length 1 for cosine, and decoded if the table keeps only codes.
     *
     * @param id external id
     * @return a copy, or null if there is no row with this id
     */
    float @Nullable [] vector(long id);

    /**
     * Writes the table to a file, and replaces an existing file atomically: after a crash the old or the new file is there, whole.
     *
     * @param file the file to write or replace
     * @throws IOException if the file cannot be written; the old file is unchanged, unless only the last sync failed
     */
    void save(Path file) throws IOException;

    /**
     * Reads all parts of the table's file that have not been verified yet, and compares them with their checksums. Does nothing for a table that
     * was built in this process, or whose file was verified when it was opened. Blocks the caller but not searches.
     *
     * @throws IOException if the file cannot be read, or is damaged; the message names the place of the damage
     */
    default void verify() throws IOException {
        if (!registration().isOpen()) {
            throw new TableClosedException(name());
        }
    }

    /** {@return the table's name in reports} */
    String name();

    /** {@return the number of rows} */
    int size();

    /** {@return the number of components of a vector} */
    int dimension();

    /** {@return the metric of the table's distances} */
    Metric metric();

    /** {@return the type of the components that searches read} */
    ElementType elementType();

    /** {@return the table's off-heap memory in bytes} */
    default long bytes() {
        return stats().bytes();
    }

    /** {@return a snapshot of the table's statistics} */
    TableStats stats();

    /** {@return the table's mapping ids, which give access to its homes and traffic} */
    Registration registration();

    /**
     * Closes the table and frees its memory: later searches and changes are refused; accepted ones finish, and this call waits for them for up to
     * 30 seconds. A merge or rebuild under way is cancelled, unless an accepted change waits for it. After this call returns no thread reads the
     * table's memory or file. If called inside a search, or if accepted searches take longer, it returns earlier, and the memory is freed when the
     * last search has ended. A second call waits for the first.
     */
    @Override
    void close();
}
