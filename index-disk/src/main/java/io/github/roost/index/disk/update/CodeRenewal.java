package io.github.roost.index.disk.update;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.index.disk.build.CodeTraining;
import io.github.roost.index.disk.format.CodeErrors;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.MeanError;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Learns the codes of a table again, on a thread of its own, while searches and updates go on: trains centroids on a sample of the rows, gives
 * each row a code in new memory, then those that have changed meanwhile, until few are left; for these the writer pauses, and then puts the
 * new codes in place of the old ones, between two updates. The next checkpoint writes them; until then the file has the old ones. Used
 * once.
 */
final class CodeRenewal {
    private static final int MAX_SAMPLE = 1 << 15;
    private static final int MAX_SAMPLE_BYTES = 64 << 20;
    /** Changes that the writer waits for: some ten microseconds each. */
    private static final int LAST_CHANGES = 64;
    /** After so many rounds the writer waits for what there is. */
    private static final int MAX_ROUNDS = 16;

    private final DiskGraph graph;
    private final DiskWriter writer;
    private final DiskLayout layout;
    private final float[] vector;
    private final float[] distances;
    private final byte[] code;
    private final MeanError error = new MeanError();
    private volatile boolean isCancelled;

    CodeRenewal(DiskGraph graph, DiskWriter writer) {
        this.graph = graph;
        this.writer = writer;
        this.layout = graph.layout();
        this.vector = new float[layout.dimension()];
        this.distances = new float[layout.codeBytes() * DiskLayout.CENTROIDS];
        this.code = new byte[layout.codeBytes()];
    }

    /** Ends {@link #run} soon; any thread. */
    void cancel() {
        isCancelled = true;
    }

    private void requireWanted() {
        if (isCancelled) {
            throw new CancellationException("the table is being closed");
        }
    }

    /** Returns when the new codes are in use, or there is no row to learn from. */
    void run() {
        float[][] sample = sample();
        if (sample.length == 0) {
            return;
        }
        ProductCodes learned = new ProductCodes(layout);
        try {
            learned.setCentroids(CodeTraining.run(layout, new Rows(sample), steps -> requireWanted()));
            atCut(writer::follow);
            encodeAll(learned);
            Map<Integer, float @Nullable []> changes = takeChanges();
            for (int round = 0; changes.size() > LAST_CHANGES && round < MAX_ROUNDS; round++) {
                apply(changes, learned);
                changes = takeChanges();
            }
            apply(changes, learned);
            learned.findTwins();
            AtomicReference<Map<Integer, float @Nullable []>> last = new AtomicReference<>(Map.of());
            atCut(() -> {
                last.set(writer.takeChanges());
                writer.hold();
            });
            applyLast(Objects.requireNonNull(last.get()), learned);
            inWriter(() -> writer.codesLearned(learned));
        } catch (Throwable failed) {
            if (graph.codes() != learned) {
                writer.addFirst(new DiskWriter.Work.Run(writer::unfollow, false, dropped -> {}));
                learned.close();
            }
            throw failed;
        }
    }

    private record Rows(float[][] vectors) implements CodeTraining.Sample {
        @Override
        public int size() {
            return vectors.length;
        }

        @Override
        public void read(int row, int begin, int length, float[] into, int at) {
            System.arraycopy(vectors[row], begin, into, at, length);
        }
    }

    /** Vectors of some live rows. */
    private float[][] sample() {
        int max = Math.min(MAX_SAMPLE, MAX_SAMPLE_BYTES / (layout.dimension() * Float.BYTES));
        int[] nodes = CodeTraining.choose(graph.codes().nodes(), max);
        Arrays.sort(nodes);
        float[][] vectors = new float[nodes.length][];
        int count = 0;
        try (Arena arena = Arena.ofConfined();
                ProductCodes codes = graph.enterCodes()) {
            MemorySegment memory = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            NodePage page = null;
            for (int node : nodes) {
                requireWanted();
                if (codes.state(node) != ProductCodes.LIVE) {
                    continue;
                }
                int number = layout.pageOf(node);
                if (page == null || page.number() != number) {
                    page = graph.read(number, memory);
                }
                if (hasRow(page, node, codes)) {
                    vectors[count] = new float[layout.dimension()];
                    Objects.requireNonNull(page).vector(node, vectors[count++]);
                }
            }
        }
        return Arrays.copyOf(vectors, count);
    }

