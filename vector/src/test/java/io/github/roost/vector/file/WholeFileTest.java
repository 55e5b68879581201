package io.github.roost.vector.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
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

    @Test
    void theFileThatALinkPointsToIsReplacedAndTheLinkStays() throws IOException {
        Path target =
                Files.writeString(Files.createDirectory(folder.resolve("data")).resolve("table"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("current"), Path.of("data/table"));
        Path linkToIt = Files.createSymbolicLink(folder.resolve("newest"), Path.of("current"));
        replaceWithNew(linkToIt);
        assertThat(link).isSymbolicLink();
        assertThat(linkToIt).isSymbolicLink();
        assertThat(target).isRegularFile().hasContent("new");
        assertThat(folder).isDirectoryNotContaining(path -> path.toString().endsWith(".part"));
    }

    @Test
    void aLinkToNothingAndADeviceAreRefused() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("current"), Path.of("nowhere"));
        assertThatThrownBy(() -> replaceWithNew(link))
                .isInstanceOf(IOException.class)
                .hasMessage(link + " is a link to a file that does not exist");
        Path device = Files.createSymbolicLink(folder.resolve("null"), Path.of("/dev/null"));
        assertThatThrownBy(() -> replaceWithNew(device))
                .isInstanceOf(IOException.class)
                .hasMessage(device + " is not a regular file");
        assertThat(link).isSymbolicLink();
        assertThat(device).isSymbolicLink();
    }

    /** The name of the temporary file is longer. */
    @Test
    void anErrorOfTheTemporaryFileNamesTheFileThatWasAskedFor() {
        Path file = folder.resolve("n".repeat(240));
        assertThatThrownBy(() -> replaceWithNew(file))
                .isInstanceOf(FileSystemException.class)
                .hasMessage(file + ": File name too long");
    }

    @Test
    void aFinishedFileComesIntoThePlaceOfTheOldOneBehindItsLink() throws IOException {
        Path file = Files.writeString(folder.resolve("table"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("current"), Path.of("table"));
        Path draft = Files.writeString(folder.resolve("draft"), "new");
        assertThat(WholeFile.requireReplaceable(link)).isEqualTo(file.toRealPath());
        WholeFile.moveInto(link, draft);
        assertThat(link).isSymbolicLink();
        assertThat(file).hasContent("new");
        assertThat(draft).doesNotExist();
    }

    @Test
    void aFinishedFileDoesNotComeIntoThePlaceOfOneInUse() throws IOException {
        Path file = Files.writeString(folder.resolve("table"), "old");
        Path draft = Files.writeString(folder.resolve("draft"), "new");
        try (HeldFile held = HeldFile.toChange(file)) {
            assertThat(held).isNotNull();
            String refusal = file + " is in use by an open table or a save, so it cannot be replaced";
            assertThatThrownBy(() -> WholeFile.requireReplaceable(file)).hasMessage(refusal);
            assertThatThrownBy(() -> WholeFile.moveInto(file, draft)).hasMessage(refusal);
        }
        assertThat(file).hasContent("old");
        assertThat(draft).hasContent("new");
        assertThat(WholeFile.requireReplaceable(file)).isEqualTo(file);
    }

    private static void replaceWithNew(Path file) throws IOException {
        WholeFile.replace(file, channel -> WholeFile.writeAll(channel, StandardCharsets.UTF_8.encode("new")));
    }
}
