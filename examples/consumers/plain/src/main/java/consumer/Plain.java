package consumer;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import java.lang.module.ModuleDescriptor;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Searches two tables as a named module, without Micrometer, and looks at what Roost's modules show to it: packages of
 * an API, and none of what is behind.
 */
public final class Plain {
    private Plain() {}

    public static void main(String[] args) {
        float[][] rows = rows(2_000, 32);
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable graph = HnswTable.builder().build(orchestrator, rows);
                IvfTable lists = IvfTable.builder().nlist(16).build(orchestrator, rows)) {
            for (int row = 0; row < rows.length; row += 97) {
                require(graph.search(rows[row], 1, 50).join().ids()[0] == row, "HNSW did not find row " + row);
                require(lists.search(rows[row], 1, 16).join().ids()[0] == row, "IVF did not find row " + row);
            }
            System.out.println("plain: found every row asked for, with " + orchestrator.workers() + " workers");
        }
        var exported = new TreeSet<>(ModuleLayer.boot().modules().stream()
                .filter(module -> module.getName().startsWith("io.github.roost."))
                .flatMap(module -> module.getDescriptor().exports().stream())
                .filter(export -> !export.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet()));
        System.out.println("plain: sees " + exported);
        require(exported.contains("io.github.roost.core"), "the core's API is not exported");
        for (String internal : new String[] {"core.pool", "topology.hwloc", "index.hnsw.walk", "index.ivf.kernel"}) {
            require(!exported.contains("io.github.roost." + internal), internal + " is exported");
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
