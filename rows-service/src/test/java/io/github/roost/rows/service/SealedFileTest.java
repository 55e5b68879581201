package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Versions whose files are built once and copied to the servers. */
class SealedFileTest {
    private static final Schema SCHEMA = Schema.of(Column.ofLong("value"));
    private static final Served ALL = new Served(1, Set.of(0));
    private static final int ROWS = 1_000;

    @TempDir
    private Path folder;

    private Path shipped;
    private int loads;
    private boolean isRenamed;
    /** Whether another snapshot takes its place while it is copied. */
    private boolean renames;

    private final RowSource source = new RowSource() {
        @Override
        public Schema schema(long version) {
            return SCHEMA;
        }

        @Override
        public String snapshot(long version) {
            return (isRenamed ? "later snapshot " : "snapshot ") + version;
        }

        @Override
        public Path sealedFile(long version, Served shards) {
            isRenamed |= renames;
            return shipped;
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            loads++;
        }
    };

    @BeforeEach
    void seal() throws IOException {
        Path elsewhere = folder.resolve("elsewhere");
        try (VersionedRows rows = VersionedRows.open(elsewhere);
                VersionBuilder building = rows.begin(7, SCHEMA)) {
            RowWriter row = building.writer();
            for (long key = 0; key < ROWS; key++) {
                building.put(key, row.setLong(0, 3 * key));
            }
            building.seal();
        }
        shipped = folder.resolve("shipped");
        Files.move(elsewhere.resolve("version-7.roost"), shipped);
    }

    private static void assertRows(RowsNode node) {
        long[] keys = {0, 1, ROWS - 1, ROWS};
        assertThat(node.<List<Long>>fetch(
                        7,
                        1,
                        0,
                        keys,
                        List.of(),
                        1 << 20,
                        Duration.ofMinutes(1),
                        (is, rows) ->
                                List.of(rows.getLong(0, 0), rows.getLong(1, 0), rows.getLong(2, 0), present(rows))))
                .containsExactly(0L, 3L, 3L * (ROWS - 1), 3L);
    }

    private static long present(RowBatch rows) {
        return rows.present();
    }

    @Test
    void aFileThatWasBuiltElsewhereIsServedAlsoAfterARestart() throws IOException {
        for (int i = 0; i < 2; i++) {
            try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
                node.load(1, 7, ALL, source);
                assertRows(node);
                assertThat(node.view().versions().get(7L)).isEqualTo(ALL.of(Content.of("snapshot 7")));
            }
        }
        assertThat(loads).isZero();
    }

    @Test
    void aFileOfAnotherSnapshotIsNotTakenForTheOneThatWasThereBefore() throws IOException {
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
            renames = true;
            assertThatThrownBy(() -> node.load(1, 7, ALL, source))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the source must stay at snapshot snapshot 7");
            assertThat(node.view().versions()).isEmpty();
            assertThat(folder.resolve("a/version-7.roost")).doesNotExist();
            node.load(1, 7, ALL, source);
            assertRows(node);
            assertThat(node.view().versions().get(7L)).isEqualTo(ALL.of(Content.of("later snapshot 7")));
        }
    }

    @Test
    void aFileThatIsMissingDamagedOrOfAnotherVersionIsRefusedAndCopiedAgain() throws IOException {
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
            Path whole = Files.copy(shipped, folder.resolve("whole"));
            Files.delete(shipped);
            assertThatThrownBy(() -> node.load(1, 7, ALL, source)).isInstanceOf(NoSuchFileException.class);
            Files.copy(whole, shipped);
            assertThatThrownBy(() -> node.load(1, 8, ALL, source)).isInstanceOf(FileFormatException.class);
            for (long at : new long[] {0, 100, Files.size(whole) / 2}) {
                Files.copy(whole, shipped, StandardCopyOption.REPLACE_EXISTING);
                try (FileChannel file = FileChannel.open(shipped, StandardOpenOption.WRITE)) {
                    file.write(ByteBuffer.wrap(new byte[] {99}), at);
                }
                assertThatThrownBy(() -> node.load(1, 7, ALL, source)).isInstanceOf(FileFormatException.class);
                assertThat(node.view().versions()).isEmpty();
            }
            Files.copy(whole, shipped, StandardCopyOption.REPLACE_EXISTING);
            node.load(1, 7, ALL, source);
            assertRows(node);
        }
    }
}
