package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables of somebody's own files, and that they are kept. */
class UserTableTest {
    private static final float[][] ROWS = {{0, 0}, {3, 4}, {6, 8}, {0, 1}};

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .build();
    private final List<DescribedTable> built = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void close() {
        built.forEach(table -> table.rows().close());
        orchestrator.close();
    }

    private DescribedTable table(Path file) throws IOException {
        built.addAll(UserTable.of(file, null).build(orchestrator, table -> {}));
        return built.getLast();
    }

    @Test
    void rowsOfAnFvecsFileHaveTheirOrdinalsAsIdsAndNames() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(ROWS.length * 12).order(ByteOrder.LITTLE_ENDIAN);
        for (float[] row : ROWS) {
            bytes.putInt(2).putFloat(row[0]).putFloat(row[1]);
        }
        DescribedTable table = table(Files.write(folder.resolve("some.fvecs"), bytes.array()));

        assertThat(table.name()).isEqualTo("some");
        assertThat(table.rows().metric()).isEqualTo(Metric.SQUARED_L2);
        assertThat(table.vectorOf("1"))
                .hasValueSatisfying(row -> assertThat(row).containsExactly(3, 4));
        assertThat(table.vectorOf("4")).isEmpty();
        assertThat(table.rows().search(new float[] {3, 4}, 1, 10).join().ids()).containsExactly(1);
    }

    @Test
    void anHdf5FileOfAnnBenchmarksNamesItsMetric() throws IOException {
        Path file = folder.resolve("glove.hdf5");
        try (WritableHdfFile hdf = HdfFile.write(file)) {
            hdf.putDataset("train", new float[][] {{1, 0}, {0, 2}, {5, 5}});
            hdf.putAttribute("distance", "angular");
        }
        DescribedTable table = table(file);

        assertThat(table.rows().metric()).isEqualTo(Metric.COSINE);
        assertThat(table.rows().search(new float[] {0, 9}, 1, 10).join().ids()).containsExactly(1);
    }

    @Test
    void jsonLinesHaveIdsNamesAndWords() throws IOException {
        DescribedTable table = table(Files.writeString(folder.resolve("notes.jsonl"), """
                {"id": 70, "vector": [0, 0], "attributes": {"name": "origin", "kind": "point", "size": 2}}

                {"id": -1, "vector": [3.5, 4]}
                """));

        assertThat(table.item(70)).hasValueSatisfying(item -> {
            assertThat(item.name()).isEqualTo("origin");
            assertThat(item.text()).isEqualTo("kind: point, size: 2");
        });
        assertThat(table.item(-1)).contains(new Item("-1", ""));
        assertThat(table.rows().search(new float[] {3, 4}, 1, 10).join().ids()).containsExactly(-1);
        assertThat(table.vectorOf("origin"))
                .hasValueSatisfying(row -> assertThat(row).containsExactly(0, 0));
    }

    @Test
    void idsThatAreTextsComeBackAlsoWhereTheRowHasAName() throws IOException {
        DescribedTable table = table(Files.writeString(folder.resolve("stock.jsonl"), """
                {"id": "sku-1", "vector": [1]}
                {"id": "sku-2", "vector": [2], "attributes": {"name": "a lamp", "price": 20}}
                """));

        assertThat(table.item(0).orElseThrow().name()).isEqualTo("sku-1");
        assertThat(table.item(1).orElseThrow().name()).isEqualTo("a lamp");
        assertThat(table.idOf("sku-2")).contains(1L);
        assertThat(table.vectorOf("sku-2"))
                .hasValueSatisfying(row -> assertThat(row).containsExactly(2));
        Searches searches =
                new Searches(orchestrator, new Tables(List.of(table), Map.of(), () -> {}), Duration.ofSeconds(10));
        SearchBody body = Json.read(
                "{\"like\":\"sku-2\",\"k\":2,\"filter\":{\"notIds\":[\"sku-1\"]}}".getBytes(StandardCharsets.UTF_8),
                SearchBody.class);
        assertThat(searches.answer(List.of(table), body).hits())
                .containsExactly(new SearchAnswer.Hit("stock", 1, "sku-2", "a lamp", "price: 20", 0));
        table.put(List.of(new NewVector(1L, new Item("another lamp", ""), new float[] {3})));
        assertThat(table.idOf("sku-2")).contains(1L);
        assertThat(table.remove(1)).isTrue();
        assertThat(table.idOf("sku-2")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"id\":1,\"vector\":[1,2]};{\"id\":1,\"vector\":[1,2]} | line 2: id 1 is in an earlier line, too",
                "{\"id\":1,\"vector\":[1,2]};{\"id\":2,\"vector\":[1]} | line 2: vector must have 2 dimensions, as in earlier lines, got 1",
                "{\"id\":1,\"vector\":[1,\"a\"]} | line 1: vector must be finite, got \"a\" in dimension 1",
                "{\"id\":1,\"vector\":[]} | line 1: dimension must be between 1 and 4,096, got 0",
                "{\"id\":1} | line 1: vector must be an array of numbers, got nothing",
                "{\"vector\":[1]} | line 1: id must be a whole number of 64 bits or a text, got nothing",
                "{\"id\":\"a\",\"vector\":[1]};{\"id\":\"a\",\"vector\":[1]} | line 2: id \"a\" is in an earlier line, too",
                "{\"id\":\"a\",\"vector\":[1]};{\"id\":0,\"vector\":[1]} | line 2: ids must be all numbers or all texts, got 0",
                "{\"id\":0,\"vector\":[1]};{\"id\":\"a\",\"vector\":[1]} | line 2: ids must be all numbers or all texts, got \"a\"",
                "{\"id\":\"\",\"vector\":[1]} | line 1: id must be a whole number of 64 bits or a text, got \"\"",
                "{\"id\":\"a\\nb\",\"vector\":[1]} | line 1: id must be a text in one line that is not . or .., got \"a\\nb\"",
                "{\"id\":\"..\",\"vector\":[1]} | line 1: id must be a text in one line that is not . or .., got \"..\"",
                "{\"id\":1.5,\"vector\":[1]} | line 1: id must be a whole number of 64 bits or a text, got 1.5",
                "{\"id\":1,\"vector\":[1],\"attributes\":3} | line 1: attributes must be an object, got 3",
                "{ | line 1 must be a JSON object",
                "`` | must hold at least one row, got none",
            })
    void aLineThatIsWrongIsNamed(String lines, String fault) throws IOException {
        Path file = Files.writeString(folder.resolve("wrong.jsonl"), lines.replace(';', '\n'));
        assertThatThrownBy(() -> UserTable.of(file, null))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining(fault);
    }

    @Test
    void filesThatAreNotWhatTheirNamesSayAreNamed() throws IOException {
        Path hdf = Files.writeString(folder.resolve("text.hdf5"), "no HDF5");
        assertThatThrownBy(() -> UserTable.of(hdf, null))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("text.hdf5");
        assertThatThrownBy(() -> UserTable.of(folder.resolve("gone.fvecs"), null))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("gone.fvecs");
        Path other = Files.writeString(folder.resolve("rows.csv"), "1,2");
        assertThatThrownBy(() -> table(other)).isInstanceOf(IOException.class).hasMessageContaining("rows.csv");
    }

    @Test
    void tablesAreKeptUntilTheirKeyChanges() throws IOException {
        Path file = Files.writeString(folder.resolve("a.jsonl"), "{\"id\":5,\"vector\":[1]}\n");
        UserTable data = UserTable.of(file, null);
        KeptTables kept = new KeptTables(folder.resolve("kept"), "key");
        assertThat(kept.open(orchestrator, data.names())).isEmpty();
        kept.keep(List.of(table(file).rows()));

        List<LiveTable> opened = kept.open(orchestrator, data.names()).orElseThrow();
        assertThat(opened).hasSize(1);
        assertThat(opened.getFirst().vector(5)).containsExactly(1);
        opened.getFirst().close();
        assertThat(new KeptTables(folder.resolve("kept"), "another").open(orchestrator, data.names()))
                .isEmpty();
        Files.write(folder.resolve("kept/0.roost"), new byte[100]);
        assertThat(kept.open(orchestrator, data.names())).isEmpty();
    }
}
