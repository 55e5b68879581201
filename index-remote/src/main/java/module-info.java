/** Tables whose partitions lie in the memory of another process or machine, and are fetched once per batch of searches. */
module io.github.roost.index.remote {
    requires transitive io.github.roost.core;
    requires io.github.roost.index.hnsw;
    requires org.agrona.core;
    requires org.slf4j;

    exports io.github.roost.index.remote;
}
