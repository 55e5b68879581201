/** Runs searches in the cache domain that holds their data: submission, dispatch, stealing, and adaptation to traffic. */
module io.github.roost.core {
    requires java.management;
    requires transitive io.github.roost.topology;
    requires org.slf4j;
    requires static transitive org.jspecify;
    requires static micrometer.core;
    requires jdk.jfr;
    requires jdk.unsupported;

    exports io.github.roost.core;
    exports io.github.roost.core.mapping;
    exports io.github.roost.core.metrics;
    exports io.github.roost.core.policy;
    exports io.github.roost.core.spi;
}
