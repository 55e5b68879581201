package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.GraphInsertion;
import io.github.roost.index.hnsw.search.GraphSearchers;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.math.CodeRecall;
import io.github.roost.vector.math.ScalarQuantizer;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Builds a table's graph on an orchestrator's workers, from the caller's rows to the image, yielding to searches. Used once.
 */
public final class GraphBuild {
    /** Progress of a build after its rows are read; the next three after they are inserted, copied into the image, and linked. */
    private static final double READ = .02;

    private static final double INSERTED = .95;
    private static final double WRITTEN = .97;
    /** Not 1, because the layout may have to be chosen yet. */
    private static final double LINKED = .98;
    /** Share of the progress before the links by inner product, whose searches take a third of the time. */
    private static final double BEFORE_LINKS = .65;
    /** A list that the diversity heuristic leaves partly empty is filled by neighbors that are nearer to a chosen one by at most this factor. */
    private static final float MAX_COVER = 1.5f;
    /**
     * Nodes inserted by one worker before all workers insert in parallel. In a smaller graph, nodes inserted concurrently would be
     * likely to be each other's nearest, and would not see each other.
     */
    private static final int ALONE = 1_024;
    /** Rows inserted per step of batch work. */
    private static final int RUN = 4;

    private final BuildWork work;
    private GraphOptions options;
    private GraphLayout.Choice layout = new GraphLayout.Choice(GraphLayout.FLOAT32, "it was requested");

    public GraphBuild(BuildWork work, GraphOptions options) {
        this.work = work;
        this.options = options;
    }

    /**
     * Reads the rows and builds their graph, with one id per row.
     *
     * @throws IllegalArgumentException if a row is not finite, or zero under cosine
     */
    public GraphImage run(long[] ids, VectorSource source) {
        work.phase(READ, source.size());
        GraphImage image;
        boolean normsVary = false;
        try (GraphRows rows = GraphRows.read(work, source, options.metric())) {
            DistinctRows distinct = work.once(() -> DistinctRows.of(ids, rows, work::yieldToSearches));
            DistinctRows nodes = distinct;
            if (options.elementType() == ElementType.INT8) {
                layout = work.once(() -> GraphLayout.byRecall(codeRecall(rows, distinct)));
                if (layout.layout() == GraphLayout.FLOAT32) {
                    options = options.withElementType(ElementType.FLOAT32);
                }
            }
            RowNorms norms = options.metric() == Metric.INNER_PRODUCT ? RowNorms.of(work, rows, nodes) : null;
            normsVary = norms != null && norms.vary();
            if (norms != null && normsVary) {
                // Each row then finds rows of its norm or larger as neighbors, which keep a path to it when smaller
                // rows follow. In the calling thread, because a sort cannot yield to searches.
                nodes = nodes.ordered(norms.largestFirst());
            }
            NormedRows vectors = NormedRows.of(rows, norms);
            image = options.builtInJava() || !GraphInsertion.isAvailable()
                    ? inJava(rows, nodes, vectors, normsVary)
                    : insert(rows, nodes, vectors, normsVary);
        }
        if (normsVary) {
            work.phase(LINKED, InnerProductLinks.steps(image));
            InnerProductLinks.add(work, image, GraphSearchers.preferred(), options.efConstruction());
        }
        return image;
    }

    /** The layout of the image that was built. */
    public GraphLayout.Choice layout() {
        return layout;
    }

    private double codeRecall(GraphRows rows, DistinctRows nodes) {
        ScalarQuantizer quantizer = ScalarQuantizer.of(Arrays.stream(ScalarQuantizer.sample(nodes.nodes()))
                .mapToObj(node -> rows.vector(nodes.row(node)))
                .toArray(float[][]::new));
        return CodeRecall.of(
                options.metric(),
                quantizer,
                node -> rows.vector(nodes.row(node)),
                nodes.nodes(),
                CodeRecall.QUERIES,
                work::yieldToSearches);
    }

    /** The progress that is {@code usual} if no links follow. */
    private static double progress(double usual, boolean normsVary) {
        return normsVary ? BEFORE_LINKS * usual : usual;
    }

