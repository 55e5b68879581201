package io.github.roost.index.disk.build;

import static io.github.roost.index.disk.format.DiskLayout.CENTROIDS;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.roost.index.disk.format.BlockMap;
import io.github.roost.index.disk.format.CodeErrors;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.MeanError;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.format.Space;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.Checksum;
import io.github.roost.vector.spi.BuildWork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Builds the file of a table: a single-layer graph by jvector, an order of its nodes in pages, and codes; writes pages, row blocks and map, and syncs; only then writes
 * the superblock that refers to all of it, and syncs again. Used once.
 */
public final class DiskBuild {
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    /** Blocks per write. */
    private static final int RUN = 256;

    /** Rows that codes are trained on. */
    private static final int MAX_SAMPLE = 128_000;

    private static final int ROWS_PER_STEP = 256;
    /** Shares of the build's progress after each phase. */
    private static final double READ = .02;

    private static final double LINKED = .83;
    private static final double REACHED = .84;
    private static final double ORDERED = .85;
    private static final double TRAINED = .94;
    private static final double ENCODED = .97;
    /** Rows per step; each takes some ten microseconds. */
    private static final int ROWS_PER_CODING = 16;

    private final BuildWork work;
    private final DiskLayout layout;
    private final Metric metric;
    private final int width;

    public DiskBuild(BuildWork work, DiskLayout layout, Metric metric, int width) {
        this.work = work;
        this.layout = layout;
        this.metric = metric;
        this.width = width;
    }

    public void run(BlockFile file, long[] ids, VectorSource rows) throws IOException {
        try (BuildRows copies = new BuildRows(file.path(), rows.size(), layout.dimension())) {
            work.phase(READ, rows.size());
            work.run(rows.size(), ROWS_PER_STEP, (from, to) -> {
                float[] components = new float[(to - from) * layout.dimension()];
                for (int row = from; row < to; row++) {
                    float[] vector = rows.row(row);
                    Vectors.requireRow(row, vector, layout.dimension(), metric);
                    System.arraycopy(
                            Space.of(metric, vector),
                            0,
                            components,
                            (row - from) * layout.dimension(),
                            layout.dimension());
                }
                copies.write(from, components);
            });
            write(file, ids, copies);
        } catch (UncheckedIOException failed) {
            throw new IOException(failed.getMessage(), failed.getCause());
        }
    }

