package io.github.roost.index.disk.update;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.Rows;
import io.github.roost.index.disk.format.BlockMap;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.NodesById;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A writer whose steps the test runs itself, in one thread, on a table that is never written. */
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway") // what is made before each test is there
class DiskWriterTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 3_000;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 3_400, 16, 41);
    private static final SearchContext CONTEXT = SearchContext.outside((nodes, bytes) -> {});

    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final FaultDevice device = new FaultDevice(1);
    private BlockIo io;
    private BlockFile file;
    private DiskGraph graph;
    private NodesById rows;
    private DiskWriter writer;

    @BeforeEach
    void open() throws IOException {
        io = device.io(orchestrator, 256);
        long[] ids = Arrays.copyOf(ROWS.ids(), BUILT);
        // Few neighbors: nodes are full, so that edges are taken over.
        DiskTable.builder().degree(6).build(orchestrator, io, FILE, ids, Arrays.copyOf(ROWS.vectors(), BUILT));
        file = io.open(FILE);
        graph = DiskGraph.read(file);
        rows = NodesById.of(graph.codes());
        writer = SteppedWriter.of(graph, rows, io);
        writer.sliceNanos(1_000);
    }

    @AfterEach
    void close() {
        file.close();
        graph.codes().close();
        io.close();
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private Update queued(Update update) {
        writer.add(new DiskWriter.Work.Change(update));
        return update;
    }

    /** Runs steps until all updates are done and no repair is running; when nodes are freed, no edge may lead to them. */
    private void runAll(List<Update> updates) throws Exception {
        while (!updates.stream().allMatch(update -> update.done().isDone()) || writer.repairs()) {
            BitSet dead = dead();
            writer.step(CONTEXT);
            dead.andNot(dead());
            if (!dead.isEmpty()) {
                assertThat(leadingTo(dead)).isEmpty();
            }
        }
        for (Update update : updates) {
            update.done().get();
        }
    }

    private BitSet dead() {
        ProductCodes codes = graph.codes();
        BitSet dead = new BitSet();
        for (int node = 0; node < codes.nodes(); node++) {
            dead.set(node, codes.state(node) == ProductCodes.DEAD);
        }
        return dead;
    }

    /** Nodes with edges to freed nodes: those in use, and new ones that are being linked, but not those about to be free. */
    private List<Integer> leadingTo(BitSet freed) {
        ProductCodes codes = graph.codes();
        List<Integer> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int node = 0; node < codes.nodes(); node++) {
                boolean isUsed = (codes.state(node) != ProductCodes.FREE || node >= BUILT) && !writer.isTakenOut(node);
                int number = graph.layout().pageOf(node);
                NodePage page = isUsed && (graph.changed(number) != null || graph.block(number) != BlockMap.NOWHERE)
                        ? graph.read(number, memory)
                        : null;
                if (page != null
                        && page.isSound(node, codes.nodes())
                        && Arrays.stream(page.neighbors(node)).anyMatch(freed::get)) {
                    all.add(node);
                }
            }
        }
        return all;
    }

    @Tag("stress")
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void noEdgeLeadsToANodeThatWasFreedWhileRowsWereInsertedAndDeleted(int deletesPerInsert) throws Exception {
        List<Update> updates = new ArrayList<>();
        int deleted = 0;
        for (; deleted < 900; deleted++) {
            updates.add(queued(Update.remove(Rows.id(deleted))));
        }
        // Fewer than were deleted, so that some nodes stay free.
        for (int row = BUILT; row < BUILT + 300; row++) {
            updates.add(queued(Update.put(Rows.id(row), ROWS.vectors()[row])));
            for (int i = 0; i < deletesPerInsert; i++) {
                updates.add(queued(Update.remove(Rows.id(deleted++))));
            }
        }
        runAll(updates);
        assertThat(graph.dead()).as("those of the first repair are free").isLessThan(800);
    }

    @Tag("stress")
    @Test
    void aRepairThatCouldNotReadAPageFreesNothingAndTheNextOneDoes() throws Exception {
        List<Update> updates = new ArrayList<>();
        DiskLayout layout = graph.layout();
        device.badBlock(graph.block(layout.pageOf(BUILT - 1)), 1);
        for (int row = 0; row < 400; row++) {
            updates.add(queued(Update.remove(Rows.id(row))));
        }
        runAll(updates);
        assertThat(graph.damagedPages()).containsExactly(layout.pageOf(BUILT - 1));
        assertThat(graph.dead()).isEqualTo(400);
        for (int row = 400; row < 800; row++) {
            updates.add(queued(Update.remove(Rows.id(row))));
        }
        runAll(updates);
        assertThat(graph.dead()).isLessThan(400);
    }

    @Test
    void whileTheWriterIsHeldItDoesUrgentWorkOnly() throws Exception {
        Update removed = queued(Update.remove(Rows.id(1)));
        // Held by work that comes before the update in the same piece.
        writer.addFirst(new DiskWriter.Work.Run(writer::hold, true, failure -> {}));
        writer.step(CONTEXT);
        assertThat(writer.step(CONTEXT)).isFalse();
        assertThat(removed.done()).isNotDone();
        writer.addFirst(new DiskWriter.Work.Run(writer::unfollow, false, failure -> {}));
        runAll(List.of(removed));
        assertThat(removed.done()).isCompletedWithValue(true);
    }

    @Test
    void anActionThatThrowsIsReportedToWhoWaitsForIt() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Error error = new OutOfMemoryError("as a test has it");
        writer.add(new DiskWriter.Work.Run(
                () -> {
                    throw error;
                },
                true,
                failure::set));
        writer.step(CONTEXT);
        assertThat(failure).hasValue(error);
        runAll(List.of(queued(Update.remove(Rows.id(1)))));
        assertThat(graph.dead()).isEqualTo(1);
    }
}
