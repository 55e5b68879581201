/** Tables whose partitions are in the memory of another process or machine and are fetched once per batch of searches. */
module io.github.roost.index.remote {
    requires transitive io.github.roost.vector;
    requires io.github.roost.index.hnsw;
    requires io.github.roost.neighborhash;
    requires org.agrona.core;
    requires org.slf4j;
    requires static jucx;

    exports io.github.roost.index.remote;
    exports io.github.roost.index.remote.ucx;

    provides io.github.roost.vector.file.TableFormats with
            io.github.roost.index.remote.format.RemoteFormats;
}
