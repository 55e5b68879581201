package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphBuild;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.spi.BuildWork;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a graph of vectors into the layout that {@link LayoutRule} chooses. If a sample has to decide, makes a copy with codes,
 * searches both graphs, and frees one of them. Stateless.
 */
final class LayoutSelection {
    private static final Logger LOG = LoggerFactory.getLogger(LayoutSelection.class);

    /** Nodes copied per step of batch work. */
    private static final int RUN = 64;

    private LayoutSelection() {}

    /** A graph, and its layout with the reason for it. */
    record Selected(Graph graph, GraphLayout.Choice choice) {}

    /**
     * Builds a graph in the layout that the options request, or in {@link GraphLayout#FLOAT32} if codes would lose too much.
     *
     * @param name the table's name, for the log
     */
    static Selected requested(BuildWork work, String name, GraphOptions options, long[] ids, VectorSource rows) {
        GraphBuild build = new GraphBuild(work, options);
        Graph graph = new Graph(build.run(ids, rows));
        GraphLayout.Choice choice = build.layout();
        if (options.elementType() == ElementType.INT8 && choice.layout() == GraphLayout.FLOAT32) {
            LOG.info("table {} is laid out as {}: {}", name, choice.layout(), choice.reason());
        }
        return new Selected(graph, choice);
    }

    /**
     * Chooses the layout.
     *
     * @param name the table's name, for the log
     * @param plain the graph of vectors; must not be used afterwards
     * @param target recall at which layouts are compared
     * @param memoryLimit max bytes of the table
     */
    static Selected of(BuildWork work, String name, GraphImage plain, double target, long memoryLimit) {
        GraphImage.Shape shape = plain.shape();
        Graph floats = new Graph(plain);
        Optional<GraphLayout.Choice> told = LayoutRule.withoutSample(
                shape.dimension(), shape.nodes(), shape.withCodes().bytes(), memoryLimit);
        if (told.isPresent()) {
            LOG.debug(
                    "table {} is laid out as {}: {}",
                    name,
                    told.get().layout(),
                    told.get().reason());
            return new Selected(floats, told.get());
        }
        work.phase(1, shape.nodes());
        Graph codes = new Graph(coded(work, plain));
        LayoutSample sample = new LayoutSample(work, floats);
        GraphLayout.Choice choice =
                LayoutRule.bySample(target, sample.cost(floats, target), sample.cost(codes, target));
        Graph chosen = choice.layout() == GraphLayout.INT8 ? codes : floats;
        DomainMemory.release((chosen == codes ? floats : codes).image().memory());
        LOG.info("table {} is laid out as {}: {}", name, choice.layout(), choice.reason());
        return new Selected(chosen, choice);
    }

    private static GraphImage coded(BuildWork work, GraphImage plain) {
        GraphImage coded = GraphImage.allocate(plain.shape().withCodes());
        int nodes = plain.shape().nodes();
        work.run(nodes, RUN, (from, to) -> {
            float[] vector = new float[plain.shape().dimension()];
            int[] neighbors = new int[plain.shape().degree()];
            for (int node = from; node < to; node++) {
                work.yieldToSearches();
                plain.vector(node, vector);
                coded.setVector(node, vector);
                coded.copyLinksAndRows(plain, node, neighbors);
            }
        });
        coded.setFirstRow(nodes, plain.shape().rows());
        return work.once(() -> coded.encode(work::yieldToSearches));
    }
}
