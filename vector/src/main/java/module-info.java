/** Tables of vectors: their interface, requests and results, and what all indexes share. */
module io.github.roost.vector {
    requires java.management;
    requires transitive io.github.roost.core;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.github.roost.vector;
    exports io.github.roost.vector.spi;
    exports io.github.roost.vector.file;
    exports io.github.roost.vector.kernel;
}
