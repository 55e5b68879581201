package io.github.roost.rows;

import io.github.roost.rows.format.RowsFormats;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.HeldFile;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of a table: a file per sealed version, a file that names the current version, and a file that is locked while the table is open.
 * Files are written atomically.
 */
final class RowsFolder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RowsFolder.class);
    private static final String CURRENT = "current";
    private static final Pattern VERSION = Pattern.compile("version-(\\d{1,18})\\.roost");
    private static final Pattern CONTENT = Pattern.compile("version ([1-9]\\d{0,17})\n");
    private static final Pattern DRAFT =
            Pattern.compile("\\.(version-\\d{1,18}\\.roost|current)-([0-9a-f-]+|spill)\\.part");
    private static final int MAX_CONTENT = 64;

    private final Path folder;
    private final HeldFile held;

    private RowsFolder(Path folder, HeldFile held) {
        this.folder = folder;
        this.held = held;
    }

    /** Creates the folder if it does not exist, locks it, and deletes temporary files that a killed process left. */
    static RowsFolder open(Path folder) throws IOException {
        Files.createDirectories(folder);
        HeldFile held = HeldFile.toFill(folder.resolve("lock"));
        if (held == null) {
            throw new IOException(folder + " is the folder of an open table");
        }
        try {
            RowsFolder opened = new RowsFolder(folder, held);
            opened.removeDrafts();
            return opened;
        } catch (Throwable failed) {
            held.close();
            throw failed;
        }
    }

    private void removeDrafts() throws IOException {
        for (Path file : files()) {
            if (DRAFT.matcher(file.getFileName().toString()).matches()) {
                Files.delete(file);
            }
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    Path file(long version) {
        return folder.resolve("version-" + version + ".roost");
    }

    /** The sealed versions, in ascending order. */
    List<Long> sealed() throws IOException {
        return files().stream()
                .map(file -> VERSION.matcher(file.getFileName().toString()))
                .filter(Matcher::matches)
                .map(name -> Long.parseLong(name.group(1)))
                .sorted()
                .toList();
    }

    /** The version published last, or 0. */
    long current() throws IOException {
        Path file = folder.resolve(CURRENT);
        if (!Files.exists(file)) {
            return 0;
        }
        if (Files.size(file) > MAX_CONTENT) {
            throw new FileFormatException(file, MAX_CONTENT, "names no version");
        }
        Matcher content = CONTENT.matcher(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
        if (!content.matches()) {
            throw new FileFormatException(file, 0, "names no version");
        }
        return Long.parseLong(content.group(1));
    }

    void setCurrent(long version) throws IOException {
        byte[] content = ("version " + version + "\n").getBytes(StandardCharsets.ISO_8859_1);
        WholeFile.replace(folder.resolve(CURRENT), channel -> WholeFile.writeAll(channel, ByteBuffer.wrap(content)));
    }

    void delete(long version) throws IOException {
        Files.deleteIfExists(file(version));
    }

    /** Deletes older files but keeps the previous version's, which may be live and allows a rollback. */
    void deleteOlder(long current) {
        try {
            List<Long> older =
                    sealed().stream().filter(version -> version < current).toList();
            for (long version : older.subList(0, Math.max(0, older.size() - 1))) {
                if (RowsFormats.VERSION.equals(TableFormat.of(file(version)).orElse(null))) {
                    delete(version);
                }
            }
        } catch (IOException e) {
            LOG.warn("files of versions before {} stay in {}", current, folder, e);
        }
    }

    /** Unlocks the folder. */
    @Override
    public void close() {
        held.close();
    }
}
