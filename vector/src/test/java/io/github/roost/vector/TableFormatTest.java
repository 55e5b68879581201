package io.github.roost.vector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableFormatTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"ROOSTHNW,HNSW", "ROOSTLIV,LIVE_HNSW", "ROSTIVF1,IVF", "ROOSTDSK,DISK"})
    void aFileIsKnownByItsFirstEightBytes(String head, TableFormat format) throws IOException {
        assertThat(TableFormat.of(Files.writeString(folder.resolve("table"), head + "more")))
                .contains(format);
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
        assertThatThrownBy(() -> TableFormat.HNSW.require(Path.of("t"), TableFormat.IVF.magic()))
                .isInstanceOf(TableFileException.class)
                .hasMessage("t is an IVF table, not an HNSW table: use IvfTable.open (at byte 0)");
        assertThatThrownBy(() -> TableFormat.IVF.require(Path.of("t"), 0x41))
                .isInstanceOf(TableFileException.class)
                .hasMessage("t is not an IVF table, nor another saved table of Roost: it begins with 4100000000000000,"
                        + " an IVF table with 524f535449564631 (at byte 0)");
    }

    @Test
    void foldersAndMissingFilesAreNamed() {
        assertThatThrownBy(() -> TableFormat.of(folder)).hasMessageContaining("is a folder, not a saved table");
        assertThatThrownBy(() -> TableFormat.of(folder.resolve("gone"))).isInstanceOf(NoSuchFileException.class);
    }
}
