/** Tables served by several processes; a batch of rows never mixes versions. */
module io.github.roost.tableservice {
    requires transitive io.github.roost.table;
    requires io.grpc;
    requires io.grpc.netty.shaded;
    requires io.grpc.stub;
    requires java.net.http;
    requires org.slf4j;
    requires static io.netty.handler;
    requires static jetcd.common;
    requires static jetcd.core;

    exports io.github.roost.tableservice;
    exports io.github.roost.tableservice.etcd;
}
