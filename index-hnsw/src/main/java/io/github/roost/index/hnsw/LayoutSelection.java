package io.github.roost.index.hnsw;

import io.github.roost.core.vector.BuildWork;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.topology.DomainMemory;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a graph of vectors the layout that {@link LayoutRule} chooses: where a sample has to tell, a copy by codes is made, both are
 * searched, and one of them goes. Stateless.
 */
final class LayoutSelection {
    private static final Logger LOG = LoggerFactory.getLogger(LayoutSelection.class);

    /** Nodes copied before a worker turns to other batch work. */
    private static final int RUN = 64;

    private LayoutSelection() {}

    /** A graph and why it is as it is. */
    record Selected(FrozenGraph graph, LayoutChoice choice) {}

    /**
     * Chooses.
     *
     * @param name the table's, for the log
     * @param plain of vectors; not to be used any more
     * @param target recall at which layouts are compared
     * @param memoryLimit of the table
     */
    static Selected of(BuildWork work, String name, GraphImage plain, double target, long memoryLimit) {
        GraphImage.Shape shape = plain.shape();
        FrozenGraph floats = new FrozenGraph(plain);
        Optional<LayoutChoice> told = LayoutRule.withoutSample(
                shape.dimension(), shape.nodes(), shape.withCodes().bytes(), memoryLimit);
        if (told.isPresent()) {
            LOG.debug(
                    "table {} is laid out as {}: {}",
                    name,
                    told.get().layout(),
                    told.get().reason());
            return new Selected(floats, told.get());
        }
        FrozenGraph codes = new FrozenGraph(coded(work, plain));
        LayoutSample sample = new LayoutSample(work, floats);
        LayoutChoice choice = LayoutRule.bySample(target, sample.cost(floats, target), sample.cost(codes, target));
        FrozenGraph chosen = choice.layout() == GraphLayout.INT8 ? codes : floats;
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
                work.giveWay();
                plain.vector(node, vector);
                coded.setVector(node, vector);
                coded.copyLinksAndRows(plain, node, neighbors);
            }
        });
        coded.setFirstRow(nodes, plain.shape().rows());
        return work.once(() -> coded.encode(work::giveWay));
    }
}
