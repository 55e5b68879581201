/** The registry of a row service in etcd. */
module io.github.roost.rows.service.etcd {
    requires transitive io.github.roost.rows.service;
    requires io.netty.handler;
    requires java.net.http;
    requires jetcd.common;
    requires jetcd.core;
    requires org.slf4j;

    exports io.github.roost.rows.service.etcd;
}
