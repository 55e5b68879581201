package io.github.roost.index.jvector.build;

import io.github.roost.index.hnsw.graph.BuiltGraph;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.index.hnsw.graph.JavaGraphBuilder;
import io.github.roost.vector.kernel.VectorModule;
import io.github.roost.vector.spi.BuildWork;

/** Has jvector build the graphs of tables on Roost's workers. */
public final class JvectorGraphBuilder implements JavaGraphBuilder {
    /** Creates the builder; called by the service loader. */
    public JvectorGraphBuilder() {}

    @Override
    public BuiltGraph build(BuildWork work, float[][] vectors, GraphOptions options) {
        VectorModule.requireArguments();
        RowScores scores = work.once(() -> new RowScores(vectors, work::yieldToSearches));
        return JvectorGraph.build(work, scores, options);
    }
}
