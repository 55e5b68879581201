package io.github.roost.vector;

import io.github.roost.core.Registration;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.TableClosedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A table of vectors placed by an orchestrator: each row has an external id and a vector. All indexes are searched, changed, saved, measured and
 * closed through this interface, and throw the same exceptions:
 *
 * <ul>
 *   <li>{@link IllegalArgumentException}, thrown: an argument is invalid; nothing has begun or changed.
 *   <li>{@link NullPointerException}, thrown: an argument is null; nothing has begun or changed.
 *   <li>{@link TableClosedException}, thrown: the table is closed. A merge or rebuild under way when it is closed fails with it.
 *   <li>{@link io.github.roost.core.OrchestratorClosedException}, thrown by searches, measurements, changes and builds: the orchestrator is
 *       closed; nothing has begun or changed. Searches and builds that were accepted before but could not be finished fail with it.
 *   <li>{@link io.github.roost.core.RejectedSearchException}, thrown: queues are full. {@link #searchAll} fails the future of the refused
 *       search instead, since other searches have begun.
 *   <li>{@link io.github.roost.vector.TableFullException}, thrown: the table's {@linkplain #memoryLimit memory limit}, or the index's own room
 *       for changes, is used up.
 *   <li>{@link io.github.roost.core.DeadlineExceededException}, in the future: the deadline passed.
 *   <li>{@link UnsupportedOperationException}, thrown: this index does not support the operation, see {@link #isMutable}.
 * </ul>
 *
 * <p>A search with a {@linkplain SearchRequest#targetRecall target recall} whose effort is still to be measured is submitted later: what is said
 * above to be thrown because the table or orchestrator is closed or queues are full is then in the future.
 *
 * <p>Thread-safe. Searches are asynchronous; their futures may be waited for inside another search too.
 */
public interface VectorTable extends AutoCloseable {
    /** The {@link #memoryLimit()} of a table without a limit. */
    long NO_MEMORY_LIMIT = Long.MAX_VALUE;

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
     * @param query a finite vector of the table's dimension; must not be changed before the search is done
     * @param k the maximum number of rows, from 1 to 10,000
     * @return completes with the nearest rows found
     */
    CompletableFuture<Neighbors> search(float[] query, int k);

    /**
     * Submits a search.
     *
     * @param query a finite vector of the table's dimension; must not be changed before the search is done
     * @param k the maximum number of rows, from 1 to 10,000
     * @param effort ef of a graph, nprobe of an inverted file; see {@link SearchRequest#effort}
     * @return completes with the nearest rows found
     */
    CompletableFuture<Neighbors> search(float[] query, int k, int effort);

    /**
     * Returns a search function with the results of {@link #search(float[], int, int)}. It is submitted under an id of {@link #registration()},
     * alone or in a fan-out, or called in a thread that is not a worker, with a {@link io.github.roost.core.SearchContext#outside} context.
     *
     * @param k the maximum number of rows, from 1 to 10,000
     * @param effort ef of a graph, nprobe of an inverted file
     * @return the search function; it throws the exceptions of a search of this table
     */
    SearchFunction<float[], Neighbors> searchFunction(int k, int effort);

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

    /** {@return whether rows can be added and removed; if not, {@link #put} and {@link #remove} throw UnsupportedOperationException} */
    boolean isMutable();

    /**
     * Inserts a row, or replaces the row with the same id. Searches that begin after this returns see the new row and not the old one.
     *
     * @param id the external id, any value
     * @param vector a finite vector of the table's dimension, not zero for cosine; copied
     * @return whether the id is new to the table
     * @throws io.github.roost.vector.TableFullException if the memory limit leaves no room for the row; nothing has changed
     */
    boolean put(long id, float[] vector);

    /**
     * Removes a row. Searches that begin after this returns do not find it.
     *
     * @param id external id
     * @return whether there was a row with this id
     */
    boolean remove(long id);

    /**
     * Returns the vector of a row as the table stores it: normalised to length 1 for cosine, and decoded if the table keeps only codes.
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

    /**
     * Limits the off-heap memory of the rows, as counted by {@link #bytes}. A change that would exceed the limit is refused; changes that need no
     * more memory still succeed. Scratch memory of searches does not count, and memory already used stays allocated. While a build or merge runs,
     * it takes up to the same amount in addition.
     *
     * @param bytes the limit, at least 1; no limit by default
     * @throws UnsupportedOperationException if the rows are in remote memory, where the size of the cache is the bound
     */
    default void memoryLimit(long bytes) {
        throw new UnsupportedOperationException("table " + name() + " does not keep its rows in memory");
    }

    /** {@return the limit set by {@link #memoryLimit(long)}; {@link #NO_MEMORY_LIMIT} if there is none} */
    default long memoryLimit() {
        return NO_MEMORY_LIMIT;
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
