package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.kernel.VectorModule;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphInsertion;
import io.github.roost.index.hnsw.walk.GraphWalks;

/**
 * Builds a table's graph on an orchestrator's workers, from the caller's rows to its place in memory, giving way to
 * searches. Used once.
 */
final class GraphBuild {
    /** How much of a build is done when its rows are read, and when they are inserted. */
    private static final double READ = .02;

    private static final double INSERTED = .97;
    /** As jvector's: lists that the heuristic leaves half empty are filled by a milder rule. */
    private static final float ALPHA = 1.2f;
    /**
     * Nodes that one worker inserts before all do: among fewer, those that are inserted at the same time would be each
     * other's nearest, and not know of each other.
     */
    private static final int ALONE = 1_024;
    /** Rows inserted before a worker turns to other batch work. */
    private static final int RUN = 4;

    private final BuildWork work;
    private final GraphOptions options;

    GraphBuild(BuildWork work, GraphOptions options) {
        this.work = work;
        this.options = options;
    }

    /**
     * Builds a graph of rows that are read now, with one id per row.
     *
     * @throws IllegalArgumentException if a row is not as tables take it
     */
    GraphImage run(long[] ids, VectorSource source) {
        work.phase(READ, source.size());
        GraphImage image;
        try (GraphRows rows = GraphRows.read(work, source, options.metric())) {
            DistinctRows nodes = work.once(() -> DistinctRows.of(ids, rows, work::giveWay));
            NormedRows vectors = NormedRows.of(work, rows, nodes, options.metric());
            image = options.buildMethod() == BuildMethod.NATIVE && GraphInsertion.isAvailable()
                    ? insert(rows, nodes, vectors)
                    : byJvector(rows, nodes, vectors);
        }
        if (options.metric() == Metric.INNER_PRODUCT) {
            new InnerProductLinks(work, image, GraphWalks.preferred(), options.efConstruction()).add();
        }
        return image;
    }

    private GraphImage insert(GraphRows rows, DistinctRows distinct, NormedRows vectors) {
        NodeLevels levels = work.once(() -> NodeLevels.of(distinct.nodes(), options.m()));
        DistinctRows nodes = distinct.ordered(levels.order());
        int count = nodes.nodes();
        work.phase(INSERTED, 3L * count);
        try (GraphInsertion graph = new GraphInsertion(
                vectors.dimension(), options.m(), options.efConstruction(), ALPHA, count, levels.counts())) {
            work.forEach(count, ALONE, node -> graph.setVector(node, vectors.of(nodes.row(node))));
            // All that the graph reads is in its own memory now.
            rows.close();
            int alone = Math.min(count, ALONE);
            work.run(1, 1, (from, to) -> {
                for (int node = 0; node < alone; node++) {
                    work.giveWay();
                    graph.insert(node, work::giveWay);
                }
            });
            work.forEach(count - alone, RUN, node -> graph.insert(alone + node, work::giveWay));
            work.forEach(count, ALONE, graph::trim);
            work.phase(1, count);
            int dimension = rows.dimension();
            return new GraphFreezer(work, graph.links(), nodes, (node, into) -> graph.vector(node, into, dimension))
                    .freeze(rows.space(), dimension, options);
        }
    }

    private GraphImage byJvector(GraphRows rows, DistinctRows nodes, NormedRows vectors) {
        VectorModule.requireArguments();
        float[][] all = new float[nodes.nodes()][];
        work.forEach(all.length, ALONE, node -> all[node] = vectors.of(nodes.row(node)));
        RowScores scores = work.once(() -> new RowScores(all, work::giveWay));
        work.phase(INSERTED, 2L * all.length);
        JvectorGraph graph = JvectorGraph.build(work, scores, options);
        work.phase(1, all.length);
        return new GraphFreezer(work, graph, nodes, (node, into) -> rows.vector(nodes.row(node), into))
                .freeze(rows.space(), rows.dimension(), options);
    }
}
