package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.CENTROIDS;
import static io.github.roost.index.disk.DiskLayout.FLOAT;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.quantization.ProductQuantization;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.ByteSequence;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntFunction;

/**
 * Builds the file of a table: a graph without layers and codes by jvector, then pages, then what is kept in memory, then a sync; and
 * only then the superblock that says all of it is there, and another sync. Used once.
 */
final class DiskBuild {
    private static final VectorTypeSupport VECTORS =
            VectorizationProvider.getInstance().getVectorTypeSupport();
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    /** Pages written at once. */
    private static final int RUN = 256;

    private final Orchestrator orchestrator;
    private final DiskLayout layout;
    private final Metric metric;
    private final int width;

    DiskBuild(Orchestrator orchestrator, DiskLayout layout, Metric metric, int width) {
        this.orchestrator = orchestrator;
        this.layout = layout;
        this.metric = metric;
        this.width = width;
    }

    void run(BlockFile file, long[] ids, float[][] rows) throws IOException {
        int nodes = rows.length;
        List<VectorFloat<?>> inSpace = new ArrayList<>(nodes);
        float[][] copies = new float[nodes][];
        for (int row = 0; row < nodes; row++) {
            copies[row] = Space.of(metric, rows[row]);
            inSpace.add(VECTORS.createFloatVector(copies[row]));
        }
        RandomAccessVectorValues vectors = new ListRandomAccessVectorValues(inSpace, layout.dimension());
        OnHeapGraphIndex graph = graph(vectors);
        try (Arena arena = Arena.ofShared()) {
            Codes codes = new Codes(
                    layout, arena.allocate((long) layout.centroidBlocks() * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES));
            codes.grow(nodes);
            encode(vectors, ids, codes);
            BlockMap map = new BlockMap();
            int pages = layout.pages(nodes);
            int rowBlocks = layout.rowBlocks(nodes);
            map.grow(pages, rowBlocks);
            int next = layout.firstFreeBlock();
            file.write(DiskLayout.centroidBlock(), codes.centroids());
            for (int page = 0; page < pages; page++) {
                map.setPage(page, next + page);
            }
            writeRuns(file, next, pages, number -> page(number, graph, copies, ids));
            next += pages;
            for (int block = 0; block < rowBlocks; block++) {
                map.setRowBlock(block, next + block);
            }
            writeRuns(file, next, rowBlocks, number -> MemorySegment.ofArray(codes.sealed(number)));
            next += rowBlocks;
            MemorySegment section =
                    arena.allocate((long) BlockMap.blocks(pages, rowBlocks) * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            map.write(section, pages, rowBlocks);
            file.write(next, section);
            MemorySegment roots =
                    arena.allocate(DiskLayout.SUPERBLOCKS * (long) BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            file.sync();
            int entry = Objects.requireNonNull(graph.entryNode(), "a graph that was built has an entry node").node;
            new Superblock(
                            1,
                            new SecureRandom().nextLong(),
                            layout,
                            metric,
                            nodes,
                            entry,
                            next,
                            Blocks.checksumOf(section),
                            Blocks.checksumOf(codes.centroids()))
                    .write(roots.asSlice((long) Superblock.blockOf(1) * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES));
            file.write(0, roots);
            file.sync();
        }
    }

    private OnHeapGraphIndex graph(RandomAccessVectorValues vectors) {
        BuildScoreProvider scores =
                BuildScoreProvider.randomAccessScoreProvider(vectors, VectorSimilarityFunction.EUCLIDEAN);
        GraphIndexBuilder builder = GraphIndexBuilder.builder(scores, layout.dimension(), layout.degree())
                .withBeamWidth(width)
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                // Neither is used: what jvector would run on them is done below on the workers.
                .withSimdExecutor(ForkJoinPool.commonPool())
                .withParallelExecutor(ForkJoinPool.commonPool())
                .build();
        orchestrator.runBatch("disk (graph)", vectors.size(), row -> builder.addGraphNode(row, vectors.getVector(row)));
        OnHeapGraphIndex graph = (OnHeapGraphIndex) builder.getGraph();
        orchestrator.runBatch("disk (graph)", vectors.size(), graph::enforceDegree);
        return graph;
    }

    private void encode(RandomAccessVectorValues vectors, long[] ids, Codes codes) {
        ProductQuantization quantization =
                ProductQuantization.compute(vectors, layout.codeBytes(), Math.min(CENTROIDS, ids.length), false);
        ByteSequence<?> same = VECTORS.createByteSequence(layout.codeBytes());
        VectorFloat<?> centroids = VECTORS.createFloatVector(layout.dimension());
        for (int centroid = 0; centroid < CENTROIDS; centroid++) {
            for (int part = 0; part < layout.codeBytes(); part++) {
                // Of fewer than 256 the rest are the last one, so that a new row may be of any.
                same.set(part, (byte) Math.min(centroid, quantization.getClusterCount() - 1));
            }
            // A code of the same byte throughout stands for the vector of that centroid of every part.
            quantization.decode(same, centroids);
            for (int i = 0; i < layout.dimension(); i++) {
                codes.centroids().set(FLOAT, layout.centroidOffset(centroid, i), centroids.get(i));
            }
        }
        orchestrator.runBatch("disk (codes)", ids.length, node -> {
            ByteSequence<?> code = quantization.encode(vectors.getVector(node));
            byte[] bytes = new byte[layout.codeBytes()];
            for (int part = 0; part < bytes.length; part++) {
                bytes[part] = code.get(part);
            }
            codes.put(node, ids[node], bytes, Codes.LIVE);
        });
    }

    private static void writeRuns(BlockFile file, int first, int count, IntFunction<MemorySegment> block)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment run = arena.allocate((long) RUN * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int begin = 0; begin < count; begin += RUN) {
                int length = Math.min(RUN, count - begin);
                for (int i = 0; i < length; i++) {
                    MemorySegment.copy(
                            block.apply(begin + i), 0, run, (long) i * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
                }
                file.write(first + begin, run.asSlice(0, (long) length * BlockIo.BLOCK_BYTES));
            }
        }
    }

    private MemorySegment page(int number, OnHeapGraphIndex graph, float[][] vectors, long[] ids) {
        NodePage page = NodePage.empty(layout, number);
        int begin = layout.firstNode(number);
        for (int node = begin; node < Math.min(begin + layout.nodesPerPage(), ids.length); node++) {
            NodesIterator iterator = graph.getNeighborsIterator(0, node);
            int[] neighbors = new int[Math.min(layout.degree(), iterator.size())];
            for (int i = 0; i < neighbors.length; i++) {
                neighbors[i] = iterator.nextInt();
            }
            page.put(node, ids[node], vectors[node], neighbors, neighbors.length);
        }
        page.seal();
        return page.memory();
    }
}
