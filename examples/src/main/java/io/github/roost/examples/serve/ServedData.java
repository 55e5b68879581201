package io.github.roost.examples.serve;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** What a service makes its tables of. */
interface ServedData {
    /** What it is, to be told to whoever started the service. */
    String title();

    /** The names of its tables. */
    List<String> names();

    /**
     * Builds the tables, in the order of their names.
     *
     * @param built is told of each that stands
     */
    List<DescribedTable> build(Orchestrator orchestrator, Consumer<DescribedTable> built) throws IOException;

    /**
     * Gives tables that were kept the words of their rows.
     *
     * @param kept as {@link #build} has built them, in that order
     */
    List<DescribedTable> describe(List<LiveTable> kept) throws IOException;

    /** The tables and the phrases whose vectors are known. */
    Tables tables(List<DescribedTable> tables);
}
