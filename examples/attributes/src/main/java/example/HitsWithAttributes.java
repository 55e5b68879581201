package example;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.rows.Attributes;
import io.github.roost.rows.Column;
import io.github.roost.rows.Attributes.Enriched;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Names and sections with the vectors found: the worker that finds the nearest ids also reads their rows. The rows of an answer are all of one
 * version; a later version, loaded beside it, replaces it at once.
 */
public final class HitsWithAttributes {
    private HitsWithAttributes() {}

    public static void main(String[] args) throws IOException {
        float[][] vectors = randomVectors(2_000, 32);
        Path folder = Files.createTempDirectory("example-rows-");
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable table = HnswTable.builder().name("items").build(orchestrator, vectors);
                VersionedRows rows = VersionedRows.open(folder)) {
            load(rows, vectors.length);

            SearchFunction<float[], Enriched> search =
                    Attributes.after(table.searchFunction(3, 50), rows, "name", "section");
            Enriched answer = orchestrator
                    .submit(search, vectors[97], table.registration().id())
                    .join();
            RowBatch found = answer.rows();
            for (int i = 0; i < found.size(); i++) {
                long id = answer.result().ids()[i];
                System.out.printf(
                        "id %d: %s, section %s, of version %d%n",
                        id, found.getText(i, 0), found.getText(i, 1), found.version());
                if (!found.isPresent(i)
                        || !found.getText(i, 0).equals("item " + id)
                        || !found.getText(i, 1).equals(id % 2 == 0 ? "even" : "odd")) {
                    throw new IllegalStateException("id " + id + " has the row of another");
                }
            }
            if (found.size() != 3 || answer.result().ids()[0] != 97) {
                throw new IllegalStateException("the nearest row must be 97 itself, got " + answer.result());
            }
        } finally {
            delete(folder);
        }
    }

    private static void load(VersionedRows rows, int count) throws IOException {
        try (VersionBuilder version = rows.begin(1, Schema.of(Column.ofText("name"), Column.ofText("section")))) {
            RowWriter row = version.writer();
            for (int id = 0; id < count; id++) {
                version.put(id, row.setText(0, "item " + id).setText(1, id % 2 == 0 ? "even" : "odd"));
            }
            version.seal();
        }
        rows.publish(1);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static float[][] randomVectors(int count, int dimension) {
        Random random = new Random(7);
        float[][] vectors = new float[count][dimension];
        for (float[] vector : vectors) {
            for (int i = 0; i < dimension; i++) {
                vector[i] = (float) random.nextGaussian();
            }
        }
        return vectors;
    }
}
