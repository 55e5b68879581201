/** Tables served by several processes, whose batches never mix versions. */
module io.github.roost.tableservice {
    requires transitive io.github.roost.table;

    exports io.github.roost.tableservice;
}
