package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The tables of a service, stored in a folder for later starts, with a key of the data they were built from: tables with another key are rebuilt.
 * The file with the key is written last, so an interrupted start leaves nothing that would be opened.
 */
final class KeptTables {
    private static final String KEY_FILE = "key";

    private final Path folder;
    private final String key;

    /**
     * @param folder for the tables of one data set; created when tables are stored
     * @param key of the data and of all options that shape the tables
     */
    KeptTables(Path folder, String key) {
        this.folder = folder;
        this.key = key;
    }

    /** A key of files: their names, lengths and modification times. */
    static String keyOf(List<Path> files, String more) throws IOException {
        StringBuilder key = new StringBuilder(more);
        for (Path file : files) {
            key.append('\n').append(file.toAbsolutePath());
            key.append(' ').append(Files.size(file));
            key.append(' ').append(Files.getLastModifiedTime(file).toMillis());
        }
        return key.toString();
    }

    /**
     * Opens the tables, if they are stored with this key.
     *
     * @param names of the tables, in the order in which they were stored
     * @return the tables, or empty if they must be built
     */
    Optional<List<LiveTable>> open(Orchestrator orchestrator, List<String> names) {
        try {
            if (!Files.exists(folder.resolve(KEY_FILE))
                    || !Files.readString(folder.resolve(KEY_FILE)).equals(key)) {
                return Optional.empty();
            }
        } catch (IOException unreadable) {
            return Optional.empty();
        }
        // In parallel: each file is read once to check it.
        List<Optional<LiveTable>> opened = IntStream.range(0, names.size())
                .parallel()
                .mapToObj(table -> open(orchestrator, names.get(table), file(table)))
                .toList();
        List<LiveTable> tables = opened.stream().flatMap(Optional::stream).toList();
        if (tables.size() < names.size()) {
            tables.forEach(LiveTable::close);
            return Optional.empty();
        }
        return Optional.of(tables);
    }

    /** Empty if the file is damaged or missing: the table can be rebuilt. */
    private static Optional<LiveTable> open(Orchestrator orchestrator, String name, Path file) {
        try {
            return Optional.of(LiveTable.open(orchestrator, name, file));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    /** Stores tables, replacing earlier ones. */
    void keep(List<LiveTable> tables) throws IOException {
        Files.createDirectories(folder);
        Files.deleteIfExists(folder.resolve(KEY_FILE));
        for (int table = 0; table < tables.size(); table++) {
            tables.get(table).save(file(table));
        }
        WholeFile.replace(
                folder.resolve(KEY_FILE), channel -> WholeFile.writeAll(channel, StandardCharsets.UTF_8.encode(key)));
    }

    private Path file(int table) {
        return folder.resolve(table + ".roost");
    }
}
