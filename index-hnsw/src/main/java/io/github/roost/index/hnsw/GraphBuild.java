package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.roost.core.Metric;
import io.github.roost.core.Vectors;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphWalks;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.function.UnaryOperator;

/**
 * Builds a table's graph on an orchestrator's workers, from the caller's rows to its place in memory, giving way to
 * searches. Used once.
 */
final class GraphBuild {
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    /** How much of a build is done when its rows are read, and when they are inserted. */
    private static final double READ = .02;

    private static final double INSERTED = .97;
    /** Rows read at a time. */
    private static final int READ_RUN = 64;
    /** Rows inserted before a worker turns to other batch work. */
    private static final int RUN = 4;
    /** Rows whose surplus neighbours are dropped before a worker turns to other batch work: a thousandth of the work. */
    private static final int TRIM_RUN = 64;

    private final BuildWork work;
    private final GraphOptions options;

    GraphBuild(BuildWork work, GraphOptions options) {
        this.work = work;
        this.options = options;
    }

    /**
     * What a graph is built of.
     *
     * @param rows in the space of the graph
     * @param scores how near they are to each other
     */
    private record Prepared(GraphSpace space, DistinctRows rows, RowScores scores) {}

    /**
     * Builds a graph of rows that are read now, with one id per row.
     *
     * @throws IllegalArgumentException if a row is not as tables take it
     */
    GraphImage run(long[] ids, VectorSource source) {
        float[][] vectors = new float[source.size()][];
        work.phase(READ, vectors.length);
        work.run(vectors.length, READ_RUN, (from, to) -> {
            for (int row = from; row < to; row++) {
                vectors[row] = source.row(row);
                Vectors.requireRow(row, vectors[row], source.dimension(), options.metric());
            }
        });
        return run(ids, vectors);
    }

    /** One id per vector; both have been checked. */
    GraphImage run(long[] ids, float[][] vectors) {
        Prepared prepared = work.once(() -> prepare(ids, vectors));
        work.phase(INSERTED, 2L * prepared.scores().size());
        OnHeapGraphIndex graph = graph(prepared.scores());
        work.phase(1, prepared.scores().size());
        GraphImage image = new GraphFreezer(work, graph, prepared.rows()).freeze(prepared.space(), options);
        if (options.metric() == Metric.INNER_PRODUCT) {
            new InnerProductLinks(work, image, GraphWalks.preferred(), options.efConstruction()).add();
        }
        return image;
    }

    private Prepared prepare(long[] ids, float[][] vectors) {
        GraphSpace space = GraphSpace.of(vectors, options.metric(), work::giveWay);
        float[][] inSpace = map(vectors, space::row);
        DistinctRows rows = DistinctRows.of(ids, inSpace, work::giveWay);
        float[][] distinct = rows.vectors();
        RowScores scores =
                new RowScores(options.metric() == Metric.INNER_PRODUCT ? ofOneNorm(distinct) : distinct, work::giveWay);
        return new Prepared(space, rows, scores);
    }

    private float[][] map(float[][] vectors, UnaryOperator<float[]> change) {
        float[][] changed = new float[vectors.length][];
        for (int row = 0; row < changed.length; row++) {
            work.giveWay();
            changed[row] = change.apply(vectors[row]);
        }
        return changed;
    }

    /**
     * Largest inner product becomes smallest L2 distance by one more dimension that brings all rows to one norm and is
     * zero in queries (Bachrach et al., RecSys 2014): inner product itself is no distance, and graphs built on it lose
     * most of their neighbours. A walk over the graph measures the inner product itself, which ranks alike.
     */
    private float[][] ofOneNorm(float[][] rows) {
        int dimension = rows[0].length;
        double longest = 0;
        for (float[] row : rows) {
            work.giveWay();
            longest = Math.max(longest, GraphSpace.squaredNorm(row));
        }
        double most = longest;
        return map(rows, row -> {
            float[] longer = Arrays.copyOf(row, dimension + 1);
            longer[dimension] = (float) Math.sqrt(most - GraphSpace.squaredNorm(row));
            return longer;
        });
    }

    private OnHeapGraphIndex graph(RowScores scores) {
        // Two degrees, the second for all upper layers: one alone would make a graph without layers.
        GraphIndexBuilder builder = GraphIndexBuilder.builder(
                        scores, scores.dimension(), List.of(2 * options.m(), options.m()))
                .withBeamWidth(options.efConstruction())
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                // Neither is used: what jvector would run on them is done below on the workers.
                .withSimdExecutor(ForkJoinPool.commonPool())
                .withParallelExecutor(ForkJoinPool.commonPool())
                .build();
        work.forEach(scores.size(), RUN, row -> builder.addGraphNode(row, scores.searchProviderFor(row)));
        OnHeapGraphIndex graph = (OnHeapGraphIndex) builder.getGraph();
        // Neighbour lists that the build let grow over their length are brought back to it, the most diverse staying.
        work.forEach(scores.size(), TRIM_RUN, graph::enforceDegree);
        return graph;
    }
}
