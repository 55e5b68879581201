/** Hash tables from long keys to payloads, and versioned tables of rows built on them. */
module io.github.roost.table {
    requires transitive io.github.roost.core;
    requires org.slf4j;

    exports io.github.roost.table;
}