    /** @param normsVary whether the nodes are in the order of their norms, which vary, under inner product */
    private GraphImage insert(GraphRows rows, DistinctRows distinct, NormedRows vectors, boolean normsVary) {
        NodeLevels levels = normsVary
                ? NodeLevels.inOrder(distinct.nodes(), options.m())
                : work.once(() -> NodeLevels.random(distinct.nodes(), options.m()));
        DistinctRows nodes = distinct.ordered(levels.order());
        int[] insertion = levels.insertion();
        int count = nodes.nodes();
        work.phase(progress(INSERTED, normsVary), 3L * count);
        try (GraphInsertion graph = new GraphInsertion(
                vectors.dimension(),
                options.m(),
                options.efConstruction(),
                MAX_COVER,
                count,
                levels.counts(),
                options.elementType() == ElementType.INT8 && !normsVary)) {
            work.forEach(count, ALONE, node -> graph.setVector(node, vectors.of(nodes.row(node))));
            // The graph has copied the vectors into its own memory.
            rows.close();
            work.once(() -> {
                graph.encode(work::yieldToSearches);
                return graph;
            });
            int alone = Math.min(count, ALONE);
            work.run(1, 1, (from, to) -> {
                for (int i = 0; i < alone; i++) {
                    work.yieldToSearches();
                    graph.insert(insertion[i], work::yieldToSearches);
                }
            });
            work.forEach(count - alone, RUN, i -> graph.insert(insertion[alone + i], work::yieldToSearches));
            work.forEach(count, ALONE, graph::trim);
            work.once(() -> {
                graph.linkRare(work::yieldToSearches);
                return graph;
            });
            work.phase(progress(WRITTEN, normsVary), count);
            int dimension = rows.dimension();
            return new ImageWriter(
                            work, new Inserted(graph), nodes, (node, into) -> graph.vector(node, into, dimension))
                    .write(rows.space(), dimension, options);
        }
    }

    private GraphImage inJava(GraphRows rows, DistinctRows nodes, NormedRows vectors, boolean normsVary) {
        JavaGraphBuilder builder = JavaGraphBuilder.require();
        float[][] all = new float[nodes.nodes()][];
        work.forEach(all.length, ALONE, node -> all[node] = vectors.of(nodes.row(node)));
        work.phase(progress(INSERTED, normsVary), 2L * all.length);
        BuiltGraph graph = builder.build(work, all, options);
        work.phase(progress(WRITTEN, normsVary), all.length);
        return new ImageWriter(work, graph, nodes, (node, into) -> rows.vector(nodes.row(node), into))
                .write(rows.space(), rows.dimension(), options);
    }

    /** The graph that insertion has built. */
    private record Inserted(GraphInsertion graph) implements BuiltGraph {
        @Override
        public int levels() {
            return graph.levels();
        }

        @Override
        public int entry() {
            return 0;
        }

        @Override
        public int[] rows(int level) {
            return IntStream.range(0, graph.nodes(level)).toArray();
        }

        @Override
        public int neighbors(int level, int row, int[] into) {
            return graph.neighbors(level, row, into);
        }
    }

    /**
     * The rows from which a graph is built. Maximum inner product search is reduced to nearest neighbors in L2 by one more dimension,
     * which gives all rows the same norm and is zero in queries (Bachrach et al., RecSys 2014): inner product is not a distance, and
     * graphs built on it lose most of their neighbors. Searches of the graph compute the inner product, which ranks in the same order.
     * Under other metrics rows are unchanged. Immutable.
     *
     * @param dimension components per row
     * @param maxSquared the largest squared norm of the rows; unused if rows are unchanged
     */
    private record NormedRows(GraphRows rows, int dimension, double maxSquared) {
        /** @param norms the norms of the rows under inner product; null under other metrics */
        static NormedRows of(GraphRows rows, @Nullable RowNorms norms) {
            return norms == null
                    ? new NormedRows(rows, rows.dimension(), 0)
                    : new NormedRows(rows, rows.dimension() + 1, norms.maxSquared());
        }

        float[] of(int row) {
            float[] values = rows.vector(row);
            if (dimension == values.length) {
                return values;
            }
            float[] longer = Arrays.copyOf(values, dimension);
            longer[values.length] = (float) Math.sqrt(maxSquared - GraphSpace.squaredNorm(values));
            return longer;
        }
    }
}
