package io.github.roost.testkit;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A temporary folder that is deleted on close, or when the JVM shuts down before that. */
public final class TemporaryFolder implements Closeable {
    private static final int TRIES = 10;

    private final Path path;
    private final Thread deletion = new Thread(this::deleteAtTheEnd, "roost-temporary-folder");

    /** Creates a folder in the system's folder of temporary files. */
    public TemporaryFolder(String prefix) throws IOException {
        this(Path.of(System.getProperty("java.io.tmpdir")), prefix);
    }

    /** Creates a folder in another one. */
    public TemporaryFolder(Path parent, String prefix) throws IOException {
        this.path = Files.createTempDirectory(parent, prefix);
        Runtime.getRuntime().addShutdownHook(deletion);
    }

    public Path path() {
        return path;
    }

    public Path resolve(String name) {
        return path.resolve(name);
    }

    /** Deletes a folder and all in it. */
    public static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** Retries, since threads that still write may create files during the deletion. */
    private void deleteAtTheEnd() {
        for (int tries = 0; tries < TRIES && Files.exists(path); tries++) {
            try {
                delete(path);
            } catch (IOException written) {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void close() throws IOException {
        try {
            Runtime.getRuntime().removeShutdownHook(deletion);
        } catch (IllegalStateException shuttingDown) {
            // Then the hook and this thread both delete it.
        }
        delete(path);
    }
}
