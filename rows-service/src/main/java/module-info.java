/** Rows served by several processes, with batches that never mix versions. */
module io.github.roost.rows.service {
    requires transitive io.github.roost.rows;
    requires io.grpc;
    requires io.grpc.netty.shaded;
    requires io.grpc.services;
    requires io.grpc.stub;
    requires io.grpc.util;
    requires java.net.http;
    requires org.slf4j;

    exports io.github.roost.rows.service;
}
