/** Reserves cores of the machine for one process. */
module io.github.roost.affinity {
    requires transitive io.github.roost.topology;
    requires transitive affinity;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.github.roost.affinity;
}
