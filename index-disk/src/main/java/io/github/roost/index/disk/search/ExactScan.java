package io.github.roost.index.disk.search;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.format.Space;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/** Exact search that reads every page once for all queries; blocks, for recall measurements. Stateless. */
record ExactScan(DiskGraph graph, ProductCodes codes) {
    /**
     * The k nearest rows of each query.
     *
     * @param expired asked before each page
     * @throws DeadlineExceededException if it has expired
     */
    SearchResult[] nearest(float[][] queries, int k, BooleanSupplier expired) {
        DiskLayout layout = codes.layout();
        int nodes = codes.nodes();
        float[][] inSpace = Arrays.stream(queries)
                .map(query -> codes.inScale(Space.of(graph.metric(), query)))
                .toArray(float[][]::new);
        Nearest[] found = new Nearest[queries.length];
        Arrays.setAll(found, query -> new Nearest(k));
        float[] vector = new float[layout.dimension()];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int number = 0; number < layout.pages(nodes); number++) {
                if (expired.getAsBoolean()) {
                    throw new DeadlineExceededException();
                }
                NodePage page = graph.read(number, memory);
                int first = layout.firstNode(number);
                int end = Math.min(first + layout.nodesPerPage(), nodes);
                for (int node = first; page != null && node < end; node++) {
                    if (page.isSound(node, graph.codes().nodes()) && codes.isRow(node, page.id(node))) {
                        codes.vector(page, node, vector);
                        for (int query = 0; query < queries.length; query++) {
                            found[query].addRow(node, page.id(node), Vectors.squaredDistance(inSpace[query], vector));
                        }
                    }
                }
            }
        }
        SearchResult[] all = new SearchResult[queries.length];
        Arrays.setAll(all, query -> neighbors(found[query]));
        return all;
    }

    private SearchResult neighbors(Nearest found) {
        long[] ids = new long[found.size()];
        float[] distances = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = found.id(i);
            distances[i] = codes.reported(graph.metric(), found.distance(i));
        }
        return SearchResult.sorted(ids, distances);
    }
}
