package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.server.input.VectorInput;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A table built from a user's file: vectors of fvecs and similar formats, HDF5 of ann-benchmarks, or JSON lines. Rows of the first two have their
 * ordinals as ids, and no words.
 */
final class UserTable implements ServedData {
    private final String name;
    private final Metric metric;
    private final Map<Long, Item> items;
    private final Reading rows;

    /** Reads the rows when the table must be built. */
    @FunctionalInterface
    interface Reading {
        Rows read() throws IOException;
    }

    /**
     * The rows of a file.
     *
     * @param ids one per row
     * @param vectors of the rows
     * @param release frees the source of the vectors
     */
    record Rows(long[] ids, VectorSource vectors, Runnable release) {}

    private UserTable(String name, Metric metric, Map<Long, Item> items, Reading rows) {
        this.name = name;
        this.metric = metric;
        this.items = items;
        this.rows = rows;
    }

    /**
     * Prepares the table of a file.
     *
     * @param metric the metric; null for the one named by the file, or squared L2
     * @throws IOException if it cannot be read, or is not of the format of its extension
     */
    static UserTable of(Path file, @Nullable Metric metric) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new NoSuchFileException(file.toString(), null, "is no file");
        }
        String fileName = String.valueOf(file.getFileName());
        String name = TableService.nameOf(file);
        return switch (fileName.substring(fileName.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT)) {
            case "jsonl", "ndjson" -> {
                JsonRows read = JsonRows.read(file);
                yield new UserTable(name, metric == null ? Metric.SQUARED_L2 : metric, read.items(), read::rows);
            }
            default ->
                new UserTable(name, metric == null ? VectorInput.metric(file) : metric, Map.of(), () -> {
                    VectorInput input = VectorInput.rows(file);
                    return numbered(file, input, metric == null ? VectorInput.metric(file) : metric);
                });
        };
    }

    private static Rows numbered(Path file, VectorInput input, Metric metric) throws IOException {
        boolean fit = false;
        try {
            NumberedRows rows = NumberedRows.of(file, input.vectors(), metric, zeros -> {
                throw new IllegalArgumentException(
                        zeros + "; roost build --skip-zero leaves them out of a table for --table");
            });
            fit = true;
            return new Rows(rows.ids(), rows.vectors(), input::close);
        } finally {
            if (!fit) {
                input.close();
            }
        }
    }

    @Override
    public String title() {
        return "table " + name + " (" + metric + ")";
    }

    @Override
    public List<String> names() {
        return List.of(name);
    }

    @Override
    public List<DescribedTable> build(Orchestrator orchestrator, Consumer<DescribedTable> built) throws IOException {
        Rows read = rows.read();
        try {
            LiveTable table = LiveTable.builder()
                    .name(name)
                    .metric(metric)
                    .start(orchestrator, read.ids(), read.vectors())
                    .join();
            DescribedTable served = new DescribedTable(table, items, ItemRows.of(items));
            built.accept(served);
            return List.of(served);
        } finally {
            read.release().run();
        }
    }

    @Override
    public List<DescribedTable> describe(List<LiveTable> kept) throws IOException {
        return List.of(new DescribedTable(kept.getFirst(), items, ItemRows.of(items)));
    }

    @Override
    public Tables tables(List<DescribedTable> tables) {
        return new Tables(tables, Map.of(), tables.getFirst().words()::close);
    }
}
