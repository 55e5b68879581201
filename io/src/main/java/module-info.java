/** Block I/O of searches: io_uring, or positional reads. */
module io.github.roost.io {
    requires transitive io.github.roost.core;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.github.roost.io;
}