    private void write(BlockFile file, long[] ids, BuildRows rows) throws IOException {
        int nodes = rows.size();
        int[] same = same(rows);
        OnHeapGraphIndex graph = graph(rows, same);
        int entry = entry(graph);
        GraphEdges edges = edges(graph, entry, same);
        PageOrder order = order(edges, entry, same);
        try (Arena arena = Arena.ofConfined();
                ProductCodes codes = new ProductCodes(layout)) {
            codes.grow(nodes);
            MeanError error = encode(rows, order, ids, same, codes);
            BlockMap map = new BlockMap();
            int pages = layout.pages(nodes);
            int rowBlocks = layout.rowBlocks(nodes);
            work.phase(1, (long) pages + rowBlocks);
            int next = layout.firstFreeBlock();
            file.write(DiskLayout.SUPERBLOCKS, codes.centroids());
            for (int page = 0; page < pages; page++) {
                map.setPage(page, next + page);
            }
            writeRuns(file, next, pages, number -> page(number, edges, order, rows, ids, same));
            next += pages;
            for (int block = 0; block < rowBlocks; block++) {
                map.setRowBlock(block, next + block);
            }
            writeRuns(file, next, rowBlocks, number -> codes.seal(codes.copy(number), number, nodes));
            next += rowBlocks;
            MemorySegment section =
                    arena.allocate((long) BlockMap.blocks(pages, rowBlocks) * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            map.write(section, pages, rowBlocks);
            file.write(next, section);
            MemorySegment roots =
                    arena.allocate(DiskLayout.SUPERBLOCKS * (long) BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            file.sync();
            new Superblock(
                            1,
                            true,
                            new SecureRandom().nextLong(),
                            layout,
                            metric,
                            nodes,
                            order.node(entry),
                            next,
                            Checksum.of(section),
                            DiskLayout.SUPERBLOCKS,
                            Checksum.of(codes.centroids()),
                            new CodeErrors(nodes, error.mean(), 0, 0))
                    .writeBoth(roots);
            file.write(0, roots);
            file.sync();
        }
    }

    private OnHeapGraphIndex graph(BuildRows rows, int[] same) {
        RandomAccessVectorValues view = rows.view(CodeTraining.scale(rows, layout.dimension()));
        Supplier<RandomAccessVectorValues> views = view.threadLocalSupplier();
        GraphIndexBuilder builder = GraphIndexBuilder.builder(new RowScores(view), layout.dimension(), layout.degree())
                .withBeamWidth(width)
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                // Neither is used: the work that jvector would run on them is done below on the workers.
                .withSimdExecutor(ForkJoinPool.commonPool())
                .withParallelExecutor(ForkJoinPool.commonPool())
                .build();
        work.phase(LINKED, 2L * rows.size());
        work.run(rows.size(), 1, (row, after) -> {
            if (same[row] == row) {
                builder.addGraphNode(row, views.get().getVector(row));
            }
        });
        OnHeapGraphIndex graph = (OnHeapGraphIndex) builder.getGraph();
        work.run(rows.size(), 1, (row, after) -> {
            if (same[row] == row) {
                graph.enforceDegree(row);
            }
        });
        return graph;
    }

    /** Per row itself, or the row that it hangs on: an equal one. */
    private static int[] same(BuildRows rows) {
        int[] same = new int[rows.size()];
        Arrays.setAll(same, row -> row);
        rows.findEqual((row, before) -> same[row] = same[before]);
        return same;
    }

    private GraphEdges edges(OnHeapGraphIndex graph, int entry, int[] same) {
        work.phase(REACHED, same.length);
        BitSet rows = new BitSet(same.length);
        for (int row = 0; row < same.length; row++) {
            rows.set(row, same[row] == row);
        }
        return work.once(() -> {
            GraphEdges edges = new GraphEdges(row -> neighbors(graph, row), layout.degree());
            edges.reachAll(entry, rows, () -> {
                work.yieldToSearches();
                work.done(1);
            });
            return edges;
        });
    }

    private PageOrder order(GraphEdges edges, int entry, int[] same) {
        int nodes = same.length;
        work.phase(ORDERED, nodes);
        // Equal rows are near each other too.
        int[] next = new int[nodes];
        int[] last = new int[nodes];
        for (int row = 0; row < nodes; row++) {
            next[row] = row;
            last[row] = row;
            if (same[row] != row) {
                next[last[same[row]]] = row;
                last[same[row]] = row;
            }
        }
        PageOrder order = new PageOrder(nodes, layout.nodesPerPage(), row -> {
            int[] its = edges.of(same[row]);
            if (next[row] != row) {
                its = Arrays.copyOf(its, its.length + 1);
                its[its.length - 1] = next[row];
            }
            return its;
        });
        return work.once(() -> {
            order.fill(entry, () -> {
                work.yieldToSearches();
                work.done(1);
            });
            return order;
        });
    }

    private static int entry(OnHeapGraphIndex graph) {
        return Objects.requireNonNull(graph.entryNode(), "a graph that was built has an entry node").node;
    }

    private int[] neighbors(OnHeapGraphIndex graph, int row) {
        NodesIterator iterator = graph.getNeighborsIterator(0, row);
        int[] neighbors = new int[Math.min(layout.degree(), iterator.size())];
        for (int i = 0; i < neighbors.length; i++) {
            neighbors[i] = iterator.nextInt();
        }
        return neighbors;
    }

    /** Learns the codes and gives each row its own; returns their errors. */
    private MeanError encode(BuildRows rows, PageOrder order, long[] ids, int[] same, ProductCodes codes) {
        work.phase(TRAINED, CodeTraining.steps(layout));
        int[] sample = CodeTraining.choose(rows.size(), MAX_SAMPLE);
        codes.setCentroids(CodeTraining.run(layout, rows.only(sample), work::done));
        work.phase(ENCODED, ids.length);
        MeanError error = new MeanError();
        work.run(ids.length, ROWS_PER_CODING, (from, to) -> {
            float[] vector = new float[layout.dimension()];
            float[] distances = new float[layout.codeBytes() * CENTROIDS];
            byte[] code = new byte[layout.codeBytes()];
            for (int node = from; node < to; node++) {
                work.yieldToSearches();
                int row = order.row(node);
                rows.read(row, vector);
                codes.distances(codes.inScale(vector), distances);
                error.add(codes.encode(distances, code, 0, code.length));
                codes.put(
                        node,
                        ids[row],
                        code,
                        same[row] == row ? ProductCodes.LIVE : (byte) (ProductCodes.LIVE | ProductCodes.HANGS_ON));
            }
        });
        return error;
    }

    private void writeRuns(BlockFile file, int first, int count, IntFunction<MemorySegment> block) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment run = arena.allocate((long) RUN * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int begin = 0; begin < count; begin += RUN) {
                int length = Math.min(RUN, count - begin);
                for (int i = 0; i < length; i++) {
                    MemorySegment.copy(
                            block.apply(begin + i), 0, run, (long) i * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
                }
                file.write(first + begin, run.asSlice(0, (long) length * BlockIo.BLOCK_BYTES));
                work.done(length);
            }
        }
    }

    private MemorySegment page(int number, GraphEdges edges, PageOrder order, BuildRows rows, long[] ids, int[] same) {
        NodePage page = NodePage.empty(layout, number);
        float[] vector = new float[layout.dimension()];
        int begin = layout.firstNode(number);
        for (int node = begin; node < Math.min(begin + layout.nodesPerPage(), ids.length); node++) {
            int row = order.row(node);
            int[] neighbors =
                    Arrays.stream(edges.of(same[row])).map(order::node).toArray();
            rows.read(row, vector);
            page.put(node, ids[row], vector, neighbors, neighbors.length);
        }
        page.seal();
        return page.memory();
    }
}
