package io.github.roost.index.disk.update;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.Rows;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.LargeTable;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a step of a writer does at most, each of one piece, run by the test. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway") // what is made before each test is there
class WriterStepsTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 3_000;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 3_600, 16, 43);
    private static final SearchContext CONTEXT = SearchContext.outside((nodes, bytes) -> {});

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final BlockIo io = new FaultDevice(1).io(orchestrator, 256);
    private BlockFile file;
    private DiskGraph graph;
    private DiskWriter writer;

    @BeforeEach
    void open() throws IOException {
        DiskTable.builder()
                .degree(6)
                .build(orchestrator, io, FILE, Arrays.copyOf(ROWS.ids(), BUILT), Arrays.copyOf(ROWS.vectors(), BUILT));
        file = io.open(FILE);
        use(DiskGraph.read(file));
    }

    private void use(DiskGraph used) {
        graph = used;
        writer = SteppedWriter.of(graph, io);
        writer.sliceNanos(1);
    }

    @AfterEach
    void close() {
        graph.codes().close();
        file.close();
        io.close();
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private Update add(Update update) {
        writer.add(new DiskWriter.Work.Change(update));
        return update;
    }

    private Update put(int row) {
        return add(Update.put(Rows.id(row), ROWS.vectors()[row]));
    }

    private void runUntilDone(Update last) throws Exception {
        while (!last.done().isDone() || writer.repairs()) {
            writer.step(CONTEXT);
        }
    }

    private CompletableFuture<Checkpoint> cut() {
        return SteppedWriter.cut(writer, graph);
    }

    private Set<Long> live(ProductCodes codes) {
        Set<Long> ids = new TreeSet<>();
        for (int node = 0; node < codes.nodes(); node++) {
            if (codes.state(node) == ProductCodes.LIVE) {
                ids.add(codes.id(node));
            }
        }
        return ids;
    }

    private FreeBlocks free() {
        BitSet used = new BitSet();
        used.set(0, (int) file.blocks());
        return new FreeBlocks(used);
    }

    @Test
    void noStepAllocatesMemoryInProportionToTheTable() throws Exception {
        int nodes = 4_000_000;
        ProductCodes small = graph.codes();
        use(LargeTable.of(graph, nodes));
        small.close();
        // The first one allocates the table of changed pages.
        runUntilDone(put(BUILT));
        for (int row = BUILT + 1; row < BUILT + 100; row++) {
            put(row);
        }
        for (int i = 0; i < nodes / 8; i++) {
            add(Update.remove(LargeTable.id(2 * BUILT + i)));
        }
        CompletableFuture<Checkpoint> checkpoint = cut();
        long most = 0;
        for (int steps = 0; steps < 1_000 || !checkpoint.isDone() || !writer.repairs(); steps++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            writer.step(CONTEXT);
            most = Math.max(most, threads.getCurrentThreadAllocatedBytes() - before);
        }
        checkpoint.join().close();
        // A bit per node is twice as much, and all changed row blocks are 30 times as much.
        assertThat(most).isLessThan(250_000);
    }

    @Test
    void aPageWhoseFirstNodeIsNotLinkedYetIsReadAsOneWithoutNodes() throws Exception {
        for (int row = BUILT; row < BUILT + 100; row++) {
            put(row);
        }
        int page = graph.layout().pages(BUILT);
        while (graph.layout().pages(graph.codes().nodes()) == page) {
            writer.step(CONTEXT);
        }
        assertThat(graph.changed(page)).isNull();
        try (Arena arena = Arena.ofConfined()) {
            NodePage read = graph.read(page, arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES));
            assertThat(Objects.requireNonNull(read).isSound(graph.codes())).isTrue();
        }
        assertThat(graph.damagedPages()).isEmpty();
    }

    @Test
    void aRepairFreesAFewNodesPerStep() throws Exception {
        Update last = null;
        for (int row = 0; row < 400; row++) {
            last = add(Update.remove(Rows.id(row)));
        }
        int most = 0;
        int freed = 0;
        while (!last.done().isDone() || writer.repairs()) {
            int before = graph.dead();
            writer.step(CONTEXT);
            most = Math.max(most, before - graph.dead());
            freed += Math.max(0, before - graph.dead());
        }
        assertThat(freed).isGreaterThan(250);
        assertThat(most).isLessThanOrEqualTo(16);
    }

    @Test
    void anyRowIsLookedForAmongAFewNodesPerStep() throws Exception {
        writer.stopRepairs();
        int left = BUILT - 1;
        Update last = null;
        for (int node = 0; node < BUILT; node++) {
            if (node != left) {
                last = add(Update.remove(graph.codes().id(node)));
            }
        }
        runUntilDone(last);
        graph.setEntry(0);
        assertThat(writer.anyRow()).isNull();
        int[] found = null;
        for (int calls = 0; found == null; calls++) {
            assertThat(calls).isLessThan(BUILT / 100);
            found = writer.anyRow();
        }
        assertThat(found).containsExactly(left);
        assertThat(writer.anyRow()).containsExactly(left);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCheckpointHasTheTableOfItsMomentWhateverChangesLater(boolean isWrittenMeanwhile) throws Exception {
        for (int row = BUILT; row < BUILT + 150; row++) {
            put(row);
            add(Update.remove(Rows.id(2 * (row - BUILT))));
        }
        // An update of a row, which is at another node then.
        runUntilDone(add(Update.put(Rows.id(1), ROWS.vectors()[BUILT])));
        CompletableFuture<Checkpoint> taken = cut();
        while (!taken.isDone()) {
            writer.step(CONTEXT);
        }
        Set<Long> ids = live(graph.codes());
        Checkpoint checkpoint = taken.join();
        FreeBlocks free = free();
        CompletableFuture<Superblock> written = new CompletableFuture<>();
        Runnable write = () -> {
            try {
                written.complete(checkpoint.write(file, graph, free));
            } catch (IOException failed) {
                written.completeExceptionally(failed);
            }
        };
        Thread writes = new Thread(write, "checkpoint");
        if (isWrittenMeanwhile) {
            writes.start();
        }
        Update last = null;
        for (int row = BUILT + 150; row < BUILT + 300; row++) {
            add(Update.remove(Rows.id(row - 150)));
            // Enough for a repair, which gives the nodes to other rows.
            add(Update.remove(Rows.id(row - 1_000)));
            last = put(row);
        }
        runUntilDone(last);
        if (!isWrittenMeanwhile) {
            writes.start();
        }
        Superblock root = written.join();
        writes.join();
        writer.captured();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            root.write(block);
            file.write(Superblock.blockOf(root.sequence()), block);
            DiskGraph found = DiskGraph.read(file);
            try (ProductCodes codes = found.codes()) {
                assertThat(live(codes)).isEqualTo(ids);
                for (int node = 0; node < codes.nodes(); node++) {
                    if (codes.state(node) == ProductCodes.LIVE) {
                        NodePage page =
                                Objects.requireNonNull(found.read(found.layout().pageOf(node), block));
                        assertThat(page.isSound(node, codes.nodes())).isTrue();
                        assertThat(page.id(node)).isEqualTo(codes.id(node));
                    }
                }
            }
        }
        checkpoint.close();
    }

    @Test
    void aCheckpointIsPublishedInPiecesOfAFewPages() throws Exception {
        Update last = null;
        for (int row = BUILT; row < BUILT + 300; row++) {
            last = put(row);
        }
        runUntilDone(last);
        CompletableFuture<Checkpoint> taken = cut();
        while (!taken.isDone()) {
            writer.step(CONTEXT);
        }
        Set<Integer> pages = new TreeSet<>(graph.changed().keySet());
        Checkpoint checkpoint = taken.join();
        checkpoint.write(file, graph, free());
        writer.captured();
        // This page must stay.
        NodePage changed = graph.changed(pages.iterator().next()).copy();
        writer.publish(changed);
        List<Integer> left = new ArrayList<>();
        while (checkpoint.hasUnpublished()) {
            int before = graph.changed().size();
            checkpoint.publishSome(graph);
            assertThat(before - graph.changed().size()).isLessThanOrEqualTo(16);
            left.add(graph.changed().size());
        }
        assertThat(left).hasSizeGreaterThan(pages.size() / 20);
        assertThat(graph.changed()).containsOnlyKeys(changed.number());
        checkpoint.publishRest(graph);
        checkpoint.close();
    }
}
