package io.github.roost.index.ivf;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.ivf.format.IvfFormats;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.memory.MemoryLimit;
import io.github.roost.vector.spi.AbstractVectorTable;
import io.github.roost.vector.spi.RecallSample;
import io.github.roost.vector.spi.TableMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * An inverted file (Sivic and Zisserman, 2003): rows in lists by their nearest centroid; a query probes the nprobe nearest
 * lists. Lists store float32, float16 or 8-bit codes ({@link ElementType}). Float32 lists also store 8-bit codes: a scan
 * reads the codes first, and their error bound rules out most rows, so that few full vectors are read. Each list is a mapping
 * id of its own, so the orchestrator places lists, not tables.
 *
 * <p>If workers are free, a query forks into parts that scan several of its lists each. Otherwise it joins the batch queue of
 * each list it probes: a list is scanned, on a worker of its home domain, once for all queries in the queue. The worker that
 * finishes a query's last list merges its answer. Deadline, cancellation, priority, overload and failure are per query, even if
 * lists are scanned together with other queries: no list is scanned for a query after its deadline.
 *
 * <p>The effort of a search is nprobe; with all lists a search is exact, except in lists of {@link ElementType#INT8}. If its lists have fewer
 * than k rows that are there, allowed by the filter and within the radius, the search scans further lists, two to four times as many each time,
 * until it has k rows or no list is left that may have any; only its visit limit ends it earlier. With a radius, a search
 * finds all rows of its lists within it, up to k; lists of INT8 look for them among the candidates that a search for k rows reranks. No
 * distance is computed for rows that the filter refuses. Lists with codes scan the codes of all rows, and apply the filter only to rows whose
 * scores are good enough. {@link #searchAll} on lists that many of its queries probe is several times as fast as one search after the other; all
 * its searches are in flight at once, so an orchestrator that rejects tasks when its rings are full may fail some: let it block, or make rings
 * larger.
 *
 * <p>Rows may be added, removed and changed while the table is searched; a search that starts after such a call has
 * returned sees its effect. Rows added a few at a time wait in a buffer, which every search scans in addition to
 * its lists, until maintenance moves them to their lists. A list with many removed rows is compacted by maintenance. When the rows have grown
 * out of their lists, the table is {@linkplain #rebuild rebuilt}.
 *
 * <p>On a machine of several NUMA nodes the memory of each list follows the list's home ({@link TableMemory}), unless it is
 * mapped from a file; the last block of a growing list stays on the node of the thread that wrote it until the next block begins.
 *
 * <p>Thread-safe. Searches return at once; their futures may be waited for inside another search too.
 */
public final class IvfTable extends AbstractVectorTable implements MutableVectorTable, MemoryLimited {
    /** The format of saved IVF tables. */
    public static final TableFormat FORMAT = IvfFormats.TABLE;

    /**
     * System property that names the kernel of tables built or opened later, one of the names that {@link #kernel}
     * returns; by default the fastest. Build and open refuse a name that this machine has no kernel for.
     */
    public static final String KERNEL_PROPERTY = ScanKernels.PROPERTY;

    private final RowPreparation preparation;
    private final IvfRows rows;
    private final Training training;
    private final double rerank;
    private final IvfMaintenance maintenance;
    private final IvfSearch search;
    private final MemoryLimit limit = new MemoryLimit();

    IvfTable(
            Orchestrator orchestrator,
            Registration registration,
            RowPreparation preparation,
            Training training,
            IvfRows rows,
            double rerank,
            TableMemory.Mover mover,
            boolean apart) {
        super(orchestrator, registration, preparation.metric(), preparation.element(), preparation.dimension());
        this.preparation = preparation;
        this.training = training;
        this.rows = rows;
        this.rerank = rerank;
        ListHomes homes = new ListHomes(orchestrator, registration, rows, apart);
        TableMemory memory = TableMemory.keepAtHome(orchestrator, registration, homes::memory, mover);
        this.maintenance = new IvfMaintenance(orchestrator, registration, homes, rows, training, memory);
        this.search = new IvfSearch(
                orchestrator, registration, homes, preparation, rows, maintenance, training.kernel(), rerank);
        rows.onGrowth(list -> memory.isNew(homes.index(list)));
        rows.limitBy(bytes -> limit.admit(name(), bytes));
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    protected int defaultEffort(int k) {
        return nprobe(k);
    }

    @Override
    public int minEffort(int k) {
        return 1;
    }

    @Override
    public int maxEffort() {
        return nlist();
    }

    @Override
    protected String effortName() {
        return "nprobe";
    }

    @Override
    protected CompletableFuture<SearchResult> submit(SearchRequest request) {
        return search.submit(request);
    }

    /**
     * Returns a search function for {@link Orchestrator#submit}, which searches in one piece: the thread that runs it scans all of the query's
     * lists, one after the other. {@link #search(float[], int, int)} divides a search that reads more than some 256 KiB, or from several homes: it
     * scans each list at its home, under load together with other queries.
     *
     * @param k the maximum number of rows, from 1 to 10,000
     * @param effort nprobe, from 1 to {@link #nlist()}
     * @return the search function, to be submitted under an id of {@link #registration()}, or called in a thread that is not a worker; it throws
     *     the exceptions of a search of this table
     */
    public SearchFunction<float[], SearchResult> searchFunction(int k, int effort) {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Vectors.requireRange("nprobe", effort, 1, nlist());
        return (query, context) -> {
            requireQuery("query", query);
            return search.searchHere(query, k, effort, context);
        };
    }

    /** Searches of one batch that probe the same list share one scan of it. */
    @Override
    protected List<CompletableFuture<SearchResult>> submitAll(List<SearchRequest> requests) {
        List<CompletableFuture<SearchResult>> answers = new ArrayList<>(requests.size());
        for (int from = 0; from < requests.size(); from += IvfSearch.MAX_TOGETHER) {
            List<SearchRequest> some = requests.subList(from, Math.min(requests.size(), from + IvfSearch.MAX_TOGETHER));
            answers.addAll(
                    some.size() > 1 && IvfSearch.canShare(some) ? search.submitTogether(some) : super.submitAll(some));
        }
        return answers;
    }

    @Override
    protected int measureEffort(double recall, int k, float[][] sample) {
        return new RecallSample(sample, query -> search.submitInBatch(query, k, nlist()))
                .minEffort(1, nlist(), recall, probes -> query -> search.submitInBatch(query, k, probes));
    }

    @Override
    protected SearchResult exact(SearchRequest request, SearchContext context) {
        return search.searchHere(request.query(), request.k(), nlist(), context);
    }

    @Override
    protected float[][] sampleRows(int count, Random random) {
        float[][] sample = rows.sample(count, random);
        Arrays.setAll(sample, i -> preparation.original(sample[i]));
        return sample;
    }

    /**
     * The lists that a search scans, nearest first; others only if these have too few rows for it.
     *
     * @param query {@link #dimension()} finite components
     * @param nprobe number of lists, from 1 to {@link #nlist()}
     * @return list numbers, from 0 to {@link #nlist()} exclusive
     */
    public int[] probes(float[] query, int nprobe) {
        Vectors.requireRange("nprobe", nprobe, 1, nlist());
        requireQuery("query", query);
        try (var _ = use()) {
            return search.probed(query, nprobe);
        }
    }

    /**
     * Adds one row, as {@link #add(long[], float[][])} does.
     *
     * @param id an external id that is not in the table
     * @param vector finite, of the table's dimension
     */
    public void add(long id, float[] vector) {
        add(new long[] {id}, new float[][] {vector});
    }

    /**
     * Adds rows, all or none; blocks while other threads write.
     *
     * @param ids one per row, none in the table yet and no two equal
     * @param vectors rows of {@link #dimension()} finite components; copied
     * @throws IllegalArgumentException if rows or ids are invalid; then nothing is added
     * @throws io.github.roost.vector.TableFullException if the rows exceed the memory limit; then nothing is added
     * @throws OutOfMemoryError if there is no memory for all rows, for example by {@code -XX:MaxDirectMemorySize}; then
     *     nothing is added, and searches go on
     */
    public void add(long[] ids, float[][] vectors) {
        Objects.requireNonNull(ids, "ids must not be null");
        Objects.requireNonNull(vectors, "vectors must not be null");
        try (var _ = change()) {
            float[][] stored = preparation.prepareRows(vectors);
            Vectors.requireIds(ids, vectors.length);
            rows.add(ids, stored);
            maintenance.flushIfDue();
            rebuildIfDue();
        }
    }

    /** A search that runs at the same time may find a replaced row by its old vector or by its new one, or miss it. */
    @Override
    public boolean put(long id, float[] vector) {
        try (var _ = change()) {
            int list = rows.put(id, preparation.prepareRow(0, vector));
            if (list < 0) {
                maintenance.flushIfDue();
            } else {
                maintenance.compactIfSparse(list);
            }
            rebuildIfDue();
            return list < 0;
        }
    }

    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            float[] stored = rows.row(id);
            return stored == null ? null : preparation.original(stored);
        }
    }

    @Override
    public boolean remove(long id) {
        try (var _ = change()) {
            int list = rows.remove(id);
            maintenance.compactIfSparse(list);
            rebuildIfDue();
            return list >= 0;
        }
    }

    /**
     * Replaces the vector of a row. A search that runs at the same time may find the row by the old vector or by the new, but
     * not by both, or miss it. If it saw a row twice in place of another row, it scans again, up to eight times.
     *
     * @param id of a row that is in the table
     * @param vector {@link #dimension()} finite components; copied
     * @throws IllegalArgumentException if vector or id is invalid; then nothing is changed
     */
    public void update(long id, float[] vector) {
        try (var _ = change()) {
            maintenance.compactIfSparse(rows.update(id, preparation.prepareRow(0, vector)));
            rebuildIfDue();
        }
    }

    /**
     * How unevenly the rows are spread over the lists: the number of lists times the sum of squared list lengths, divided by
     * the square of their sum (FAISS's imbalance factor). 1 is even; a search costs about this many times as much as with even lists.
     *
     * @return 1 or more
     */
    public double imbalance() {
        return rows.imbalance();
    }

    /**
     * Retrains on the current rows and swaps in the new lists while searches and changes go on. Changes start it when they find that
     * {@link #imbalance} has doubled since the last training, or that as many rows have changed as there were. Runs as batch work on the
     * orchestrator's workers. While a rebuild is running another call returns the same one, even if it has been cancelled and is
     * about to end.
     *
     * @return the running rebuild; its result is this table, once the new lists are in force. If it is cancelled or fails, the old
     *     lists stay in force; closing the table ends it with a {@link TableClosedException}
     * @throws TableClosedException if the table is closed
     * @throws OrchestratorClosedException if the orchestrator is closed
     */
    public TableBuild<IvfTable> rebuild() {
        return maintenance.rebuild(() -> {
            forgetMeasurements();
            return this;
        });
    }

    private void rebuildIfDue() {
        if (rows.claimTraining()) {
            try {
                var _ = rebuild();
            } catch (TableClosedException | OrchestratorClosedException closed) {
                // The change has been made, and nobody needs new lists.
            }
        }
    }

    /**
     * Writes the table to a file, replacing an existing one atomically: after a crash the complete old or new file is
     * there. Searches go on, changes wait.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    @Override
    public void save(Path file) throws IOException {
        try (var _ = use()) {
            rows.save(file, preparation, training, rerank);
        } catch (UncheckedIOException damagedList) {
            throw damagedList.getCause();
        }
    }

    /** For a table from a file: reads and checks every list that no search has touched yet. */
    @Override
    public void verify() throws IOException {
        try (var _ = use()) {
            rows.lists().verify();
        } catch (UncheckedIOException damagedList) {
            throw damagedList.getCause();
        }
    }

    /**
     * Opens a table from a file that {@link #save} wrote. The vectors are mapped, so searches may begin before they are
     * read; a list's vectors are checked when the list is first touched, or by {@link #verify}. A search that touches a damaged
     * list fails with an {@link UncheckedIOException} whose cause is the {@link FileFormatException}. Changes to the table do not
     * change the file, which must not be overwritten in place or truncated while the table is in use; {@link #save} over it is safe.
     *
     * @param orchestrator places the table
     * @param name the table's name in reports
     * @param file written by {@link #save}
     * @return the table, to be closed
     * @throws FileFormatException if it is not a table file, or of another version, truncated or damaged
     */
    public static IvfTable open(Orchestrator orchestrator, String name, Path file) throws IOException {
        Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        Objects.requireNonNull(name, "name must not be null");
        IvfFile.Opened opened = IvfFile.open(file);
        IvfFile saved = opened.table();
        ScanKernel kernel = ScanKernels.preferred();
        RowLayout layout = saved.layout();
        Lists lists = new Lists(new CoarseQuantizer(kernel, saved.centroids()), layout, opened.lists())
                .probing(Math.min(saved.nprobe(), saved.centroids().length));
        Training training = new Training(
                kernel,
                saved.seed(),
                saved.metric(),
                layout.element(),
                layout.codes(),
                Training.MIN_CODED,
                layout.floats(),
                saved.targetRecall() == 0 ? saved.nprobe() : 0,
                saved.targetRecall());
        RowMap locations = opened.locations(file);
        boolean isDone = false;
        try {
            IvfTable table = new IvfTable(
                    orchestrator,
                    orchestrator.register(name, lists.count()),
                    new RowPreparation(saved.metric(), layout.dimension(), layout.element(), saved.exponent()),
                    training,
                    new IvfRows(lists, locations, opened.mapped()),
                    saved.rerank(),
                    DomainMemory::migrate,
                    false);
            isDone = true;
            return table;
        } finally {
            if (!isDone) {
                locations.close();
            }
        }
    }

    @Override
    public int size() {
        return rows.size();
    }

    /** {@return the number of lists} */
    public int nlist() {
        return registration().size();
    }

    /**
     * Number of rows in a list, including tombstones not yet compacted; rows added recently may be in no list yet.
     * 0 for lists that do not exist because a rebuild had fewer rows than lists.
     *
     * @param list from 0 to {@link #nlist()} exclusive
     * @return at least 0
     */
    public int listSize(int list) {
        Vectors.requireRange("list", list, 0, nlist() - 1);
        Lists lists = rows.lists();
        return list < lists.count() ? lists.rows()[list].rows() : 0;
    }

    /** {@return the default nprobe of searches for up to 10 rows; if it is measured, each rebuild measures it again} */
    public int nprobe() {
        return rows.lists().nprobe();
    }

    /**
     * The nprobe of searches that do not pass one. It grows with k, so that the recall does not fall: a function of k, {@link #nprobe()} and the
     * average length of lists.
     *
     * @param k the maximum number of rows, from 1 to 10,000
     * @return from {@link #nprobe()} to {@link #nlist()}
     */
    public int nprobe(int k) {
        return search.probesFor(k);
    }

    /**
     * {@return the name of the scan kernel: {@code avx512}, {@code avx2}, {@code neon}, {@code portable} or
     * {@code java}}
     */
    public String kernel() {
        return training.kernel().name();
    }

    @Override
    public void memoryLimit(long bytes) {
        limit.set(bytes);
    }

    @Override
    public long memoryLimit() {
        return limit.bytes();
    }

    /** {@return the type of the components that searches read: {@code FLOAT32} also if {@code INT8} was asked for but would lose near rows} */
    @Override
    public ElementType elementType() {
        ElementType asked = super.elementType();
        return asked == ElementType.INT8 && !rows.isCoded() ? ElementType.FLOAT32 : asked;
    }

    @Override
    public TableStats stats() {
        long bytes = registration().isOpen() ? rows.bytes() : 0;
        return new TableStats(name(), "ivf", size(), dimension(), metric(), elementType(), nlist(), bytes, recall());
    }

    @Override
    public void close() {
        maintenance.close();
        super.close();
    }

    @Override
    protected void free() {
        rows.release();
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder extends IvfTableBuilder {
        private Builder() {}

        @Override
        Builder self() {
            return this;
        }
    }
}
