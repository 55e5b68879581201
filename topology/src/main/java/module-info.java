/** Reads a machine's cache domains and pins threads to its cores. */
module io.github.roost.topology {
    requires java.xml;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.github.roost.topology;
}
