package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChangedFilesTest {
    @TempDir
    private Path folder;

    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicReference<String> known = new AtomicReference<>("");

    private void read(Path file) throws IOException {
        reads.incrementAndGet();
        String now = Files.readString(file);
        if (now.isEmpty()) {
            throw new IOException(file + " is empty");
        }
        known.set(now);
    }

    @Test
    void whatWasReadStaysWhileAFileIsWrongOrMissingAndIsReplacedAfterwards() throws Exception {
        Path file = Files.writeString(folder.resolve("secret"), "first");
        try (ChangedFiles changed = new ChangedFiles(5)) {
            changed.follow(List.of(file), () -> read(file));
            assertThat(known).hasValue("first");

            Files.writeString(file, "");
            // Several tries, as a file whose rights were wrong does not change when they are mended.
            Await.until(() -> reads.get() >= 4);
            assertThat(known).hasValue("first");

            Files.delete(file);
            Files.writeString(file, "second");
            Await.until(() -> "second".equals(known.get()));

            // Of the same size, as a link to another folder, which is how secrets of containers are replaced.
            Path next = Files.writeString(folder.resolve("next"), "third_");
            Path link = Files.createSymbolicLink(folder.resolve("link"), next);
            Files.move(link, file, StandardCopyOption.ATOMIC_MOVE);
            Await.until(() -> "third_".equals(known.get()));
        }
    }

    @Test
    void aFileThatIsNotChangedIsNotReadAgain() throws Exception {
        Path file = Files.writeString(folder.resolve("secret"), "first");
        Path other = Files.writeString(folder.resolve("other"), "first");
        AtomicInteger ofOther = new AtomicInteger();
        try (ChangedFiles changed = new ChangedFiles(5)) {
            changed.follow(List.of(other), ofOther::incrementAndGet);
            changed.follow(List.of(file), () -> read(file));
            for (int i = 0; i < 3; i++) {
                String now = "changed " + i;
                Files.writeString(file, now);
                Await.until(() -> now.equals(known.get()));
            }
            assertThat(ofOther).hasValue(1);
        }
    }

    @Test
    void whatCannotBeReadAtFirstIsRefused() {
        try (ChangedFiles changed = new ChangedFiles()) {
            Path none = folder.resolve("none");
            assertThatThrownBy(() -> changed.follow(List.of(none), () -> read(none)))
                    .isInstanceOf(NoSuchFileException.class);
        }
    }
}
