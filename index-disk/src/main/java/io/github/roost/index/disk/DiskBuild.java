package io.github.roost.index.disk;

import static io.github.roost.index.disk.DiskLayout.CENTROIDS;
import static io.github.roost.index.disk.DiskLayout.FLOAT;
import static io.github.roost.index.disk.DiskLayout.LONG;

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
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;

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
        List<VectorFloat<?>> inSpace = new ArrayList<>(rows.length);
        float[][] copies = new float[rows.length][];
        for (int row = 0; row < rows.length; row++) {
            copies[row] = Space.of(metric, rows[row]);
            inSpace.add(VECTORS.createFloatVector(copies[row]));
        }
        RandomAccessVectorValues vectors = new ListRandomAccessVectorValues(inSpace, layout.dimension());
        OnHeapGraphIndex graph = graph(vectors);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(layout.memoryBytes(), BlockIo.BLOCK_BYTES);
            encode(vectors, ids, memory);
            writePages(file, graph, copies);
            file.write(layout.memoryBlock(), memory);
            MemorySegment roots =
                    arena.allocate(DiskLayout.SUPERBLOCKS * (long) BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            file.sync();
            int entry = Objects.requireNonNull(graph.entryNode(), "a graph that was built has an entry node").node;
            new Superblock(1, layout, metric, entry, Superblock.checksum(memory))
                    .write(roots.asSlice(0, BlockIo.BLOCK_BYTES));
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
        orchestrator.runBatch("disk (graph)", layout.nodes(), row -> builder.addGraphNode(row, vectors.getVector(row)));
        OnHeapGraphIndex graph = (OnHeapGraphIndex) builder.getGraph();
        orchestrator.runBatch("disk (graph)", layout.nodes(), graph::enforceDegree);
        return graph;
    }

    private void encode(RandomAccessVectorValues vectors, long[] ids, MemorySegment memory) {
        ProductQuantization quantization =
                ProductQuantization.compute(vectors, layout.codeBytes(), Math.min(CENTROIDS, layout.nodes()), false);
        for (int node = 0; node < layout.nodes(); node++) {
            memory.set(LONG, layout.idOffset(node), ids[node]);
        }
        ByteSequence<?> same = VECTORS.createByteSequence(layout.codeBytes());
        VectorFloat<?> centroids = VECTORS.createFloatVector(layout.dimension());
        for (int centroid = 0; centroid < quantization.getClusterCount(); centroid++) {
            for (int part = 0; part < layout.codeBytes(); part++) {
                same.set(part, (byte) centroid);
            }
            // A code of the same byte throughout stands for the vector of that centroid of every part.
            quantization.decode(same, centroids);
            for (int i = 0; i < layout.dimension(); i++) {
                memory.set(FLOAT, layout.centroidOffset(centroid, i), centroids.get(i));
            }
        }
        orchestrator.runBatch("disk (codes)", layout.nodes(), node -> {
            ByteSequence<?> code = quantization.encode(vectors.getVector(node));
            for (int part = 0; part < layout.codeBytes(); part++) {
                memory.set(ValueLayout.JAVA_BYTE, layout.codeOffset(node) + part, code.get(part));
            }
        });
    }

    private void writePages(BlockFile file, OnHeapGraphIndex graph, float[][] vectors) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment run = arena.allocate((long) RUN * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int first = 0; first < layout.pages(); first += RUN) {
                int count = Math.min(RUN, layout.pages() - first);
                for (int i = 0; i < count; i++) {
                    MemorySegment memory = run.asSlice((long) i * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
                    fill(new NodePage(layout, first + i, memory), graph, vectors);
                }
                file.write(layout.blockOf(first), run.asSlice(0, (long) count * BlockIo.BLOCK_BYTES));
            }
        }
    }

    private void fill(NodePage page, OnHeapGraphIndex graph, float[][] vectors) {
        page.clear();
        int begin = page.number() * layout.nodesPerPage();
        for (int node = begin; node < begin + layout.nodesIn(page.number()); node++) {
            NodesIterator iterator = graph.getNeighborsIterator(0, node);
            int[] neighbors = new int[Math.min(layout.degree(), iterator.size())];
            for (int i = 0; i < neighbors.length; i++) {
                neighbors[i] = iterator.nextInt();
            }
            page.put(node, vectors[node], neighbors);
        }
        page.seal();
    }
}
