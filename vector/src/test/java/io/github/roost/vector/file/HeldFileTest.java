package io.github.roost.vector.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.ChildJvm;
import io.github.roost.vector.kernel.DescriptorLock;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class HeldFileTest {
    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void create() throws IOException {
        file = Files.writeString(folder.resolve("file"), "content");
    }

    private static void replace(Path file) throws IOException {
        WholeFile.replace(file, channel -> WholeFile.writeAll(channel, StandardCharsets.UTF_8.encode("new")));
    }

    @Test
    void oneOpenerChangesAFileWhateverItIsCalled() throws IOException {
        Path symbolic = Files.createSymbolicLink(folder.resolve("symbolic"), file);
        Path hard = Files.createLink(folder.resolve("hard"), file);
        Path moved = folder.resolve("moved");
        try (HeldFile held = HeldFile.toChange(symbolic)) {
            assertThat(held).isNotNull();
            Files.move(file, moved);
            for (Path name : List.of(hard, moved)) {
                assertThat(HeldFile.toChange(name)).isNull();
            }
            Files.move(moved, file);
        }
        try (HeldFile held = HeldFile.toChange(hard)) {
            assertThat(held).isNotNull();
        }
    }

    /** The locks of the JDK would be gone. */
    @Test
    void anotherDescriptorThatIsClosedGivesNothingBack() throws Exception {
        try (HeldFile held = HeldFile.toChange(file)) {
            assertThat(held).isNotNull();
            FileChannel.open(file, StandardOpenOption.READ).close();
            Files.readString(file);
            assertThat(HeldFile.toChange(file)).isNull();
            assertThat(inAnotherProcess(file)).isEqualTo("refused, refused");
            assertThat(inAnotherProcess(Files.createLink(folder.resolve("hard"), file)))
                    .isEqualTo("refused, refused");
        }
        assertThat(inAnotherProcess(file)).isEqualTo("held, replaced");
    }

    @Test
    void aFileThatIsInUseIsNotReplacedAndMayBeChangedByOne() throws Exception {
        try (HeldFile used = HeldFile.toUse(file);
                HeldFile usedTwice = HeldFile.toUse(file)) {
            assertThat(used).isNotSameAs(usedTwice);
            assertThatThrownBy(() -> replace(file))
                    .isInstanceOf(IOException.class)
                    .hasMessage(file + " is in use by an open table or a save, so it cannot be replaced");
            assertThat(inAnotherProcess(file)).isEqualTo("held, refused");
            try (HeldFile changed = HeldFile.toChange(file)) {
                assertThat(changed).isNotNull();
            }
        }
        replace(file);
        assertThat(file).hasContent("new");
        assertThat(folder).isDirectoryNotContaining("glob:**.part");
    }

    @Test
    void versionsThatReadersKeepAreSeenByWhoeverChangesTheFile() throws IOException {
        try (HeldFile changes = Objects.requireNonNull(HeldFile.toChange(file));
                HeldFile reads = HeldFile.toRead(file)) {
            assertThat(changes.isKept(100)).isFalse();
            assertThat(reads.keep(7)).isTrue();
            try (HeldFile readsToo = HeldFile.toRead(file)) {
                assertThat(readsToo.keep(7)).isTrue();
                assertThat(readsToo.keep(3)).isTrue();
                assertThat(changes.isKept(2)).isFalse();
                assertThat(changes.isKept(3)).isTrue();
            }
            assertThat(changes.isKept(6)).isFalse();
            assertThat(changes.isKept(7)).isTrue();
            reads.giveBack(7);
            assertThat(changes.isKept(Integer.MAX_VALUE)).isFalse();
        }
        HeldFile reads = HeldFile.toRead(file);
        assertThat(reads.keep(7)).isTrue();
        replace(file);
        assertThat(reads.isReplaced()).isTrue();
        reads.close();
        reads.giveBack(7);
    }

    /** As one that this process may not write. */
    @Test
    void whetherAFileIsInUseIsSeenWithoutALock() throws IOException {
        try (DescriptorLock looking = DescriptorLock.open(file)) {
            HeldFile used = HeldFile.toUse(file);
            assertThat(looking.isFree(1L << 62, 2)).isFalse();
            used.close();
            assertThat(looking.isFree(1L << 62, 2)).isTrue();
            assertThat(looking.tryLock(1L << 62, 2, true)).isTrue();
            assertThat(looking.isFree(1L << 62, 2)).isTrue();
        }
    }

    @Test
    void aFileThatIsMadeAndHeldDuringASaveStays() throws IOException {
        Path made = folder.resolve("made");
        HeldFile[] held = new HeldFile[1];
        assertThatThrownBy(() -> WholeFile.replace(made, channel -> held[0] = HeldFile.toFill(made)))
                .isInstanceOf(IOException.class)
                .hasMessage(made + " is in use by an open table or a save, so it cannot be replaced");
        assertThat(HeldFile.toChange(made)).isNull();
        held[0].close();
        replace(made);
        assertThat(made).hasContent("new");
        assertThat(folder).isDirectoryNotContaining("glob:**.part");
    }

    @Test
    void whatHasComeIntoItsPlaceIsAnotherFile() throws IOException {
        try (HeldFile old = HeldFile.toChange(file)) {
            assertThat(old).isNotNull();
            Files.move(Files.writeString(folder.resolve("other"), "other"), file, StandardCopyOption.REPLACE_EXISTING);
            try (HeldFile other = HeldFile.toChange(file)) {
                assertThat(other).isNotNull();
            }
        }
    }

    @Test
    void aFileThatIsNotThereOrIsAFolderIsNamed() {
        assertThatThrownBy(() -> HeldFile.toChange(folder.resolve("none"))).hasMessageContaining("none");
        assertThatThrownBy(() -> HeldFile.toChange(folder)).hasMessage(folder + ": Is a directory");
    }

    private static String inAnotherProcess(Path file) throws Exception {
        return String.join("\n", new ChildJvm(Other.class).run(file.toString()));
    }

    /** Another process, which tries to change and to replace a file. */
    static final class Other {
        public static void main(String[] arguments) throws IOException {
            Path file = Path.of(arguments[0]);
            try (HeldFile held = HeldFile.toChange(file)) {
                System.out.print(held == null ? "refused" : "held");
            }
            try {
                replace(file);
                System.out.print(", replaced");
            } catch (IOException refused) {
                System.out.print(", refused");
            }
        }

        private Other() {}
    }
}
