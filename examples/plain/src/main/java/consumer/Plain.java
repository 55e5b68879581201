package consumer;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.VectorTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.rows.Attributes;
import io.github.roost.rows.Column;
import io.github.roost.rows.Enriched;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionedRows;
import io.github.roost.rows.VersionBuilder;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Searches two tables from a named module, without Micrometer, and checks that only the API packages of Roost's modules are visible. */
public final class Plain {
    private Plain() {}

    public static void main(String[] args) throws IOException {
        float[][] rows = rows(2_000, 32);
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable graph = HnswTable.builder().build(orchestrator, rows);
                VectorTable lists = IvfTable.builder().nlist(16).build(orchestrator, rows)) {
            for (VectorTable table : List.of(graph, lists)) {
                for (int row = 0; row < rows.length; row += 97) {
                    SearchRequest request = SearchRequest.of(rows[row], 1).effort(16).timeout(Duration.ofMinutes(1));
                    long found = table.search(request).join().ids()[0];
                    require(found == row, table.name() + " found row " + found + " for row " + row);
                }
                System.out.println("plain: found every row asked for in " + table.stats());
            }
            describe(orchestrator, graph, rows);
        }
        var exported = new TreeSet<>(ModuleLayer.boot().modules().stream()
                .filter(module -> module.getName().startsWith("io.github.roost."))
                .flatMap(module -> module.getDescriptor().exports().stream())
                .filter(export -> !export.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet()));
        System.out.println("plain: sees " + exported);
        require(exported.contains("io.github.roost.core"), "the core's API is not exported");
        for (String internal : new String[] {"core.pool", "topology.hwloc", "index.hnsw.search", "index.ivf.kernel"}) {
            require(!exported.contains("io.github.roost." + internal), internal + " is exported");
        }
    }

    /** Searches with attributes: one request, whose worker finds the rows and reads their attributes. */
    private static void describe(Orchestrator orchestrator, HnswTable graph, float[][] rows) throws IOException {
        Path folder = Files.createTempDirectory("consumer-");
        try (Table items = Table.open(folder)) {
            try (VersionBuilder loading = items.begin(1, Schema.of(Column.ofText("name"), Column.ofText("section")))) {
                RowWriter item = loading.writer();
                for (int row = 0; row < rows.length; row++) {
                    loading.put(row, item.setText(0, "item " + row).setText(1, row % 2 == 0 ? "even" : "odd"));
                }
                loading.seal();
            }
            items.publish(1);
            SearchFunction<float[], Enriched> search =
                    Attributes.after(graph.searchFunction(3, 50), items, "name", "section");
            Enriched answer = orchestrator.submit(search, rows[97], graph.registration().id()).join();
            RowBatch found = answer.rows();
            for (int i = 0; i < found.size(); i++) {
                long id = answer.result().ids()[i];
                require(found.isPresent(i) && found.getText(i, 0).equals("item " + id), "row " + id + " has no name");
                require(found.getText(i, 1).equals(id % 2 == 0 ? "even" : "odd"), "row " + id + " has another section");
            }
            System.out.println("plain: nearest to row 97 are " + found.getText(0, 0) + " (" + found.getText(0, 1) + "), "
                    + found.getText(1, 0) + " (" + found.getText(1, 1) + "), of version " + found.version());
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static float[][] rows(int count, int dimension) {
        Random random = new Random(7);
        float[][] rows = new float[count][dimension];
        for (float[] row : rows) {
            for (int i = 0; i < dimension; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return rows;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
