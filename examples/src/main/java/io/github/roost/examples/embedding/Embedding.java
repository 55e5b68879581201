package io.github.roost.examples.embedding;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.topology.TopologyReader;

public final class Embedding {
    private Embedding() {}

    /** The ten rows nearest to a query. */
    public static long[] nearest(float[][] rows, float[] query) {
        var machine = TopologyReader.live().read();
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(machine).build();
                HnswTable table = HnswTable.builder().name("products").build(orchestrator, rows)) {
            Neighbors found = orchestrator
                    .submit(table.searchFunction(10, 64), query, table.mappingId())
                    .join();
            return found.ids();
        }
    }
}
