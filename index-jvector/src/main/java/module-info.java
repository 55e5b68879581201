/** Tables of jvector graphs, searched by jvector on Roost's workers, and graphs of HNSW tables built by jvector. */
@SuppressWarnings("requires-transitive-automatic") // jvector has no module descriptor
module io.github.roost.index.jvector {
    requires transitive io.github.roost.vector;
    requires io.github.roost.index.hnsw;
    requires transitive jvector;

    exports io.github.roost.index.jvector;

    provides io.github.roost.index.hnsw.graph.JavaGraphBuilder with
            io.github.roost.index.jvector.build.JvectorGraphBuilder;
}
