package example;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.vector.SearchResult;
import java.util.Random;

/**
 * The first program: builds a table of vectors, searches it, and closes it.
 *
 * <p>An {@link Orchestrator} runs searches on workers pinned to the machine's cores; a process needs one. It gives each table a home, the cores
 * that share a last-level cache, and runs the table's searches there. A table has an HNSW graph, off the heap.
 */
public final class QuickStart {
    private QuickStart() {}

    public static void main(String[] args) {
        float[][] rows = randomRows(2_000, 32);
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable table = HnswTable.builder().name("products").build(orchestrator, rows)) {
            // Searches are asynchronous: a server has many under way. Rows have their indices as ids, if the builder
            // gets no others.
            SearchResult nearest = table.search(rows[97], 3).join();
            for (int i = 0; i < nearest.size(); i++) {
                System.out.printf("row %d, squared distance %.2f%n", nearest.ids()[i], nearest.distances()[i]);
            }
            System.out.println(table.stats());

            if (nearest.size() != 3 || nearest.ids()[0] != 97) {
                throw new IllegalStateException("the nearest row must be 97 itself, got " + nearest);
            }
        }
    }

    private static float[][] randomRows(int count, int dimension) {
        Random random = new Random(7);
        float[][] rows = new float[count][dimension];
        for (float[] row : rows) {
            for (int i = 0; i < dimension; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return rows;
    }
}
