package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** A data set that a service builds its tables from. */
interface ServedData {
    /** A title for messages. */
    String title();

    /** The names of its tables. */
    List<String> names();

    /**
     * Builds the tables, in the order of their names.
     *
     * @param built receives each table that is built
     */
    List<DescribedTable> build(Orchestrator orchestrator, Consumer<DescribedTable> built) throws IOException;

    /**
     * Adds the words to stored tables.
     *
     * @param kept tables as {@link #build} has built them, in that order
     */
    List<DescribedTable> describe(List<LiveTable> kept) throws IOException;

    /** The tables and the known phrases with their vectors. */
    Tables tables(List<DescribedTable> tables);
}
