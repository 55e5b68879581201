/** A hash map with long keys, off the heap, with a native batch lookup. */
@SuppressWarnings("module") // the modules that the spi is exported to are built later
module io.github.roost.neighborhash {
    requires io.github.roost.vector;
    requires static transitive org.jspecify;

    exports io.github.roost.neighborhash;
    exports io.github.roost.neighborhash.spi to
            io.github.roost.index.disk,
            io.github.roost.index.hnsw,
            io.github.roost.index.ivf,
            io.github.roost.index.remote,
            io.github.roost.rows;
}
