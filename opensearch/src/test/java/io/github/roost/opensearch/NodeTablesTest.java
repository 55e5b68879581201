package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.rows.Column;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeTablesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path data;

    private Path folder;

    @BeforeEach
    void sealAVersion() throws IOException {
        folder = data.resolve(NodeTables.FOLDER).resolve("items");
        seal(folder, 1);
    }

    private static void seal(Path folder, long version) throws IOException {
        Files.createDirectories(folder);
        Schema schema = Schema.of(Column.ofLong("price"));
        try (VersionedRows table = VersionedRows.open(folder);
                VersionBuilder builder = table.begin(version, schema)) {
            builder.put(1, builder.writer().clear().setLong(0, version));
            builder.seal();
        }
    }

    private static @Nullable Object versionOf(NodeTables tables) {
        return tables.report().get("items") instanceof Map<?, ?> items ? items.get("version") : null;
    }

    private static long price(NodeTables tables) {
        return tables.rows("items", "goods-1", new long[] {1}, List.of("price")).getLong(0, 0);
    }

    @Test
    void onlyTheIndexesThatThePatternsNameReadATable() {
        try (NodeTables tables = new NodeTables()) {
            tables.begin(data);
            assertThatThrownBy(() -> price(tables))
                    .hasMessage("table [items] may be read by indexes [], which roost.tables.items.indexes names");
            tables.readers(Map.of("items", List.of("good", "shops*")));
            assertThatThrownBy(() -> price(tables)).hasMessageContaining("may be read by indexes [good, shops*]");
            tables.readers(Map.of("items", List.of("shops*", "goods-?", "goods*")));
            assertThat(price(tables)).isEqualTo(1);
            tables.readers(Map.of("items", List.of()));
            assertThatThrownBy(() -> price(tables)).hasMessageContaining("may be read by indexes []");
        }
    }

    /** Another process has the table open: its folder is locked. */
    @Test
    void aTableThatCouldNotBeOpenedForAWhileIsReadThoughItsFilesStayTheSame() throws IOException {
        try (NodeTables tables = new NodeTables()) {
            tables.readers(Map.of("items", List.of("goods*")));
            try (VersionedRows other = VersionedRows.open(folder)) {
                assertThat(other.sealedVersions()).containsExactly(1L);
                tables.begin(data);
                assertThatThrownBy(() -> price(tables)).hasMessageContaining("there is no table [items]");
            }
            tables.look();
            assertThat(price(tables)).isEqualTo(1);
            assertThat(versionOf(tables)).isEqualTo(1L);
        }
    }

    @Test
    void aDamagedVersionIsReadAgainOnlyWhenItsFileHasChanged() throws IOException {
        try (NodeTables tables = new NodeTables()) {
            tables.begin(data);
            Path next = data.resolve("next");
            seal(next, 2);
            Path whole = next.resolve("version-2.roost");
            Path damaged = folder.resolve("version-2.roost");
            byte[] bytes = Files.readAllBytes(whole);
            FileTime time = Files.getLastModifiedTime(whole);
            byte[] wrong = bytes.clone();
            wrong[wrong.length / 2] ^= 1;
            Path aside = data.resolve("aside");
            Files.write(aside, wrong);
            Files.setLastModifiedTime(aside, time);
            Files.move(aside, damaged, StandardCopyOption.ATOMIC_MOVE);
            tables.look();
            assertThat(versionOf(tables)).isEqualTo(1L);
            assertThat(tables.report().toString()).contains("fault");

            Files.write(aside, bytes);
            Files.setLastModifiedTime(aside, time);
            Files.move(aside, damaged, StandardCopyOption.ATOMIC_MOVE);
            tables.look();
            assertThat(versionOf(tables)).as("same name, size and time").isEqualTo(1L);

            Files.setLastModifiedTime(damaged, FileTime.fromMillis(time.toMillis() + 1_000));
            tables.look();
            assertThat(versionOf(tables)).isEqualTo(2L);
            assertThat(tables.report().toString()).doesNotContain("fault");
        }
    }
}
