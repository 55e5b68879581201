package io.github.roost.core.vector;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.SearchFunction;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A table of vectors that an orchestrator places: each row has an external id and a vector. All indexes are searched, changed,
 * saved, measured and closed through this interface, and refuse in one way:
 *
 * <ul>
 *   <li>{@link IllegalArgumentException}, thrown: an argument is invalid; nothing has begun or changed.
 *   <li>{@link NullPointerException}, thrown: an argument is null; nothing has begun or changed.
 *   <li>{@link io.github.roost.core.task.TableClosedException}, thrown: the table is closed.
 *   <li>{@link io.github.roost.core.task.OrchestratorClosedException}, thrown: the orchestrator is closed, of searches and changes. Searches that were
 *       accepted before and could not be finished fail with it.
 *   <li>{@link io.github.roost.core.task.RejectedSearchException}, thrown: there is no room now. Of {@link #searchAll} in the
 *       future of the search that was refused, since others have begun.
 *   <li>{@link io.github.roost.core.task.TableFullException}, thrown: the table's {@linkplain #memoryLimit memory limit}, or what an
 *       index has for changes, leaves no room for them.
 *   <li>{@link io.github.roost.core.task.DeadlineExceededException}, in the future: the deadline passed.
 *   <li>{@link UnsupportedOperationException}, thrown: this index cannot do that, see {@link #isMutable}.
 * </ul>
 *
 * <p>Thread-safe. Searches return at once and may be waited for also inside another search.
 */
public interface VectorTable extends AutoCloseable {
    /**
     * Submits one search. Cancelling the future ends the search; cancelling one that is derived of it ({@code thenApply})
     * does not.
     *
     * @param request what to find; query and effort are checked against the table
     * @return completes with the nearest rows found and what they cost
     */
    CompletableFuture<SearchResult> search(SearchRequest request);

    /**
     * Submits several searches together. An index may serve together those that read the same memory.
     *
     * @param requests all are checked before one begins
     * @return the answers in the order of the requests, each complete on its own
     */
    List<CompletableFuture<SearchResult>> searchAll(List<SearchRequest> requests);

    /**
     * Submits a search with the table's default effort.
     *
     * @param query of the table's dimension, finite; not to be changed before the search is done
     * @param k how many rows at most, from 1 to 10,000
     * @return completes with the nearest rows found
     */
    CompletableFuture<Neighbors> search(float[] query, int k);

    /**
     * Submits a search.
     *
     * @param query of the table's dimension, finite; not to be changed before the search is done
     * @param k how many rows at most, from 1 to 10,000
     * @param effort ef of a graph, nprobe of an inverted file; see {@link SearchRequest#effort}
     * @return completes with the nearest rows found
     */
    CompletableFuture<Neighbors> search(float[] query, int k, int effort);

    /**
     * A search in one piece, to be submitted under an id of {@link #registration()}, alone or in a fan-out, or run by a thread
     * that is no worker with a {@link io.github.roost.core.task.SearchContext#outside} context. It finds what {@link
     * #search(float[], int, int)} finds.
     *
     * @param k how many rows at most, from 1 to 10,000
     * @param effort ef of a graph, nprobe of an inverted file
     * @return what to run; it fails as a search of this table does
     */
    SearchFunction<float[], Neighbors> searchFunction(int k, int effort);

    /**
     * The smallest effort, nearly, whose searches find this share of the true neighbours on average, measured with sample
     * queries on the workers, as batch work. Blocks.
     *
     * @param recall over 0, at most 1
     * @param k how many rows, from 1 to 10,000
     * @param sample typical queries, at least one; some hundred give the recall to about a hundredth
     * @return an effort that the table takes; its largest where none reaches the recall
     */
    int effortFor(double recall, int k, float[][] sample);

    /** {@return whether rows can be added and removed; where not, {@link #put} and {@link #remove} are refused} */
    boolean isMutable();

    /**
     * Inserts a row, or replaces the row of the same id. Searches that begin after this returns find the new row and not the
     * old one.
     *
     * @param id any
     * @param vector of the table's dimension, finite, not zero for cosine; copied
     * @return whether there was no row of this id
     * @throws io.github.roost.core.task.TableFullException if there is no room for it within the memory limit; nothing has changed
     */
    boolean put(long id, float[] vector);

    /**
     * Removes a row. Searches that begin after this returns do not find it.
     *
     * @param id external id
     * @return whether there was one
     */
    boolean remove(long id);

    /**
     * The vector of a row, as the table stores it: scaled to length 1 for cosine, and decoded in tables that keep only codes.
     *
     * @param id external id
     * @return a copy, or null if there is no row of this id
     */
    float @Nullable [] vector(long id);

    /**
     * Writes the table to a file, replacing one of that name: whatever happens meanwhile, the old file or the new one is
     * there, whole.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    void save(Path file) throws IOException;

    /**
     * Reads all parts of the table's file that have not been checked yet, and compares them with their checksums. Does nothing for
     * a table that was built here, or whose file was checked whole when it was opened. Blocks; searches
     * go on.
     *
     * @throws IOException if the file cannot be read, or is damaged: then the message names the place
     */
    default void verify() throws IOException {}

    /** {@return the table's name, as it shows in reports} */
    String name();

    /** {@return the number of rows} */
    int size();

    /** {@return the number of components of a vector} */
    int dimension();

    /** {@return how distances are measured} */
    Metric metric();

    /** {@return how searches read a component} */
    ElementType elementType();

    /** {@return the table's memory outside the Java heap, in bytes} */
    default long bytes() {
        return stats().bytes();
    }

    /**
     * Limits what the rows may take outside the Java heap, as {@link #bytes} counts it. A change that would need more is refused;
     * changes that need no more memory still succeed, and so do searches, whose scratch memory does not count. What the rows take already
     * stays. Beside them a build or merge takes up to as much again while it lasts.
     *
     * @param bytes at least 1; no limit at first
     * @throws UnsupportedOperationException if the rows are not in memory: then the index has limits of its own
     */
    default void memoryLimit(long bytes) {
        MemoryLimit.require(bytes);
        throw new UnsupportedOperationException("table " + name() + " does not keep its rows in memory");
    }

    /** {@return what {@link #memoryLimit(long)} has set; {@link MemoryLimit#NONE} where there is no limit} */
    default long memoryLimit() {
        return MemoryLimit.NONE;
    }

    /** {@return the table at this moment} */
    TableStats stats();

    /** {@return the table's mapping ids, by which its homes and traffic are found} */
    Registration registration();

    /**
     * Closes the table and frees its memory: later searches and changes are refused; accepted ones finish, and this call
     * waits for them. When it has returned no thread reads the table's memory or its file. Inside a search it returns at once, and
     * the memory is freed when the last search has ended. A second call waits for the first.
     */
    @Override
    void close();
}
