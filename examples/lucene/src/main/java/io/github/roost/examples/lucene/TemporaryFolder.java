package io.github.roost.examples.lucene;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.util.IOUtils;

/** A folder that is deleted when it is closed, or when the JVM is told to end before that. */
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

    /** Who writes into it does not know of the end: there may be a new file by the time that the others are gone. */
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
            // Then both delete what is left.
        }
        IOUtils.rm(path);
    }
}
