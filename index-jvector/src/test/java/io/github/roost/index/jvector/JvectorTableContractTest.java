package io.github.roost.index.jvector;

import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.SearchContract;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;

class JvectorTableContractTest extends SearchContract<JvectorTable> {
    @Override
    protected JvectorTable build(Orchestrator places, Metric metric) {
        JvectorTable.Builder builder = JvectorTable.builder().metric(metric);
        RandomAccessVectorValues vectors = Graphs.vectors(VECTORS);
        try {
            return builder.build(places, Graphs.build(vectors, Scores.function(metric)), vectors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
