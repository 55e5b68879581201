/** HNSW tables whose searches run on Roost's workers. */
@SuppressWarnings("module") // the modules that the graph is exported to are built later
module io.github.roost.index.hnsw {
    requires transitive io.github.roost.vector;
    requires io.github.roost.neighborhash;
    requires org.slf4j;

    exports io.github.roost.index.hnsw;
    exports io.github.roost.index.hnsw.graph to
            io.github.roost.index.jvector,
            io.github.roost.index.remote,
            io.github.roost.lucene;

    uses io.github.roost.index.hnsw.graph.JavaGraphBuilder;

    provides io.github.roost.vector.file.TableFormats with
            io.github.roost.index.hnsw.format.HnswFormats;
}
