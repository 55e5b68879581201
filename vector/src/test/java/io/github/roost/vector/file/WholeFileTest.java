package io.github.roost.vector.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WholeFileTest {
    @TempDir
    Path folder;

    @Test
    void theNewFileReplacesTheOldOneAndNothingElseIsLeft() throws IOException {
        Path file = Files.writeString(folder.resolve("table"), "old");
        replaceWithNew(file);
        assertThat(file).hasContent("new");
        assertThat(folder).isDirectoryContaining(file::equals).isDirectoryNotContaining(path -> !path.equals(file));
    }

    @Test
    void aFullDiskIsToldWithTheFileAndHowFarItGotAndTheOldFileStays() throws IOException {
        Path file = Files.writeString(folder.resolve("table"), "old");
        assertThatThrownBy(() -> WholeFile.replace(file, channel -> {
                    WholeFile.writeAll(channel, StandardCharsets.UTF_8.encode("new"));
                    throw new IOException("No space left on device");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage(file.toAbsolutePath() + " cannot be written, after 3 bytes: No space left on device");
        assertThat(file).hasContent("old");
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(file));
    }

    @Test
    void whoMayReadItIsAsTheUmaskSays() throws IOException {
        Path file = folder.resolve("table");
        replaceWithNew(file);
        Path other = Files.createFile(folder.resolve("other"));
        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(Files.getPosixFilePermissions(other));
    }

    /** Such a folder cannot be synced. Root may read every folder. */
    @Test
    void inAFolderThatCannotBeReadTheOldFileStays() throws IOException {
        Path file = Files.writeString(folder.resolve("table"), "old");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("-wx------"));
        try {
            assumeThat(Files.isReadable(folder)).isFalse();
            assertThatThrownBy(() -> replaceWithNew(file)).isInstanceOf(AccessDeniedException.class);
            assertThat(file).hasContent("old");
        } finally {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        }
    }

    private static void replaceWithNew(Path file) throws IOException {
        WholeFile.replace(file, channel -> WholeFile.writeAll(channel, StandardCharsets.UTF_8.encode("new")));
    }
}
