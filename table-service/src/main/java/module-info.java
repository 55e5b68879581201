/** Tables served by several processes, whose batches never mix versions. */
module io.github.roost.tableservice {
    requires transitive io.github.roost.table;
    requires io.grpc;
    requires io.grpc.netty.shaded;
    requires io.grpc.stub;

    exports io.github.roost.tableservice;
}
