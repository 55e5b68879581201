package io.github.roost.bench.sim;

import io.github.roost.bench.workload.WorkloadSpec;
import java.util.List;

/**
 * What the searches of a workload read, recorded from real ones.
 *
 * @param spec the workload
 * @param tables one for each of its tables
 */
public record Traces(WorkloadSpec spec, List<Table> tables) {
    /** Rows are read in blocks of so many bytes: a page, which is what prefetchers run through. */
    static final int BLOCK_BYTES = 4096;

    /**
     * One table. Arrays are not copied.
     *
     * @param name shows in reports
     * @param rowBytes what a visited row takes: for HNSW a vector and its links, for IVF a vector
     * @param rowCount number of rows
     * @param k neighbours that its searches want
     * @param listRows for IVF the rows of each list, else empty
     * @param visits for each target the nodes visited, or the lists scanned, in order
     */
    public record Table(String name, int rowBytes, int rowCount, int k, int[] listRows, int[][] visits) {
        /** Whether these visits are a search that looked at all rows in their order, and not a walk through the graph. */
        static boolean isWhole(int[] visited) {
            int last = visited.length - 1;
            return last >= 2 && visited[0] == 0 && visited[last / 2] == last / 2 && visited[last] == last;
        }

        /** Mapping ids: one, or one a list. */
        int slots() {
            return Math.max(1, listRows.length);
        }

        /** Nodes or blocks, each with a key of its own. */
        int items() {
            if (listRows.length == 0) {
                return rowCount;
            }
            int blocks = 0;
            for (int list = 0; list < listRows.length; list++) {
                blocks += blocks(list);
            }
            return blocks;
        }

        int blocks(int list) {
            return Math.toIntExact(((long) listRows[list] * rowBytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
        }
    }
}
