package io.github.roost.opensearch;

import io.github.roost.rows.RowBatch;
import io.github.roost.rows.VersionedRows;
import io.github.roost.vector.FileFormatException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.jspecify.annotations.Nullable;
import org.opensearch.common.regex.Regex;

/**
 * The tables of attribute rows on a node. Each table is a folder in the node's data folder; another process creates the folders
 * and adds new versions to them. The newest readable version is the current one. Thread-safe.
 */
final class NodeTables implements Closeable {
    /** The folder of all tables, in the node's data folder. */
    static final String FOLDER = "roost-tables";

    static final int MAX_NAME = 100;

    private static final Logger LOG = LogManager.getLogger(NodeTables.class);
    private static final Pattern NAME = Pattern.compile("[a-z0-9_][a-z0-9_-]{0," + (MAX_NAME - 1) + "}");
    private static final String VERSION_FILES = "version-";

    private final ConcurrentMap<String, VersionedRows> open = new ConcurrentHashMap<>();
    /** Per table the reason why its newest files could not be read. */
    private final ConcurrentMap<String, String> faults = new ConcurrentHashMap<>();
    /** The files of each folder that were read or found damaged, so that an unchanged folder is not read again. Guarded by this. */
    private final Map<String, String> seen = new HashMap<>();
    /** Per table the patterns of the names of the indexes that may read it. */
    private final ConcurrentMap<String, List<String>> readers = new ConcurrentHashMap<>();
    /** Null on a node without data, and after close. */
    private volatile @Nullable Path folder;

    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Sets the patterns of some tables; none if empty. */
    void readers(Map<String, List<String>> patterns) {
        readers.putAll(patterns);
    }

    /** Sets the folder, in the node's data folder, creates it if necessary, and reads its tables. */
    void begin(Path dataFolder) {
        Path root = dataFolder.resolve(FOLDER);
        try {
            Files.createDirectories(root);
        } catch (IOException failure) {
            LOG.warn("there are no tables, for {} cannot be made", root, failure);
        }
        folder = root;
        look();
    }

    /** Reads new versions and closes tables whose folder is gone. Never throws because of a table: faults are logged. */
    synchronized void look() {
        Path root = folder;
        if (root == null) {
            return;
        }
        try {
            Set<String> present = tablesIn(root);
            present.forEach(name -> look(root.resolve(name), name));
            Set.copyOf(open.keySet()).stream()
                    .filter(name -> !present.contains(name))
                    .forEach(this::forget);
            seen.keySet().retainAll(present);
            faults.keySet().retainAll(present);
        } catch (IOException | RuntimeException failure) {
            LOG.warn("the tables in {} cannot be looked at", root, failure);
        }
    }

    private static Set<String> tablesIn(Path root) throws IOException {
        if (!Files.isDirectory(root)) {
            return Set.of();
        }
        try (Stream<Path> all = Files.list(root)) {
            return all.filter(Files::isDirectory)
                    .map(path -> path.getFileName().toString())
                    .filter(NodeTables::isName)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private void look(Path path, String name) {
        try {
            String files = files(path);
            if (!files.isEmpty() && !files.equals(seen.get(name))) {
                publishNewest(path, name, files);
                seen.put(name, files);
                faults.remove(name);
            }
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            String fault = String.valueOf(failure.getMessage());
            if (!fault.equals(faults.put(name, fault))) {
                LOG.warn("table [{}] stays as it is: {} cannot be read", name, path, failure);
            }
        }
    }

    /** Names, sizes and modification times of the version files. */
    private static String files(Path path) throws IOException {
        TreeMap<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.list(path)) {
            for (Path file : (Iterable<Path>) all::iterator) {
                String name = file.getFileName().toString();
                if (name.startsWith(VERSION_FILES)) {
                    BasicFileAttributes of = Files.readAttributes(file, BasicFileAttributes.class);
                    files.put(name, of.size() + "/" + of.lastModifiedTime());
                }
            }
        } catch (NoSuchFileException gone) {
            return "";
        }
        return files.isEmpty() ? "" : files.toString();
    }

    /**
     * Publishes the newest version. If its file is damaged, these files count as seen: they are not read again until they change. Any
     * other failure may pass, such as one of memory, of access or of the file system, so the next check reads them again.
     */
    private void publishNewest(Path path, String name, String files) throws IOException {
        VersionedRows table;
        try {
            table = openAtNewest(path, name);
        } catch (FileFormatException damaged) {
            seen.put(name, files);
            throw damaged;
        }
        LOG.info(
                "table [{}] is at version {}, of {} rows",
                name,
                table.current(),
                table.stats().rows());
    }

    private VersionedRows openAtNewest(Path path, String name) throws IOException {
        VersionedRows table = open.get(name);
        if (table == null) {
            table = VersionedRows.open(path);
            open.put(name, table);
        }
        List<Long> sealed = table.sealedVersions();
        if (!sealed.isEmpty() && sealed.getLast() > table.current()) {
            table.publish(sealed.getLast());
        }
        return table;
    }

    private void forget(String name) {
        VersionedRows gone = open.remove(name);
        if (gone != null) {
            gone.close();
            LOG.info("table [{}] is no longer there", name);
        }
    }

    private IllegalArgumentException missing(String name) {
        String fault = faults.get(name);
        return new IllegalArgumentException(
                "there is no table [" + name + "] on this node" + (fault == null ? "" : ": " + fault));
    }

    /**
     * Reads rows for the hits of an index, all of one version.
     *
     * @param columns the columns to read; if empty, all columns
     * @throws IllegalArgumentException if there is no such table or column, or the index may not read the table
     */
    RowBatch rows(String name, String index, long[] keys, List<String> columns) {
        List<String> patterns = readers.getOrDefault(name, List.of());
        if (!Regex.simpleMatch(patterns, index)) {
            throw new IllegalArgumentException("table [" + name + "] may be read by indexes " + patterns + ", which "
                    + RoostSettings.TABLE_READERS
                            .getConcreteSettingForNamespace(name)
                            .getKey() + " names");
        }
        VersionedRows table = open.get(name);
        if (table == null) {
            throw missing(name);
        }
        RowBatch rows = RowBatch.onHeap();
        try (VersionedRows.Reader reader = table.reader()) {
            reader.getAll(keys, rows, columns.toArray(String[]::new));
        } catch (IllegalStateException closedOrEmpty) {
            throw missing(name);
        }
        return rows;
    }

    /** Per table its version, number of rows, bytes in memory, and fault if any. */
    Map<String, Object> report() {
        Map<String, Object> report = new TreeMap<>();
        open.forEach((name, table) -> {
            try {
                VersionedRows.Stats stats = table.stats();
                Map<String, Object> values = new LinkedHashMap<>();
                values.put("version", stats.version());
                values.put("rows", stats.rows());
                values.put("bytes", stats.indexBytes() + stats.valueBytes());
                String fault = faults.get(name);
                if (fault != null) {
                    values.put("fault", fault);
                }
                report.put(name, values);
            } catch (IllegalStateException closed) {
                LOG.debug("table [{}] was closed while it was looked at", name);
            }
        });
        faults.forEach((name, fault) -> report.computeIfAbsent(name, none -> Map.of("fault", fault)));
        return report;
    }

    @Override
    public synchronized void close() {
        folder = null;
        Set.copyOf(open.keySet()).forEach(name -> {
            VersionedRows table = open.remove(name);
            if (table != null) {
                table.close();
            }
        });
    }
}
