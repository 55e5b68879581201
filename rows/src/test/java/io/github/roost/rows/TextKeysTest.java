package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextKeysTest {
    private static final Schema SCHEMA =
            Schema.of(Column.ofInt("length"), Column.ofText("other"), Column.ofText("name"));

    @TempDir
    Path folder;

    private final TextKeys names = new TextKeys("name");
    /** Texts of the same length have the same fingerprint. */
    private final TextKeys lengths = new TextKeys("name", text -> text.length);

    private static RowWriter row(VersionBuilder to, String text) {
        return to.writer().setInt(0, text.length()).setText(1, "row of " + text);
    }

    private void load(VersionedRows table, TextKeys keys, String... texts) throws IOException {
        try (VersionBuilder loading = table.begin(1, SCHEMA)) {
            for (String text : texts) {
                keys.put(loading, text, row(loading, text));
            }
            loading.seal();
        }
        table.publish(1);
    }

    @Test
    void fingerprintsAreTheSameEverywhere() {
        // The first eight bytes of the test vectors of FIPS 180 for SHA-256.
        assertThat(names.key("")).isEqualTo(0xe3b0c44298fc1c14L);
        assertThat(names.key("abc")).isEqualTo(0xba7816bf8f01cfeaL);
        assertThat(names.keys(List.of("abc", ""))).containsExactly(0xba7816bf8f01cfeaL, 0xe3b0c44298fc1c14L);
        assertThat(names.key("ä")).isNotEqualTo(names.key("a\u0308"));
    }

    @Test
    void rowsAreFoundByTheirTexts() throws IOException {
        List<String> texts = List.of("wget", "", "curl", "grüße 😀", "curl");
        try (VersionedRows table = VersionedRows.open(folder)) {
            load(table, names, "curl", "", "grüße 😀");
            try (VersionedRows.Reader reader = table.reader()) {
                RowBatch rows = RowBatch.onHeap();
                assertThat(names.getAll(reader, texts, rows, "length", "other")).isEqualTo(4);
                assertThat(rows.schema().columns()).extracting(Column::name).containsExactly("length", "other", "name");
                assertThat(rows.isPresent(0)).isFalse();
                for (int i = 1; i < texts.size(); i++) {
                    assertThat(rows.getInt(i, 0)).isEqualTo(texts.get(i).length());
                    assertThat(rows.getText(i, 1)).isEqualTo("row of " + texts.get(i));
                    assertThat(rows.getText(i, 2)).isEqualTo(texts.get(i));
                }
                assertThat(names.getAll(reader, texts, rows)).isEqualTo(4);
                assertThat(names.getAll(reader, texts, rows, "name")).isEqualTo(4);
                assertThat(rows.schema().columns()).hasSize(1);
            }
        }
    }

    @Test
    void twoTextsWithTheSameFingerprintAreRefusedByNameAndTheFirstStays() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            try (VersionBuilder loading = table.begin(1, SCHEMA)) {
                lengths.put(loading, "curl", row(loading, "curl"));
                assertThatThrownBy(() -> lengths.put(loading, "wget", row(loading, "wget")))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("texts must have fingerprints of their own, but \"curl\" and \"wget\" both have 4");
                assertThatThrownBy(() -> lengths.put(loading, "curl", row(loading, "curl")))
                        .hasMessage("text \"curl\" must be loaded once, got it twice");
                loading.seal();
            }
            table.publish(1);
            try (VersionedRows.Reader reader = table.reader()) {
                RowBatch rows = RowBatch.onHeap();
                assertThat(lengths.getAll(reader, List.of("curl"), rows)).isOne();
            }
        }
    }

    @Test
    void aRowOfAnotherTextIsAbsentAndRowsBesideItStay() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            load(table, lengths, "curl", "bc", "vim");
            List<String> texts = List.of("wget", "bc", "wget", "curl", "vi", "emacs", "vim", "git");
            try (VersionedRows.Reader reader = table.reader()) {
                RowBatch rows = RowBatch.onHeap();
                assertThat(lengths.getAll(reader, texts, rows, "other")).isEqualTo(3);
                for (int i = 0; i < texts.size(); i++) {
                    boolean isThere = List.of("curl", "bc", "vim").contains(texts.get(i));
                    assertThat(rows.isPresent(i)).isEqualTo(isThere);
                    if (isThere) {
                        assertThat(rows.getText(i, 0)).isEqualTo("row of " + texts.get(i));
                    }
                }
                // Still a whole batch, for example to be sent.
                RowBatch copy = RowBatch.of(rows.schema(), 1, rows.size(), rows.memory());
                assertThat(copy.present()).isEqualTo(3);
                assertThat(copy.getText(6, 0)).isEqualTo("row of vim");
                assertThat(lengths.getAll(reader, List.of("wget"), rows)).isZero();
                assertThat(rows.memory().byteSize()).isEqualTo(Integer.BYTES);
            }
        }
    }

    @Test
    void whatCannotBeAKeyIsRefused() throws IOException {
        assertThatThrownBy(() -> names.key("a\ud83d"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("text must have no half of a surrogate pair, got \"a");
        try (VersionedRows table = VersionedRows.open(folder)) {
            load(table, names, "curl");
            try (VersionBuilder loading = table.begin(2, SCHEMA)) {
                RowWriter row = loading.writer();
                assertThatThrownBy(() -> new TextKeys("length").put(loading, "a", row))
                        .hasMessage("column length must be TEXT, is INT");
                assertThatThrownBy(() -> new TextKeys("color").put(loading, "a", row))
                        .hasMessage("column must be one of [length, other, name], got color");
            }
            try (VersionedRows.Reader reader = table.reader()) {
                RowBatch rows = RowBatch.onHeap();
                reader.getAll(new long[1], rows, "other");
                assertThatThrownBy(() -> names.retain(List.of("a"), rows))
                        .hasMessage("column must be one of [other], got name");
                assertThatThrownBy(() -> names.retain(List.of(), rows)).hasMessage("texts must be 1, got 0");
            }
        }
    }
}
