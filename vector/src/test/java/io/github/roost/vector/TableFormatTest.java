package io.github.roost.vector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableFormatTest {
    @TempDir
    Path folder;

    @Test
    void aFileIsKnownByItsFirstEightBytes() throws IOException {
        assertThat(TableFormat.of(Files.writeString(folder.resolve("one"), "ROOSTONEmore")))
                .contains(MadeUpFormats.FIRST);
        assertThat(TableFormat.of(Files.writeString(folder.resolve("two"), "ROOSTTWO")))
                .contains(MadeUpFormats.SECOND);
    }

    @Test
    void formatsWithTheSameFirstBytesAreRefused() {
        TableFormat same = new TableFormat("ROOSTTWO", "a third table", "Third.open");

        assertThatThrownBy(() -> TableFormat.known(List.of(new MadeUpFormats(), () -> List.of(same))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(MadeUpFormats.SECOND + " and " + same + " begin with the same bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHORT", "MUCHTOOLONG", "R\u00d6\u00d6STTWO"})
    void aHeadIsEightAsciiCharacters(String head) {
        assertThatThrownBy(() -> new TableFormat(head, "a table", "Table.open"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("head must be 8 ASCII characters, got " + head);
    }

    @Test
    void whatIsNoTableHasNoFormat() throws IOException {
        assertThat(TableFormat.of(Files.writeString(folder.resolve("short"), "ROOST")))
                .isEmpty();
        assertThat(TableFormat.of(Files.writeString(folder.resolve("text"), "a text, not a table")))
                .isEmpty();
    }

    @Test
    void anotherIndexsFileIsNamedWithItsOpener() {
        assertThatThrownBy(() -> MadeUpFormats.FIRST.require(Path.of("t"), MadeUpFormats.SECOND.magic()))
                .isInstanceOf(FileFormatException.class)
                .hasMessage("t is a second table, not a first table: use Second.open (at byte 0)");
        assertThatThrownBy(() -> MadeUpFormats.FIRST.require(Path.of("t"), 0x41))
                .isInstanceOf(FileFormatException.class)
                .hasMessage(
                        "t is not a first table: it begins with 4100000000000000, a first table with 524f4f53544f4e45 (at byte 0)");
    }

    @Test
    void foldersAndMissingFilesAreNamed() {
        assertThatThrownBy(() -> TableFormat.of(folder)).hasMessageContaining("is a folder, not a saved table");
        assertThatThrownBy(() -> TableFormat.of(folder.resolve("gone"))).isInstanceOf(NoSuchFileException.class);
    }
}
