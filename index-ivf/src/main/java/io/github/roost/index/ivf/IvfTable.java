package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableFileException;
import io.github.roost.core.TableMemory;
import io.github.roost.core.Vectors;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.Step;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.topology.DomainMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * An inverted file (Sivic and Zisserman, 2003): rows in lists by their nearest centroid, of which a query probes the
 * nearest few. Lists are of floats, halves or bytes ({@link ElementType}). Those of floats keep bytes beside them, which
 * prove of most rows that they are not among the nearest, so that few floats are read. Each list is a mapping id of its own,
 * so the orchestrator places lists, not tables.
 *
 * <p>Where workers are free a query has parts that scan several of its lists each. Elsewhere it joins the batch queue of each
 * list it probes: a list is scanned, on a worker of its home domain, once for all queries that wait for it. Whoever finishes a
 * query's last list merges its answer. Deadline, cancellation, priority, overload and failure are those of each query alone.
 *
 * <p>Rows may be added, removed and changed while the table is searched; a search that starts after such a call has
 * returned sees what it did. Rows that are added a few at a time wait, in a buffer that every search scans beside its
 * lists, for batch work to find out their list. A list with many removed rows is compacted as batch work; {@link
 * #rebuild} trains anew when {@link #imbalance} has grown.
 *
 * <p>On a machine of several NUMA nodes the memory of each list follows the list's home ({@link TableMemory}), unless it is
 * mapped from a file; the last block of a list that grows lies where it was written from until the next one is begun.
 *
 * <p>Thread-safe. Searches return at once, and may be waited for also inside another search.
 */
public final class IvfTable implements AutoCloseable {
    /**
     * System property that names the kernel of tables built or opened from then on, one of those that {@link #kernel} gives;
     * the fastest where it is not set. A name that this machine has no kernel for is refused by build and open.
     */
    public static final String KERNEL_PROPERTY = ScanKernels.PROPERTY;

    /** Most candidates beyond k that are compared again, as a multiple of the root of k. */
    static final double MOST_RERANK = 100;

    /** Queries of a batch that are posted before any list is queued; so few that workers do not wait for them long. */
    private static final int MOST_TOGETHER = 64;
    /** Scans after the first of a search that lacks rows: more than one is needed only while rows keep coming or moving. */
    private static final int TIMES_AGAIN = 8;

    /** What is passed on from scan to scan of a search: each knows its own query. */
    private static final Object SEARCH = new Object();
    /** The answer where no list can be probed: only where every distance to a centroid overflows to no number. */
    private static final CompletableFuture<Neighbors> NOTHING_PROBED =
            CompletableFuture.completedFuture(Neighbors.EMPTY);

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final ListSearch scans;
    private final RowPreparation preparation;
    private final IvfRows rows;
    private final Training training;
    private final ListScanner scanner;
    private final ListScanner scannerOfCodedFloats;
    private final int nprobe;
    private final double rerank;
    private final TableMemory memory;
    /** The rebuild under way, or the last one; guarded by {@link #training}. */
    private CompletableFuture<Void> rebuild = CompletableFuture.completedFuture(null);

    private IvfTable(
            Orchestrator orchestrator,
            Registration registration,
            RowPreparation preparation,
            Training training,
            IvfRows rows,
            int nprobe,
            double rerank,
            TableMemory.Mover mover) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.scans = new ListSearch(orchestrator, registration, rows::size);
        this.preparation = preparation;
        this.training = training;
        this.rows = rows;
        this.nprobe = nprobe;
        this.rerank = rerank;
        ScanKernel kernel = training.kernel();
        this.scanner = switch (training.element()) {
            case FLOAT32 -> new FloatScanner(kernel, metric(), dimension(), Float.BYTES);
            case FLOAT16 -> new FloatScanner(kernel, metric(), dimension(), Short.BYTES);
            case INT8 -> CodeScanner.approximate(kernel, metric(), dimension(), rerank);
        };
        this.scannerOfCodedFloats = training.element() == ElementType.FLOAT32 && kernel.scansCodesFaster()
                ? CodeScanner.exact(kernel, metric(), dimension())
                : scanner;
        this.memory = TableMemory.keepAtHome(orchestrator, registration, rows::memory, mover);
        rows.onGrowth(memory::isNew);
    }

    /** A rebuild may make codes of lists that had none. */
    private ListScanner scanner(Lists lists) {
        return lists.layout().codes() ? scannerOfCodedFloats : scanner;
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * {@link #search(float[], int, int)} with the table's own nprobe.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @return completes with at most k neighbours, nearest first
     */
    public CompletableFuture<Neighbors> search(float[] query, int k) {
        return search(query, k, nprobe);
    }

    /**
     * The nearest rows among those of the nearest lists. Copies the query.
     *
     * @param query {@link #dimension()} finite components
     * @param k how many rows, from 1 to 10,000; fewer are found where the probed lists hold fewer
     * @param nprobe how many lists, from 1 to {@link #nlist()}; all of them make the search exact
     * @return completes with the rows, nearest first, ties by ascending id; or with the failure of a scan
     * @throws io.github.roost.core.task.RejectedSearchException if the orchestrator's overload policy rejects it
     * @throws IllegalArgumentException if an argument is out of its range, or the table is closed
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int nprobe) {
        return search(query, k, nprobe, SubmitOptions.DEFAULT);
    }

    /**
     * {@link #search(float[], int, int)} with a deadline or another priority. Both are the query's alone, also where its lists
     * are scanned together with others': no list is scanned for it after its deadline.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param nprobe how many lists, from 1 to {@link #nlist()}
     * @param options how to treat it
     * @return completes with at most k neighbours, nearest first, or with a {@link
     *     io.github.roost.core.task.DeadlineExceededException}
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int nprobe, SubmitOptions options) {
        return submit(query, "k", k, Float.POSITIVE_INFINITY, nprobe, null, options);
    }

    /**
     * {@link #search(float[], int, int)} among the rows that a filter accepts. No distance is computed to any other row. Where
     * lists keep bytes, all rows are scanned as such, and the filter is asked for those that are near enough.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param nprobe how many lists, from 1 to {@link #nlist()}
     * @param filter asked for external ids in the probed lists, and of rows that were added a moment ago, on the workers,
     *     several at once; must be thread-safe and always answer the same. What it throws fails the search
     * @return completes with at most k neighbours, nearest first
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int nprobe, LongPredicate filter) {
        return search(query, k, nprobe, filter, SubmitOptions.DEFAULT);
    }

    /**
     * {@link #search(float[], int, int, LongPredicate)} with a deadline or another priority.
     *
     * @param query finite, of the table's dimension
     * @param k neighbours wanted, from 1 to 10,000
     * @param nprobe how many lists, from 1 to {@link #nlist()}
     * @param filter asked for external ids
     * @param options how to treat it
     * @return completes with at most k neighbours, nearest first
     */
    public CompletableFuture<Neighbors> search(
            float[] query, int k, int nprobe, LongPredicate filter, SubmitOptions options) {
        if (filter == null) {
            throw new NullPointerException("filter must not be null");
        }
        return submit(query, "k", k, Float.POSITIVE_INFINITY, nprobe, filter, options);
    }

    /**
     * The same search in one piece: whoever runs it scans all of the query's lists, one after the other. For threads that
     * are not an orchestrator's, with a {@link SearchContext#outside} context, or to compare with; {@link #search(float[],
     * int, int)} has the lists scanned where they are at home, under load together with other queries.
     *
     * @param k neighbours wanted, from 1 to 10,000
     * @param nprobe how many lists, from 1 to {@link #nlist()}
     * @return what to run; it finds what {@link #search(float[], int, int)} finds, and throws {@link
     *     IllegalArgumentException} where the query is not as that takes it, or the table is closed
     */
    public SearchFunction<float[], Neighbors> searchFunction(int k, int nprobe) {
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        Vectors.requireRange("nprobe", nprobe, 1, nlist());
        return (query, context) -> {
            requireOpen();
            float[] prepared = preparation.prepareQuery("query", query);
            SearchRequest request = new SearchRequest(prepared, k, k, Float.POSITIVE_INFINITY, null);
            return searchHere(request, nprobe, context);
        };
    }

    /**
     * Scans a query's lists one after the other; where rows are missing, because one was met twice or more were added than
     * there was room for, looks for them anew, a few times.
     */
    private Neighbors searchHere(SearchRequest asked, int nprobe, SearchContext context) {
        SearchRequest request = asked;
        for (int timesAgain = TIMES_AGAIN; ; timesAgain--) {
            View view = rows.view();
            int[] probed = scanned(view.lists(), nprobe, request.vector())[0];
            if (probed.length == 0) {
                return Neighbors.EMPTY;
            }
            IvfQuery<?> query = query(request, view);
            for (int list : probed) {
                if (context.expired()) {
                    throw new CancellationException("the search is over: its deadline has passed or it was cancelled");
                }
                scanner(view.lists()).scan(view.lists().rows(list), List.of(query), context);
            }
            IvfQuery.Result result = query.result();
            if (!result.lacks() || timesAgain == 0) {
                return result.found();
            }
            request = request.again();
        }
    }

    /**
     * {@link #rangeSearch(float[], float, int, int)} with the table's own nprobe.
     *
     * @param query {@link #dimension()} finite components
     * @param radius the greatest distance
     * @param limit how many rows at most, from 1 to 10,000
     * @return the rows within the radius
     */
    public CompletableFuture<Neighbors> rangeSearch(float[] query, float radius, int limit) {
        return rangeSearch(query, radius, limit, nprobe);
    }

    /**
     * The rows within a radius among those of the nearest lists: all of them, unless there are more than the limit, which
     * bounds the memory that an answer takes. In lists of {@link ElementType#INT8} they are looked for among as many
     * candidates as a search for the limit's number of rows compares.
     *
     * @param query {@link #dimension()} finite components
     * @param radius the greatest distance, as {@link Neighbors} tell it: squared for {@link Metric#SQUARED_L2}, negated for
     *     {@link Metric#INNER_PRODUCT}; a number
     * @param limit how many rows at most, from 1 to 10,000
     * @param nprobe how many lists, from 1 to {@link #nlist()}; all of them find all rows within the radius
     * @return completes with the rows, nearest first, ties by ascending id; where there are as many as the limit, they are
     *     the nearest, and there may be more. Fails as a search does
     * @throws IllegalArgumentException if an argument is out of its range, or the table is closed
     */
    public CompletableFuture<Neighbors> rangeSearch(float[] query, float radius, int limit, int nprobe) {
        return rangeSearch(query, radius, limit, nprobe, SubmitOptions.DEFAULT);
    }

    /**
     * {@link #rangeSearch(float[], float, int, int)} with a deadline or another priority.
     *
     * @param query {@link #dimension()} finite components
     * @param radius the greatest distance
     * @param limit how many rows at most, from 1 to 10,000
     * @param nprobe how many lists, from 1 to {@link #nlist()}
     * @param options how to treat it
     * @return completes with the rows within the radius, nearest first
     */
    public CompletableFuture<Neighbors> rangeSearch(
            float[] query, float radius, int limit, int nprobe, SubmitOptions options) {
        if (Float.isNaN(radius)) {
            throw new IllegalArgumentException("radius must be a number, got NaN");
        }
        return submit(query, "limit", limit, radius, nprobe, null, options);
    }

    /**
     * Searches for many queries at once, which scan the lists that they share together: on lists that many of them probe,
     * several times as fast as one search after the other.
     *
     * @param queries each as {@link #search(float[], int, int)} takes it; all are checked before one begins
     * @param k neighbours wanted, from 1 to 10,000
     * @param nprobe how many lists each probes, from 1 to {@link #nlist()}
     * @return the answers in the order of the queries, each complete on its own. All searches are under way at once, so an
     *     orchestrator that rejects what its rings do not hold may fail some: let it block, or make rings larger
     * @throws IllegalArgumentException if an argument is out of its range, or the table is closed; then none has begun
     */
    public List<CompletableFuture<Neighbors>> searchAll(List<float[]> queries, int k, int nprobe) {
        return searchAll(queries, k, nprobe, SubmitOptions.DEFAULT);
    }

    /**
     * {@link #searchAll(List, int, int)} with a deadline or another priority.
     *
     * @param queries each as {@link #search(float[], int, int)} takes it; all are checked before one begins
     * @param k neighbours wanted, from 1 to 10,000
     * @param nprobe how many lists each probes, from 1 to {@link #nlist()}
     * @param options how to treat each of them
     * @return the answers in the order of the queries, each complete on its own
     */
    public List<CompletableFuture<Neighbors>> searchAll(
            List<float[]> queries, int k, int nprobe, SubmitOptions options) {
        List<float[]> checked = List.copyOf(queries);
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        Vectors.requireRange("nprobe", nprobe, 1, nlist());
        float[][] prepared = new float[checked.size()][];
        for (int query = 0; query < prepared.length; query++) {
            prepared[query] = preparation.prepareQuery("query " + query, checked.get(query));
        }
        requireOpen();
        List<CompletableFuture<Neighbors>> answers = new ArrayList<>(prepared.length);
        for (int from = 0; from < prepared.length; from += MOST_TOGETHER) {
            float[][] some = Arrays.copyOfRange(prepared, from, Math.min(prepared.length, from + MOST_TOGETHER));
            answers.addAll(submitTogether(some, k, nprobe, options));
        }
        return answers;
    }

    /**
     * The fewest probed lists with which searches find on average this share of the true k nearest, measured with sample
     * queries, one after the other. Pass it to {@link #search(float[], int, int)}.
     *
     * @param recall over 0, at most 1
     * @param k how many rows, from 1 to 10,000
     * @param sample queries like those to come, at least one; some hundred make it certain to about a hundredth
     * @return from 1 to {@link #nlist()}
     * @throws IllegalArgumentException if an argument is not as said, or the table is closed
     */
    public int targetRecall(double recall, int k, float[][] sample) {
        requireRecall(recall);
        if (sample.length == 0) {
            throw new IllegalArgumentException("the sample must have at least one query, got none");
        }
        for (int query = 0; query < sample.length; query++) {
            Vectors.require("query " + query, sample[query], dimension(), metric());
        }
        return new RecallSample(this, sample, k).fewest(recall);
    }

    /**
     * The lists that a search scans, the nearest first.
     *
     * @param query {@link #dimension()} finite components
     * @param nprobe how many lists, from 1 to {@link #nlist()}
     * @return numbers of lists
     */
    public int[] probes(float[] query, int nprobe) {
        Vectors.requireRange("nprobe", nprobe, 1, nlist());
        return probes(rows.lists(), nprobe, preparation.prepareQuery("query", query))[0];
    }

    private int[][] probes(Lists lists, int nprobe, float[]... prepared) {
        return lists.quantizer().nearest(prepared, nprobe, metric());
    }

    /**
     * For each query the buffer, where rows are in it, and the lists it probes. The buffer first: were it the last, all
     * queries that share it would be answered at once, and then their callers' next ones all be there at once.
     */
    private int[][] scanned(Lists lists, int nprobe, float[]... prepared) {
        int[][] probed = probes(lists, nprobe, prepared);
        if (lists.buffer().isEmpty()) {
            return probed;
        }
        int[][] scanned = new int[probed.length][];
        for (int i = 0; i < scanned.length; i++) {
            scanned[i] = new int[probed[i].length + 1];
            scanned[i][0] = lists.bufferNumber();
            System.arraycopy(probed[i], 0, scanned[i], 1, probed[i].length);
        }
        return scanned;
    }

    /** @param limitName what the caller calls the number of rows */
    private CompletableFuture<Neighbors> submit(
            float[] query,
            String limitName,
            int limit,
            float radius,
            int nprobe,
            @Nullable LongPredicate filter,
            SubmitOptions options) {
        Vectors.requireRange(limitName, limit, 1, Vectors.MOST_NEIGHBORS);
        Vectors.requireRange("nprobe", nprobe, 1, nlist());
        if (options == null) {
            throw new NullPointerException("options must not be null");
        }
        requireOpen();
        float[] prepared = preparation.prepareQuery("query", query);
        SearchRequest request = new SearchRequest(prepared, limit, limit, radius, filter);
        View view = rows.view();
        int[] probed = scanned(view.lists(), nprobe, prepared)[0];
        if (probed.length == 0) {
            return NOTHING_PROBED;
        }
        CompletableFuture<Neighbors> answer = orchestrator
                .indexing()
                .submitFork(scans(request, nprobe, view, probed, TIMES_AGAIN, true), SEARCH, options);
        flushIfDue();
        return answer;
    }

    /** Queries that come at once. */
    private List<CompletableFuture<Neighbors>> submitTogether(
            float[][] prepared, int k, int nprobe, SubmitOptions options) {
        View view = rows.view();
        int[][] probed = scanned(view.lists(), nprobe, prepared);
        List<Step.Fork<Object, IvfQuery<?>, Boolean, Neighbors>> forks = new ArrayList<>(prepared.length);
        for (int i = 0; i < prepared.length; i++) {
            if (probed[i].length > 0) {
                SearchRequest request = new SearchRequest(prepared[i], k, k, Float.POSITIVE_INFINITY, null);
                forks.add(scans(request, nprobe, view, probed[i], TIMES_AGAIN, prepared.length == 1));
            }
        }
        List<CompletableFuture<Neighbors>> answers = orchestrator.indexing().submitTogether(forks, SEARCH, options);
        flushIfDue();
        if (answers.size() == prepared.length) {
            return answers;
        }
        Iterator<CompletableFuture<Neighbors>> inTurn = answers.iterator();
        return Arrays.stream(probed)
                .map(lists -> lists.length == 0 ? NOTHING_PROBED : inTurn.next())
                .toList();
    }

    /** The scans of a query and what follows them: its answer, or where rows may be missing the same anew. */
    private Step.Fork<Object, IvfQuery<?>, Boolean, Neighbors> scans(
            SearchRequest request, int nprobe, View view, int[] probed, int timesAgain, boolean alone) {
        IvfQuery<?> query = query(request, view);
        return scans.scans(query, probed, view.lists(), scanner(view.lists()), alone, (search, scanned, context) -> {
            IvfQuery.Result result = query.result();
            return result.lacks() && timesAgain > 0
                    ? scansAgain(request.again(), nprobe, timesAgain - 1)
                    : Step.done(result.found());
        });
    }

    private Step<Object, Neighbors> scansAgain(SearchRequest request, int nprobe, int timesAgain) {
        View view = rows.view();
        int[] probed = scanned(view.lists(), nprobe, request.vector())[0];
        return probed.length == 0 ? Step.done(Neighbors.EMPTY) : scans(request, nprobe, view, probed, timesAgain, true);
    }

    private IvfQuery<?> query(SearchRequest request, View view) {
        return scanner(view.lists()).query(request.forTableOf(rows.size()), view);
    }

    /**
     * {@link #add(long[], float[][])} of one row.
     *
     * @param id an external id that is not in the table
     * @param vector finite, of the table's dimension
     */
    public void add(long id, float[] vector) {
        add(new long[] {id}, new float[][] {vector});
    }

    /**
     * Adds rows, all or none; blocks while others write.
     *
     * @param ids one for each row, none in the table yet and no two equal
     * @param vectors rows of {@link #dimension()} finite components; copied
     * @throws IllegalArgumentException if rows or ids are not as said, or the table is closed; then nothing is added
     * @throws OutOfMemoryError if there is no memory for all rows, such as {@code -XX:MaxDirectMemorySize} grants; then
     *     nothing is added, and searches go on
     */
    public void add(long[] ids, float[][] vectors) {
        requireOpen();
        float[][] stored = preparation.prepareRows(vectors);
        Vectors.requireIds(ids, vectors.length);
        rows.add(ids, stored);
        flushIfDue();
    }

    /**
     * Removes a row.
     *
     * @param id external id
     * @return whether it was there
     * @throws IllegalArgumentException if the table is closed
     */
    public boolean remove(long id) {
        requireOpen();
        int list = rows.remove(id);
        compactIfSparse(list);
        return list >= 0;
    }

    /**
     * Gives a row another vector. A search at the same time may find it by the old vector or by the new, but not by both,
     * or miss it. Where it was met twice in place of another row, its lists are scanned again, up to eight times.
     *
     * @param id of a row that is in the table
     * @param vector {@link #dimension()} finite components; copied
     * @throws IllegalArgumentException if vector or id are not as said, or the table is closed; then nothing is changed
     */
    public void update(long id, float[] vector) {
        requireOpen();
        compactIfSparse(rows.update(id, preparation.prepareRows(new float[][] {vector})[0]));
    }

    /** The next removal from the list tries again where this is put off. */
    private void compactIfSparse(int list) {
        if (list >= 0 && rows.claimCompaction(list)) {
            Runnable putOff = () -> rows.putOffCompaction(list);
            maintain(list, () -> compact(list), putOff, putOff);
        }
    }

    private boolean compact(int list) {
        boolean compacted = rows.tryCompact(list);
        if (compacted) {
            memory.isNew(list);
        }
        return compacted;
    }

    /** The next addition or search tries again where this is put off. */
    private void flushIfDue() {
        InsertBuffer buffer = rows.lists().buffer();
        if (buffer.claimFlush()) {
            maintain(0, () -> rows.tryFlush(buffer), buffer::putOffFlush, buffer::flushFailed);
        }
    }

    /**
     * Has a list maintained at its home. That is put off where it says that it would have to wait, or fails; where the table or
     * its orchestrator has been closed meanwhile it is not needed.
     */
    private void maintain(int list, BooleanSupplier work, Runnable putOff, Runnable failed) {
        boolean accepted = false;
        try {
            var _ = orchestrator
                    .indexing()
                    .maintenance(registration.id(list), context -> {
                        if (!work.getAsBoolean()) {
                            putOff.run();
                        }
                        return false;
                    })
                    .whenComplete((none, failure) -> {
                        if (failure != null) {
                            failed.run();
                        }
                    });
            accepted = true;
        } catch (RejectedSearchException | IllegalArgumentException | OutOfMemoryError notNow) {
            // What called for it, an addition, a search, has been done.
            return;
        } finally {
            if (!accepted) {
                putOff.run();
            }
        }
    }

    /**
     * How unevenly the rows lie in the lists: the number of lists times the sum of squared list lengths over the square of
     * their sum (FAISS's imbalance factor). 1 is even; a search costs about this many times what it would cost then.
     *
     * @return 1 or more
     */
    public double imbalance() {
        return rows.imbalance();
    }

    /**
     * Trains anew on the rows of this moment and puts the new lists in force while searches and changes go on; due when
     * {@link #imbalance} has grown to about twice what it was after the build. The work is batch work on the
     * orchestrator's workers. While a rebuild is under way another call returns the same future.
     *
     * @return completes once the new lists are in force; or with the failure that left the old ones in force
     * @throws IllegalArgumentException if the table is closed
     */
    public CompletableFuture<Void> rebuild() {
        requireOpen();
        synchronized (training) {
            if (rebuild.isDone()) {
                CompletableFuture<Void> done = orchestrator.newFuture();
                rebuild = done;
                // A thread of its own for what is serial: on a worker it would hold up searches.
                Thread.ofVirtual().name("roost-ivf-rebuild").start(() -> rebuild(done));
            }
            return rebuild.copy();
        }
    }

    private void rebuild(CompletableFuture<Void> done) {
        try {
            IvfRows.Copy copy = rows.copyForRebuild();
            try {
                Locations locations = new Locations();
                Lists fresh = copy.count() == 0
                        ? rows.lists().emptied()
                        : training.again(copy.rows(), copy.ids(), nlist(), rows.lists(), locations);
                rows.exchange(fresh, locations);
                memory.allIsNew();
            } catch (Throwable failure) {
                rows.giveUp();
                throw failure;
            }
            done.complete(null);
        } catch (Throwable failure) {
            done.completeExceptionally(failure);
        }
    }

    /**
     * Writes the table to a file, replacing one of that name: whatever happens meanwhile, the old file or the new one is
     * there, whole. Searches go on, changes wait.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    public void save(Path file) throws IOException {
        try {
            rows.save(file, metric(), nprobe, training.seed(), rerank);
        } catch (UncheckedIOException damagedList) {
            throw damagedList.getCause();
        }
    }

    /**
     * A table from a file that {@link #save} has written. Its vectors are mapped, so searches may begin before they are
     * read; those of a list are checked when the list is first touched, and a search that meets a damaged one fails with
     * the {@link TableFileException} as its cause. The file is not changed by changes of the table, and
     * must not be overwritten in place or cut short while the table is in use; {@link #save} over it is safe.
     *
     * @param orchestrator places the table
     * @param name how the table shows in reports
     * @param file that {@link #save} has written
     * @return the table, to be closed
     * @throws TableFileException if it is no such file, of another version, truncated or damaged
     */
    public static IvfTable open(Orchestrator orchestrator, String name, Path file) throws IOException {
        IvfFile.Opened opened = IvfFile.open(file);
        IvfFile saved = opened.table();
        ScanKernel kernel = ScanKernels.preferred();
        IvfRows rows = IvfRows.of(file, opened, new CoarseQuantizer(kernel, saved.centroids()));
        int lists = saved.ids().length;
        Training training = new Training(
                kernel,
                new BatchWork(orchestrator, name + " (build)"),
                saved.seed(),
                saved.metric(),
                saved.layout().element(),
                saved.layout().codes(),
                Training.LEAST_CODED,
                saved.layout().floats());
        return new IvfTable(
                orchestrator,
                orchestrator.register(name, lists),
                new RowPreparation(
                        saved.metric(),
                        saved.layout().dimension(),
                        saved.layout().element()),
                training,
                rows,
                Math.min(saved.nprobe(), lists),
                saved.rerank(),
                DomainMemory::migrate);
    }

    /** {@return the table's name, as it shows in reports} */
    public String name() {
        return registration.name();
    }

    /** {@return the number of components of a vector} */
    public int dimension() {
        return preparation.dimension();
    }

    /** {@return the number of rows} */
    public int size() {
        return rows.size();
    }

    /** {@return the number of lists} */
    public int nlist() {
        return registration.clusters();
    }

    /**
     * Number of rows in a list, those removed and not yet compacted included; rows that were added a moment ago may be in none
     * yet. None in lists that a rebuild of fewer rows than lists has left out.
     *
     * @param list from 0 to {@link #nlist()} exclusive
     * @return at least 0
     */
    public int listSize(int list) {
        Vectors.requireRange("list", list, 0, nlist() - 1);
        Lists lists = rows.lists();
        return list < lists.count() ? lists.rows()[list].rows() : 0;
    }

    /** {@return how many lists a search probes that does not say} */
    public int nprobe() {
        return nprobe;
    }

    /** {@return how distances are measured} */
    public Metric metric() {
        return preparation.metric();
    }

    /** {@return what the lists keep of each component for scans} */
    public ElementType elementType() {
        return training.element();
    }

    /**
     * {@return what scans the lists: {@code avx512}, {@code avx2}, {@code neon}, {@code vector}, {@code portable} or
     * {@code java}}
     */
    public String kernel() {
        return scanner.kernel();
    }

    /** {@return the table's mapping ids, one a list} */
    public Registration registration() {
        return registration;
    }

    /**
     * Unregisters the table: searches under way finish, later ones are refused. The rows' memory is freed once the table is
     * unreachable.
     */
    @Override
    public void close() {
        registration.close();
    }

    private static double requireRecall(double recall) {
        if (!(recall > 0 && recall <= 1)) {
            throw new IllegalArgumentException("recall must be over 0 and at most 1, got " + recall);
        }
        return recall;
    }

    private void requireOpen() {
        if (!registration.isOpen()) {
            throw new IllegalArgumentException("table " + name() + " is closed: it is unregistered");
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private static final int MOST_LISTS = 131_072;

        private String name = "ivf";
        private Metric metric = Metric.SQUARED_L2;
        private int nlist;
        private int nprobe;
        private double targetRecall = .95;
        private long seed = 42;
        private ElementType elementType = ElementType.FLOAT32;
        private boolean codes = true;
        private int leastCoded = Training.LEAST_CODED;
        private boolean keepFloats = true;
        private double rerank = 1.5;
        private TableMemory.Mover mover = DomainMemory::migrate;

        private Builder() {}

        /**
         * Sets how the table shows in reports.
         *
         * @param value default {@code ivf}
         * @return this builder
         */
        public Builder name(String value) {
            this.name = value;
            return this;
        }

        /**
         * Sets how far two vectors are from each other.
         *
         * @param value default squared L2
         * @return this builder
         */
        public Builder metric(Metric value) {
            this.metric = value;
            return this;
        }

        /**
         * Sets the number of lists.
         *
         * @param value from 1 to 131,072 and the number of rows; default four times the root of the latter
         * @return this builder
         */
        public Builder nlist(int value) {
            this.nlist = requireLists("nlist", value);
            return this;
        }

        /**
         * Sets how many lists a search probes that does not say.
         *
         * @param value from 1 to 131,072, or all where there are fewer; default what {@link #targetRecall} asks for
         * @return this builder
         */
        public Builder nprobe(int value) {
            this.nprobe = requireLists("nprobe", value);
            return this;
        }

        /**
         * Sets what share of its true 10 nearest rows the lists are to hold that a search probes. The build measures with
         * 128 of the rows how many lists that takes. Of no meaning where {@link #nprobe} is given.
         *
         * @param value from over 0 to 1; default .95
         * @return this builder
         */
        public Builder targetRecall(double value) {
            this.targetRecall = requireRecall(value);
            return this;
        }

        /**
         * Sets the seed of the training; the same rows and seed give the same lists.
         *
         * @param value any number
         * @return this builder
         */
        public Builder seed(long value) {
            this.seed = value;
            return this;
        }

        /**
         * Sets what lists keep of each component for scans.
         *
         * @param value default {@link ElementType#FLOAT32}, which takes 4 bytes, and one more for {@link #codes}.
         *     {@link ElementType#FLOAT16} takes 2.
         *     {@link ElementType#INT8} takes 1 byte, and 4 a row, and scans several times as many rows a second; see
         *     {@link #keepFloats} for what it takes in all
         * @return this builder
         */
        public Builder elementType(ElementType value) {
            this.elementType = value;
            return this;
        }

        /**
         * Sets whether {@link ElementType#FLOAT32} lists keep a byte a component too, for scans to read first: 5 bytes a
         * component instead of 4, and 4 a row. The floats are read of rows only that may be among the nearest by what
         * their bytes say, so answers are the same to the bit; a scan reads a quarter as much. What bytes can say is
         * learnt from the rows of the build; of rows that come later and are unlike them the floats are read in any case,
         * until {@link IvfTable#rebuild} learns anew.
         *
         * <p>Tables of fewer than 1,024 rows keep none until a rebuild of more, and those that the kernels {@code portable}
         * or {@code java} build or rebuild, which are no faster with bytes. Of no meaning to other types.
         *
         * @param value default true
         * @return this builder
         */
        public Builder codes(boolean value) {
            this.codes = value;
            return this;
        }

        /** So few rows as tests have. */
        Builder leastCoded(int rows) {
            this.leastCoded = rows;
            return this;
        }

        /** What moves the lists' memory, for tests. */
        Builder mover(TableMemory.Mover value) {
            this.mover = value;
            return this;
        }

        /**
         * Sets whether {@link ElementType#INT8} lists keep the floats too, for the candidates of a search to be compared
         * with: 5 bytes a component instead of 1. Without them distances are those to the nearest of 256 values a
         * dimension, and of rows added later those outside the values of the build are cut off there. Of no meaning to
         * other types.
         *
         * @param value default true
         * @return this builder
         */
        public Builder keepFloats(boolean value) {
            this.keepFloats = value;
            return this;
        }

        /**
         * Sets how many candidates of a search in {@link ElementType#INT8} lists are compared with the query itself: k, and
         * so many times the root of k more. What their bytes lose swaps rows around the k-th place, the farther from it the
         * more there are, but not in proportion. More find more and cost more. Of no meaning to other types.
         *
         * @param value multiple of the root of k, from 0 to 100; default 1.5: 15 candidates for 10 rows, 115 for 100
         * @return this builder
         */
        public Builder rerank(double value) {
            if (!(value >= 0 && value <= MOST_RERANK)) {
                throw new IllegalArgumentException("rerank must be between 0 and 100, got " + value);
            }
            this.rerank = value;
            return this;
        }

        /**
         * {@link #build(Orchestrator, long[], float[][])} with the rows' ordinals as ids.
         *
         * @param orchestrator places the table, and builds it
         * @param vectors at least one row, all of one dimension from 1 to 4,096, all finite; copied
         * @return the table, to be closed
         */
        public IvfTable build(Orchestrator orchestrator, float[][] vectors) {
            long[] ordinals = new long[vectors.length];
            Arrays.setAll(ordinals, i -> i);
            return build(orchestrator, ordinals, vectors);
        }

        /**
         * Trains and fills a table on the orchestrator's workers, as batch work beside what they serve. Blocks until it
         * stands.
         *
         * @param orchestrator places the table, and builds it
         * @param ids one for each row, no two equal
         * @param vectors at least one row, all of one dimension from 1 to 4,096, all finite; copied
         * @return the table, to be closed
         * @throws IllegalArgumentException if rows, ids or options are not as said; then nothing is registered
         */
        public IvfTable build(Orchestrator orchestrator, long[] ids, float[][] vectors) {
            RowPreparation preparation = RowPreparation.of(metric, elementType, vectors);
            Vectors.requireIds(ids, vectors.length);
            int lists = nlist == 0 ? defaultNlist(vectors.length) : nlist;
            if (lists > vectors.length) {
                throw new IllegalArgumentException(
                        "nlist must be at most the number of rows, " + vectors.length + ", got " + lists);
            }
            Training training = new Training(
                    ScanKernels.preferred(),
                    new BatchWork(orchestrator, name + " (build)"),
                    seed,
                    metric,
                    elementType,
                    codes,
                    leastCoded,
                    keepFloats);
            Locations locations = new Locations();
            RowSource stored = row -> preparation.stored(vectors[row]);
            Lists filled = training.lists(stored, ids, lists, preparation.dimension(), locations);
            int probes = nprobe == 0
                    ? ProbeChoice.fewest(targetRecall, training, stored, ids, filled, locations)
                    : Math.min(nprobe, lists);
            Registration registration = orchestrator.register(name, lists);
            return new IvfTable(
                    orchestrator,
                    registration,
                    preparation,
                    training,
                    new IvfRows(filled, locations),
                    probes,
                    rerank,
                    mover);
        }

        private static int defaultNlist(int rows) {
            return Math.clamp((long) (4 * Math.sqrt(rows)), 1, rows);
        }

        private static int requireLists(String what, int value) {
            Vectors.requireRange(what, value, 1, MOST_LISTS);
            return value;
        }
    }
}
