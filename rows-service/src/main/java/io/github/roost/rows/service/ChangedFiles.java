package io.github.roost.rows.service;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads files again after they have changed: certificates, keys and tokens that are renewed while a process runs. While a file is missing or
 * wrong, what was read before stays in use. Thread-safe.
 */
final class ChangedFiles implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChangedFiles.class);
    private static final long PERIOD_MILLIS = 2_000;

    private final long periodMillis;
    /** Starts with the first files. */
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("roost-rows-secrets").factory());

    ChangedFiles() {
        this(PERIOD_MILLIS);
    }

    /** For tests that do not wait. */
    ChangedFiles(long periodMillis) {
        this.periodMillis = periodMillis;
    }

    /** Reads files. */
    interface Reader {
        void read() throws IOException, GeneralSecurityException;
    }

    /**
     * Reads files, and reads them again whenever they have changed and then stayed the same for one period, so that a certificate and its key are
     * both written.
     *
     * @throws IOException if they cannot be read now
     * @throws GeneralSecurityException if they are not of the kind that the reader needs
     */
    void follow(List<Path> files, Reader reader) throws IOException, GeneralSecurityException {
        List<Stamp> stamps = stamps(files);
        reader.read();
        Followed followed = new Followed(files, reader, stamps);
        // A look throws nothing, so the future is not needed.
        ScheduledFuture<?> _ =
                thread.scheduleWithFixedDelay(followed::look, periodMillis, periodMillis, TimeUnit.MILLISECONDS);
    }

    /** Stops reading files. */
    @Override
    public void close() {
        thread.shutdownNow();
    }

    /** What changes when a file is written or replaced. */
    private record Stamp(@Nullable Object key, FileTime modified, long size) {}

    private static List<Stamp> stamps(List<Path> files) throws IOException {
        List<Stamp> stamps = new ArrayList<>();
        for (Path file : files) {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
            stamps.add(new Stamp(now.fileKey(), now.lastModifiedTime(), now.size()));
        }
        return stamps;
    }

    /** Files that are read together. For one thread at a time. */
    private static final class Followed {
        private final List<Path> files;
        private final Reader reader;
        private List<Stamp> read;
        private List<Stamp> seen;
        private String failure = "";

        Followed(List<Path> files, Reader reader, List<Stamp> read) {
            this.files = files;
            this.reader = reader;
            this.read = read;
            this.seen = read;
        }

        void look() {
            try {
                List<Stamp> now = stamps(files);
                if (!now.equals(read) && now.equals(seen)) {
                    reader.read();
                    read = now;
                    failure = "";
                    LOG.info("{} have changed and are in use", files);
                }
                seen = now;
            } catch (IOException | GeneralSecurityException | RuntimeException e) {
                if (!e.toString().equals(failure)) {
                    failure = e.toString();
                    LOG.warn("{} cannot be read; what was read before stays in use", files, e);
                }
            }
        }
    }
}