    private boolean hasRow(@Nullable NodePage page, int node, ProductCodes codes) {
        return page != null && page.isSound(node, graph.codes().nodes()) && page.id(node) == codes.id(node);
    }

    /** Gives a code to each row that is there; one that comes meanwhile is among the changes. */
    private void encodeAll(ProductCodes learned) {
        try (Arena arena = Arena.ofConfined();
                ProductCodes codes = graph.enterCodes()) {
            MemorySegment memory = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            int nodes = codes.nodes();
            learned.grow(nodes);
            for (int number = 0; number < layout.pages(nodes); number++) {
                requireWanted();
                NodePage page = null;
                boolean isRead = false;
                int first = layout.firstNode(number);
                for (int node = first; node < Math.min(nodes, first + layout.nodesPerPage()); node++) {
                    if (codes.state(node) == ProductCodes.FREE) {
                        continue;
                    }
                    if (!isRead) {
                        // Not before: the page of new nodes alone may not be there yet.
                        page = graph.read(number, memory);
                        isRead = true;
                    }
                    if (hasRow(page, node, codes)) {
                        Objects.requireNonNull(page).vector(node, vector);
                        encode(learned, vector);
                    } else {
                        Arrays.fill(code, (byte) 0);
                    }
                    learned.take(codes, node, code);
                }
            }
        }
    }

    private void encode(ProductCodes learned, float[] row) {
        learned.distances(learned.inScale(row), distances);
        error.add(learned.encode(distances, code, 0, code.length));
    }

    /** Gives the new codes the rows and states of changed nodes. */
    private void apply(Map<Integer, float @Nullable []> changes, ProductCodes learned) {
        try (ProductCodes codes = graph.enterCodes()) {
            learned.grow(codes.nodes());
            changes.forEach((node, put) -> {
                requireWanted();
                if (put != null) {
                    encode(learned, put);
                }
                learned.take(codes, node, put == null ? null : code);
            });
        }
    }

    /** The last changes, while the writer changes nothing. */
    private void applyLast(Map<Integer, float @Nullable []> changes, ProductCodes learned) {
        apply(changes, learned);
        changes.keySet().forEach(learned::leaveTwins);
        Set<Integer> left = new HashSet<>(changes.keySet());
        try (ProductCodes codes = graph.enterCodes()) {
            changes.keySet().forEach(node -> {
                keepRing(node, codes, learned, left);
                left.remove(node);
            });
        }
        learned.setErrors(new CodeErrors(Math.max(1, error.count()), error.mean(), 0, 0));
    }

    /**
     * Puts a changed node into the ring of a row that was equal, and still is by the new codes.
     *
     * @param left changed nodes that are in no ring yet
     */
    private static void keepRing(int node, ProductCodes codes, ProductCodes learned, Set<Integer> left) {
        if (learned.state(node) == ProductCodes.FREE) {
            return;
        }
        for (int twin = codes.twin(node); twin != node; twin = codes.twin(twin)) {
            if (!left.contains(twin) && learned.hasSameCode(node, twin)) {
                learned.joinTwin(node, twin);
                return;
            }
        }
    }

    private Map<Integer, float @Nullable []> takeChanges() {
        AtomicReference<Map<Integer, float @Nullable []>> taken = new AtomicReference<>(Map.of());
        inWriter(() -> taken.set(writer.takeChanges()));
        return Objects.requireNonNull(taken.get());
    }

    private void inWriter(Runnable action) {
        run(action, false);
    }

    /** Runs an action of the writer while no insert is running. */
    private void atCut(Runnable action) {
        run(action, true);
    }

    private void run(Runnable action, boolean isCut) {
        CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
        writer.addFirst(new DiskWriter.Work.Run(
                () -> {
                    action.run();
                    done.complete(null);
                },
                isCut,
                done::completeExceptionally));
        await(done);
    }

    private static void await(CompletableFuture<@Nullable Void> done) {
        try {
            done.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
        }
    }
}
