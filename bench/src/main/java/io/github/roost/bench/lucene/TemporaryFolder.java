package io.github.roost.bench.lucene;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.util.IOUtils;

/** A temporary folder that is deleted on close, or when the JVM shuts down before that. */
final class TemporaryFolder implements Closeable {
    private static final int TRIES = 10;

    private final Path path;
    private final Thread deletion = new Thread(this::deleteAtTheEnd, "roost-temporary-folder");

    TemporaryFolder(String prefix) throws IOException {
        this.path = Files.createTempDirectory(prefix);
        Runtime.getRuntime().addShutdownHook(deletion);
    }

    Path path() {
        return path;
    }

    /** Retries, since threads that still write may create files during the deletion. */
    private void deleteAtTheEnd() {
        for (int tries = 0; tries < TRIES && Files.exists(path); tries++) {
            try {
                IOUtils.rm(path);
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
        IOUtils.rm(path);
    }
}
