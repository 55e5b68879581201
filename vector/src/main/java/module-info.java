/** Tables of vectors: their interface, requests and results, and what all indexes share. */
@SuppressWarnings("module") // the modules that packages are exported to are built later
module io.github.roost.vector {
    requires java.management;
    requires jdk.jfr;
    requires transitive io.github.roost.core;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.github.roost.vector;
    exports io.github.roost.vector.spi;
    exports io.github.roost.vector.file to
            io.github.roost.documents,
            io.github.roost.index.disk,
            io.github.roost.index.hnsw,
            io.github.roost.index.ivf,
            io.github.roost.index.jvector,
            io.github.roost.index.remote,
            io.github.roost.rows,
            io.github.roost.rows.service;
    exports io.github.roost.vector.kernel to
            io.github.roost.index.disk,
            io.github.roost.index.hnsw,
            io.github.roost.index.ivf,
            io.github.roost.index.jvector,
            io.github.roost.index.remote,
            io.github.roost.neighborhash;
    exports io.github.roost.vector.math to
            io.github.roost.index.hnsw,
            io.github.roost.index.ivf,
            io.github.roost.index.remote;
    exports io.github.roost.vector.memory to
            io.github.roost.index.disk,
            io.github.roost.index.hnsw,
            io.github.roost.index.ivf;

    uses io.github.roost.vector.file.TableFormats;
}
