/** Versioned rows of attributes, in memory and on NVMe. */
module io.github.roost.rows {
    requires transitive io.github.roost.vector;
    requires transitive io.github.roost.io;
    requires transitive io.github.roost.neighborhash;
    requires org.slf4j;

    exports io.github.roost.rows;

    provides io.github.roost.vector.file.TableFormats with
            io.github.roost.rows.format.RowsFormats;
}
