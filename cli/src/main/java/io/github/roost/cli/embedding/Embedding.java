package io.github.roost.cli.embedding;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;

public final class Embedding {
    private Embedding() {}

    /** The ids of the ten rows nearest to a query. */
    public static long[] nearest(float[][] rows, float[] query) {
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable table = HnswTable.builder().name("products").build(orchestrator, rows)) {
            return table.search(query, 10).join().ids();
        }
    }
}
