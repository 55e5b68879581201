/** Reads a machine's cache domains and pins threads to its cores. */
@SuppressWarnings("module") // the modules that the system's part is exported to are built later
module io.github.roost.topology {
    requires java.xml;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.github.roost.topology;
    exports io.github.roost.topology.system to
            io.github.roost.core,
            io.github.roost.index.disk,
            io.github.roost.index.hnsw,
            io.github.roost.index.ivf,
            io.github.roost.index.remote,
            io.github.roost.io,
            io.github.roost.neighborhash,
            io.github.roost.rows,
            io.github.roost.vector;
}
