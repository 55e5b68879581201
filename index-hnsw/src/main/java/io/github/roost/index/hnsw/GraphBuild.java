package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.indexing.BuildWork;
import io.github.roost.core.kernel.VectorModule;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphInsertion;
import io.github.roost.index.hnsw.walk.GraphWalks;
import org.jspecify.annotations.Nullable;

/**
 * Builds a table's graph on an orchestrator's workers, from the caller's rows to the frozen image, yielding to searches. Used once.
 */
final class GraphBuild {
    /** Progress of a build after its rows are read; the next three after they are inserted, copied into the image, and linked. */
    private static final double READ = .02;

    private static final double INSERTED = .95;
    private static final double FROZEN = .97;
    /** Not 1, because the layout may have to be chosen yet. */
    private static final double LINKED = .98;
    /** Share of the progress before the links by inner product, whose searches take a third of the time. */
    private static final double BEFORE_LINKS = .65;
    /** As in jvector: a list that the diversity heuristic leaves partly empty is filled by the heuristic with this slack. */
    private static final float ALPHA = 1.2f;
    /**
     * Nodes inserted by one worker before all workers insert in parallel. In a smaller graph, nodes inserted concurrently would be
     * likely to be each other's nearest, and would not see each other.
     */
    private static final int ALONE = 1_024;
    /** Rows inserted per step of batch work. */
    private static final int RUN = 4;

    private final BuildWork work;
    private final GraphOptions options;

    GraphBuild(BuildWork work, GraphOptions options) {
        this.work = work;
        this.options = options;
    }

    /**
     * Reads the rows and builds their graph, with one id per row.
     *
     * @throws IllegalArgumentException if a row is not finite, or zero under cosine
     */
    GraphImage run(long[] ids, VectorSource source) {
        work.phase(READ, source.size());
        GraphImage image;
        RowNorms varying = null;
        try (GraphRows rows = GraphRows.read(work, source, options.metric())) {
            DistinctRows nodes = work.once(() -> DistinctRows.of(ids, rows, work::yieldToSearches));
            RowNorms norms = options.metric() == Metric.INNER_PRODUCT ? RowNorms.of(work, rows, nodes) : null;
            varying = norms != null && norms.vary() ? norms : null;
            NormedRows vectors = NormedRows.of(rows, norms);
            image = options.buildMethod() == BuildMethod.NATIVE && GraphInsertion.isAvailable()
                    ? insert(rows, nodes, vectors, varying)
                    : byJvector(rows, nodes, vectors, varying);
        }
        if (varying != null) {
            work.phase(LINKED, InnerProductLinks.steps(image));
            InnerProductLinks.add(work, image, GraphWalks.preferred(), options.efConstruction());
        }
        return image;
    }

    /** The progress that is {@code usual} if no links follow. */
    private static double progress(double usual, @Nullable RowNorms varying) {
        return varying == null ? usual : BEFORE_LINKS * usual;
    }

    /** @param varying the norms under inner product, if they vary */
    private GraphImage insert(GraphRows rows, DistinctRows distinct, NormedRows vectors, @Nullable RowNorms varying) {
        NodeLevels levels = work.once(() -> varying == null
                ? NodeLevels.random(distinct.nodes(), options.m())
                : NodeLevels.byNorm(varying, options.m()));
        DistinctRows nodes = distinct.ordered(levels.order());
        int count = nodes.nodes();
        work.phase(progress(INSERTED, varying), 3L * count);
        try (GraphInsertion graph = new GraphInsertion(
                vectors.dimension(), options.m(), options.efConstruction(), ALPHA, count, levels.counts())) {
            work.forEach(count, ALONE, node -> graph.setVector(node, vectors.of(nodes.row(node))));
            // The graph has copied the vectors into its own memory.
            rows.close();
            int alone = Math.min(count, ALONE);
            work.run(1, 1, (from, to) -> {
                for (int node = 0; node < alone; node++) {
                    work.yieldToSearches();
                    graph.insert(node, work::yieldToSearches);
                }
            });
            work.forEach(count - alone, RUN, node -> graph.insert(alone + node, work::yieldToSearches));
            work.forEach(count, ALONE, graph::trim);
            work.phase(progress(FROZEN, varying), count);
            int dimension = rows.dimension();
            return new GraphFreezer(work, graph.links(), nodes, (node, into) -> graph.vector(node, into, dimension))
                    .freeze(rows.space(), dimension, options);
        }
    }

    private GraphImage byJvector(GraphRows rows, DistinctRows nodes, NormedRows vectors, @Nullable RowNorms varying) {
        VectorModule.requireArguments();
        float[][] all = new float[nodes.nodes()][];
        work.forEach(all.length, ALONE, node -> all[node] = vectors.of(nodes.row(node)));
        RowScores scores = work.once(() -> new RowScores(all, work::yieldToSearches));
        work.phase(progress(INSERTED, varying), 2L * all.length);
        JvectorGraph graph = JvectorGraph.build(work, scores, options);
        work.phase(progress(FROZEN, varying), all.length);
        return new GraphFreezer(work, graph, nodes, (node, into) -> rows.vector(nodes.row(node), into))
                .freeze(rows.space(), rows.dimension(), options);
    }
}
