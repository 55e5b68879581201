package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.Vectors;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.index.ivf.kernel.TopK;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

/**
 * An IVF table (Sivic and Zisserman, ICCV 2003; Jégou et al., IEEE TPAMI 33(1), 2011): vectors in lists by their nearest
 * centroid. A query scans the lists of the nearest centroids exactly, each list as a task on the list's own home, and
 * the last to finish merges. Thread-safe.
 *
 * <pre>{@code
 * IvfTable table = IvfTable.builder().name("products").nlist(256).nprobe(16).build(orchestrator, vectors);
 * CompletableFuture<Neighbors> answer = table.search(query, 10);
 * }</pre>
 */
public final class IvfTable implements AutoCloseable {
    private final Orchestrator orchestrator;
    private final Registration registration;
    private final ScanKernel kernel;
    private final Metric metric;
    private final int dimension;
    private final int size;
    private final int nprobe;
    private final CoarseQuantizer quantizer;
    private final InvertedLists lists;

    private IvfTable(
            Orchestrator orchestrator,
            Builder options,
            int dimension,
            int size,
            CoarseQuantizer quantizer,
            InvertedLists lists) {
        this.orchestrator = orchestrator;
        this.registration = orchestrator.register(options.name, quantizer.lists());
        this.kernel = options.kernel;
        this.metric = options.metric;
        this.dimension = dimension;
        this.size = size;
        this.nprobe = Math.min(options.nprobe, quantizer.lists());
        this.quantizer = quantizer;
        this.lists = lists;
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
     * The k nearest of the rows in the nearest lists.
     *
     * @param query finite, of the table's dimension; not copied, must not change until the answer is there
     * @param k neighbours wanted, from 1 to 10,000; fewer come where the lists hold fewer
     * @param lists how many lists to scan, from 1 to {@link #nlist()}
     */
    public CompletableFuture<Neighbors> search(float[] query, int k, int lists) {
        Vectors.require("query", query, dimension, metric);
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        Vectors.requireRange("nprobe", lists, 1, nlist());
        float[] scanned = query;
        if (metric == Metric.COSINE) {
            scanned = query.clone();
            KMeans.normalize(scanned, 0, dimension);
        }
        ListQuery listQuery = new ListQuery(scanned, k);
        List<Part<ListQuery, Neighbors>> parts = new ArrayList<>(lists);
        for (long list : quantizer.nearest(scanned, lists).ids()) {
            parts.add(part((int) list, listQuery));
        }
        return orchestrator.fanOut(parts, results -> Neighbors.merge(results, k));
    }

    private record ListQuery(float[] query, int k) {}

    private Part<ListQuery, Neighbors> part(int list, ListQuery query) {
        return new Part<>((asked, context) -> scan(list, asked, context), query, registration.id(list));
    }

    private Neighbors scan(int list, ListQuery asked, SearchContext context) {
        long rows = lists.size(list);
        TopK top = new TopK(1, (int) Math.max(1, Math.min(asked.k, rows)));
        kernel.scan(metric, asked.query, dimension, lists.rows(list), lists.ids(list), rows, top);
        // The paper's estimate: S rows of the list, each a vector.
        context.touched(rows, rows * dimension * Float.BYTES);
        return top.neighbors(0);
    }

    /** The table's name. */
    public String name() {
        return registration.name();
    }

    /** Number of lists. */
    public int nlist() {
        return quantizer.lists();
    }

    /** Lists that a search scans unless it says otherwise. */
    public int nprobe() {
        return nprobe;
    }

    /** Number of vectors. */
    public int size() {
        return size;
    }

    /** Dimension of the vectors. */
    public int dimension() {
        return dimension;
    }

    /** How distances are measured. */
    public Metric metric() {
        return metric;
    }

    /** The table's mapping ids, one a list. */
    public Registration registration() {
        return registration;
    }

    /** What scans the lists: {@code avx512}, {@code avx2}, {@code neon}, {@code portable} or {@code java}. */
    public String kernel() {
        return kernel.name();
    }

    /**
     * Unregisters the table, and frees its memory once the searches already accepted have finished. Later searches are
     * refused.
     */
    @Override
    public void close() {
        if (registration.isOpen()) {
            registration.close();
            orchestrator.quiesce().thenRun(lists::close);
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private String name = "ivf";
        private Metric metric = Metric.SQUARED_L2;
        private int nlist;
        private int nprobe = 16;
        private long seed = 42;
        private ScanKernel kernel = ScanKernels.best();

        private Builder() {}

        /** The name under which the table shows in reports; default {@code ivf}. */
        public Builder name(String value) {
            this.name = value;
            return this;
        }

        /** How distances are measured; default squared L2. */
        public Builder metric(Metric value) {
            this.metric = value;
            return this;
        }

        /** Number of lists, from 1 to 131,072; default four times the square root of the number of rows. */
        public Builder nlist(int value) {
            Vectors.requireRange("nlist", value, 1, 131_072);
            this.nlist = value;
            return this;
        }

        /** Lists that a search scans unless it says otherwise, from 1 to 131,072; default 16. */
        public Builder nprobe(int value) {
            Vectors.requireRange("nprobe", value, 1, 131_072);
            this.nprobe = value;
            return this;
        }

        /** Seed of the training; default 42. The same rows and seed give the same lists. */
        public Builder seed(long value) {
            this.seed = value;
            return this;
        }

        /** For tests: what scans. */
        Builder kernel(ScanKernel value) {
            this.kernel = value;
            return this;
        }

        /** Builds a table whose ids are the rows' ordinals. */
        public IvfTable build(Orchestrator orchestrator, float[][] rows) {
            return build(orchestrator, LongStream.range(0, rows.length).toArray(), rows);
        }

        /**
         * Trains and fills a table on the orchestrator's workers, as batch work beside what they serve.
         *
         * @param ids one external id a row, none twice
         * @param rows at least one and at least nlist, all of one dimension from 1 to 4,096, finite; copied
         * @throws IllegalArgumentException if a row, an id or an option is not as said
         */
        public IvfTable build(Orchestrator orchestrator, long[] ids, float[][] rows) {
            int dimension = Vectors.requireTable(rows, metric);
            Vectors.requireIds(ids, rows.length);
            int count = nlist == 0 ? Math.clamp((long) (4 * Math.sqrt(rows.length)), 1, rows.length) : nlist;
            if (count > rows.length) {
                throw new IllegalArgumentException(
                        "nlist must be at most the number of rows, " + rows.length + ", got " + count);
            }
            float[][] stored = metric == Metric.COSINE ? normalized(rows) : rows;
            KMeans training = new KMeans(
                    kernel, metric, (pieces, piece) -> orchestrator.runBatch(name + " (build)", pieces, piece));
            CoarseQuantizer quantizer = training.train(stored, count, seed);
            int[] listOf = training.assign(quantizer, stored);
            InvertedLists lists = new InvertedLists(stored, ids, listOf, count);
            return new IvfTable(orchestrator, this, dimension, rows.length, quantizer, lists);
        }

        private static float[][] normalized(float[][] rows) {
            float[][] copies = new float[rows.length][];
            for (int row = 0; row < rows.length; row++) {
                copies[row] = rows[row].clone();
                KMeans.normalize(copies[row], 0, copies[row].length);
            }
            return copies;
        }
    }
}
