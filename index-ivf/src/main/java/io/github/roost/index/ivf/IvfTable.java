package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * An inverted file (Sivic and Zisserman, 2003): rows in lists by their nearest centroid, of which a query probes the
 * nearest few, exactly. Each list is a mapping id of its own, so the orchestrator places lists, not tables.
 *
 * <p>A query posts itself to the mailbox of each list it probes; a list with mail is queued once, on a worker of its
 * home domain, and scanned once for all queries that wait for it. Whoever finishes a query's last list merges its answer.
 *
 * <p>Immutable and thread-safe. Searches return at once; do not block on their futures on a worker of the orchestrator,
 * whose task may be the one that would complete them.
 */
public final class IvfTable implements AutoCloseable {
    /** The largest k of a search. */
    public static final int MAX_K = 10_000;
    /** The largest dimension. */
    public static final int MAX_DIMENSION = 4_096;

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
     * @param k how many rows, from 1 to {@value #MAX_K}; fewer are found where the probed lists hold fewer
     * @param nprobe how many lists, from 1 to {@link #nlist()}; all of them make the search exact
     * @return completes with the rows, nearest first, ties by ascending id; or with the failure of a scan, such as a
     *     rejection by the orchestrator's overload policy or the table having been closed
     * @throws IllegalArgumentException if an argument is out of its range
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int nprobe) {
        requireRange("k", k, MAX_K);
        requireRange("nprobe", nprobe, nlist());
        float[] prepared = preparation.prepareQuery(query);
        Metric coarse = preparation.metric() == Metric.INNER_PRODUCT ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
        int[] probed = quantizer.nearest(prepared, nprobe, coarse);
        IvfQuery pending = new IvfQuery(prepared, Math.min(k, size), probed.length);
        if (probed.length == 0) {
            pending.complete(Neighbors.EMPTY);
        }
        for (int list : probed) {
            if (mailboxes[list].post(pending)) {
                queue(list);
            }
        }
        return pending;
    }

    private void queue(int list) {
        try {
            orchestrator.submit(this::scan, list, registration.id(list)).whenComplete((done, failure) -> {
                if (failure != null) {
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
            query.completeExceptionally(failure);
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

    /** The table's mapping ids, one a list. */
    public Registration registration() {
        return registration;
    }

    /**
     * Unregisters the table: searches under way finish, later ones fail. The rows' memory is freed once the table is
     * unreachable.
     */
    @Override
    public void close() {
        registration.close();
    }

    private static void requireRange(String what, int value, int largest) {
        if (value < 1 || value > largest) {
            throw new IllegalArgumentException(
                    String.format("%s must be between 1 and %,d, got %,d", what, largest, value));
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private static final int ROWS_PER_STEP = 1024;

        private String name = "ivf";
        private Metric metric = Metric.SQUARED_L2;
        private int nlist;
        private int nprobe;
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

        /** Number of lists, from 1 to the number of rows; default four times the root of that, 39 rows a list or more. */
        public Builder nlist(int value) {
            this.nlist = requirePositive("nlist", value);
            return this;
        }

        /** How many lists a search probes that does not say; default an eighth of the lists. */
        public Builder nprobe(int value) {
            this.nprobe = requirePositive("nprobe", value);
            return this;
        }

        /** Seed of the training; the same rows and seed give the same lists. */
        public Builder seed(long value) {
            this.seed = value;
            return this;
        }

        /** {@link #build(Orchestrator, float[][], long[])} with the rows' ordinals as ids. */
        public IvfTable build(Orchestrator orchestrator, float[][] vectors) {
            long[] ordinals = new long[vectors.length];
            Arrays.setAll(ordinals, i -> i);
            return build(orchestrator, vectors, ordinals);
        }

        /**
         * Trains on the orchestrator's workers, registers the table and adds the rows. Blocks until it stands.
         *
         * @param vectors at least one row, all of one dimension from 1 to {@value IvfTable#MAX_DIMENSION}, all finite;
         *     copied
         * @param ids one for each row, no two equal
         * @throws IllegalArgumentException if rows, ids or options are not as said; then nothing is registered
         */
        public IvfTable build(Orchestrator orchestrator, float[][] vectors, long[] ids) {
            RowPreparation preparation = RowPreparation.of(metric, vectors);
            requireDistinct(ids, vectors.length);
            int lists = nlist == 0 ? defaultNlist(vectors.length) : nlist;
            requireRange("nlist", lists, vectors.length);
            int probes = nprobe == 0 ? (lists + 7) / 8 : nprobe;
            requireRange("nprobe", probes, lists);

            ScanKernel kernel = ScanKernels.preferred();
            Registration registration = orchestrator.register(name, lists);
            boolean built = false;
            try {
                BackgroundWork work = new BackgroundWork(orchestrator, registration);
                RowSource rows = ordinal -> preparation.stored(vectors[ordinal]);
                float[][] centroids = new KMeans(kernel, work).train(rows, vectors.length, lists, seed);
                CoarseQuantizer quantizer = new CoarseQuantizer(kernel, centroids);
                InvertedLists inverted = fill(work, quantizer, rows, ids, lists, preparation.dimension());
                built = true;
                return new IvfTable(
                        orchestrator, registration, preparation, kernel, quantizer, inverted, ids.length, probes);
            } finally {
                if (!built) {
                    registration.close();
                }
            }
        }

        private static InvertedLists fill(
                BackgroundWork work, CoarseQuantizer quantizer, RowSource rows, long[] ids, int lists, int dimension) {
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
            return (int) Math.max(1, Math.min(Math.round(4 * Math.sqrt(rows)), rows / 39));
        }

        private static void requireDistinct(long[] ids, int rows) {
            if (ids.length != rows) {
                throw new IllegalArgumentException("ids must be one for each of " + rows + " rows, got " + ids.length);
            }
            long[] sorted = ids.clone();
            Arrays.sort(sorted);
            for (int i = 1; i < sorted.length; i++) {
                if (sorted[i] == sorted[i - 1]) {
                    throw new IllegalArgumentException("ids must be distinct, got " + sorted[i] + " twice");
                }
            }
        }

        private static int requirePositive(String what, int value) {
            if (value < 1) {
                throw new IllegalArgumentException(what + " must be at least 1, got " + value);
            }
            return value;
        }
    }
}
