package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.Vectors;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An inverted file (Sivic and Zisserman, 2003): rows in lists by their nearest centroid, of which a query probes the
 * nearest few, exactly. Each list is a mapping id of its own, so the orchestrator places lists, not tables.
 *
 * <p>A query posts itself to the mailbox of each list it probes; a list with mail is queued once, on a worker of its
 * home domain, and scanned once for all queries that wait for it. Whoever finishes a query's last list merges its answer.
 *
 * <p>Immutable and thread-safe. Searches return at once, and may be waited for also inside another search.
 */
public final class IvfTable implements AutoCloseable {
    private final Orchestrator orchestrator;
    private final Registration registration;
    private final RowPreparation preparation;
    private final CoarseQuantizer quantizer;
    private final InvertedLists lists;
    private final ListScanner scanner;
    private final ListMailbox[] mailboxes;
    private final int size;
    private final int nprobe;

    private IvfTable(
            Orchestrator orchestrator,
            Registration registration,
            RowPreparation preparation,
            ScanKernel kernel,
            CoarseQuantizer quantizer,
            InvertedLists lists,
            int size,
            int nprobe) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.preparation = preparation;
        this.quantizer = quantizer;
        this.lists = lists;
        this.scanner = new ListScanner(kernel, preparation.metric(), preparation.dimension());
        this.mailboxes = new ListMailbox[registration.clusters()];
        Arrays.setAll(mailboxes, list -> new ListMailbox());
        this.size = size;
        this.nprobe = nprobe;
    }

    /** A builder with every option at its default. */
    public static Builder builder() {
        return new Builder();
    }

    /** {@link #search(float[], int, int)} with the table's own nprobe. */
    public CompletableFuture<Neighbors> search(float[] query, int k) {
        return search(query, k, nprobe);
    }

    /**
     * The nearest rows among those of the nearest lists. Copies the query.
     *
     * @param query {@link #dimension()} finite components
     * @param k how many rows, from 1 to 10,000; fewer are found where the probed lists hold fewer
     * @param nprobe how many lists, from 1 to {@link #nlist()}; all of them make the search exact
     * @return completes with the rows, nearest first, ties by ascending id; or with the failure of a scan, such as a
     *     rejection by the orchestrator's overload policy, which fails all that wait for the rejected list
     * @throws IllegalArgumentException if an argument is out of its range, or the table is closed
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int nprobe) {
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        Vectors.requireRange("nprobe", nprobe, 1, nlist());
        requireOpen();
        float[] prepared = preparation.prepareQuery(query);
        Metric coarse = preparation.metric() == Metric.INNER_PRODUCT ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
        int[] probed = quantizer.nearest(prepared, nprobe, coarse);
        IvfQuery pending = new IvfQuery(prepared, Math.min(k, size), probed.length, orchestrator.newFuture());
        if (probed.length == 0) {
            // Only where every distance to a centroid overflows to no number.
            pending.answer().complete(Neighbors.EMPTY);
        }
        for (int list : probed) {
            if (mailboxes[list].post(pending)) {
                queue(list);
            }
        }
        return pending.answer();
    }

    private void queue(int list) {
        AtomicBoolean taken = new AtomicBoolean();
        try {
            SearchFunction<Integer, Boolean> task = (mail, context) -> {
                taken.set(true);
                return scan(mail, context);
            };
            orchestrator.submit(task, list, registration.id(list)).whenComplete((done, failure) -> {
                // Later mail has a task of its own, so only a task that never ran leaves mail behind.
                if (failure != null && !taken.get()) {
                    fail(mailboxes[list].takeAll(), failure);
                }
            });
        } catch (RuntimeException refused) {
            fail(mailboxes[list].takeAll(), refused);
        }
    }

    private boolean scan(int list, SearchContext context) {
        List<IvfQuery> waiting = mailboxes[list].takeAll();
        try {
            scanner.scan(lists.list(list), waiting, context);
            return true;
        } catch (RuntimeException | Error failure) {
            fail(waiting, failure);
            throw failure;
        }
    }

    private static void fail(List<IvfQuery> waiting, Throwable failure) {
        for (IvfQuery query : waiting) {
            query.answer().completeExceptionally(failure);
        }
    }

    /** The table's name, as it shows in reports. */
    public String name() {
        return registration.name();
    }

    /** Components of a vector. */
    public int dimension() {
        return preparation.dimension();
    }

    /** Number of rows. */
    public int size() {
        return size;
    }

    /** Number of lists. */
    public int nlist() {
        return mailboxes.length;
    }

    /** How many lists a search probes that does not say. */
    public int nprobe() {
        return nprobe;
    }

    /** How distances are measured. */
    public Metric metric() {
        return preparation.metric();
    }

    /** What scans the lists: {@code avx512}, {@code avx2}, {@code neon}, {@code vector}, {@code portable} or {@code java}. */
    public String kernel() {
        return scanner.kernel();
    }

    /** The table's mapping ids, one a list. */
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

    private void requireOpen() {
        if (!registration.isOpen()) {
            throw new IllegalArgumentException("table " + name() + " is closed: it is unregistered");
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private static final int ROWS_PER_STEP = 256;
        private static final int MOST_LISTS = 131_072;

        private String name = "ivf";
        private Metric metric = Metric.SQUARED_L2;
        private int nlist;
        private int nprobe = 16;
        private long seed = 42;

        private Builder() {}

        /** How the table shows in reports; default {@code ivf}. */
        public Builder name(String value) {
            this.name = value;
            return this;
        }

        /** How far two vectors are from each other; default squared L2. */
        public Builder metric(Metric value) {
            this.metric = value;
            return this;
        }

        /** Number of lists, from 1 to 131,072 and the number of rows; default four times the root of the latter. */
        public Builder nlist(int value) {
            this.nlist = requireLists("nlist", value);
            return this;
        }

        /** How many lists a search probes that does not say; from 1 to 131,072; default 16, or all where there are fewer. */
        public Builder nprobe(int value) {
            this.nprobe = requireLists("nprobe", value);
            return this;
        }

        /** Seed of the training; the same rows and seed give the same lists. */
        public Builder seed(long value) {
            this.seed = value;
            return this;
        }

        /** {@link #build(Orchestrator, long[], float[][])} with the rows' ordinals as ids. */
        public IvfTable build(Orchestrator orchestrator, float[][] vectors) {
            long[] ordinals = new long[vectors.length];
            Arrays.setAll(ordinals, i -> i);
            return build(orchestrator, ordinals, vectors);
        }

        /**
         * Trains and fills a table on the orchestrator's workers, as batch work beside what they serve. Blocks until it
         * stands.
         *
         * @param ids one for each row, no two equal
         * @param vectors at least one row, all of one dimension from 1 to 4,096, all finite; copied
         * @throws IllegalArgumentException if rows, ids or options are not as said; then nothing is registered
         */
        public IvfTable build(Orchestrator orchestrator, long[] ids, float[][] vectors) {
            RowPreparation preparation = RowPreparation.of(metric, vectors);
            Vectors.requireIds(ids, vectors.length);
            int lists = nlist == 0 ? defaultNlist(vectors.length) : nlist;
            if (lists > vectors.length) {
                throw new IllegalArgumentException(
                        "nlist must be at most the number of rows, " + vectors.length + ", got " + lists);
            }
            int probes = Math.min(nprobe, lists);

            ScanKernel kernel = ScanKernels.preferred();
            BatchWork work = new BatchWork(orchestrator, name + " (build)");
            RowSource rows = ordinal -> preparation.stored(vectors[ordinal]);
            float[][] centroids = new KMeans(kernel, work).train(rows, vectors.length, lists, seed);
            CoarseQuantizer quantizer = new CoarseQuantizer(kernel, centroids);
            InvertedLists inverted = fill(work, quantizer, rows, ids, lists, preparation.dimension());
            Registration registration = orchestrator.register(name, lists);
            return new IvfTable(
                    orchestrator, registration, preparation, kernel, quantizer, inverted, ids.length, probes);
        }

        private static InvertedLists fill(
                BatchWork work, CoarseQuantizer quantizer, RowSource rows, long[] ids, int lists, int dimension) {
            int[] list = new int[ids.length];
            work.run(ids.length, ROWS_PER_STEP, (from, to) -> quantizer.assign(rows, from, to, list));
            int[] sizes = new int[lists];
            int[] place = new int[ids.length];
            for (int row = 0; row < ids.length; row++) {
                place[row] = sizes[list[row]]++;
            }
            InvertedLists inverted = new InvertedLists(dimension, sizes);
            work.run(ids.length, ROWS_PER_STEP, (from, to) -> {
                for (int row = from; row < to; row++) {
                    inverted.write(list[row], place[row], ids[row], rows.row(row));
                }
            });
            return inverted;
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
