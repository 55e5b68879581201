package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.io.FaultDevice;
import io.github.roost.core.task.SearchContext;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A writer whose steps the test runs itself, in one thread, on a table that is never written. */
@Timeout(value = 40, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway") // what is made before each test is there
class DiskWriterTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 400;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 800, 16, 41);
    private static final SearchContext CONTEXT = SearchContext.outside((nodes, bytes) -> {});

    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final FaultDevice device = new FaultDevice(1);
    private BlockIo io;
    private DiskTable table;
    private DiskWriter writer;

    @BeforeEach
    void open() throws IOException {
        io = device.io(orchestrator, 256);
        long[] ids = Arrays.copyOf(ROWS.ids(), BUILT);
        // Few neighbours: nodes are full, so that edges are taken over.
        DiskTable.builder().degree(6).build(orchestrator, io, FILE, ids, Arrays.copyOf(ROWS.vectors(), BUILT));
        table = DiskTable.openReadOnly(orchestrator, io, "table", FILE);
        table.updateSlice(Duration.ofNanos(1_000));
        writer = new DiskWriter(table, RowNodes.of(table.graph().codes()), () -> {}, () -> {}, () -> false);
    }

    @AfterEach
    void close() {
        table.close();
        io.close();
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private Update queued(Update update) {
        writer.add(new DiskWriter.Work.Change(update));
        return update;
    }

    /** Runs steps until all updates are done and no repair is running. */
    private void runAll(List<Update> updates) throws Exception {
        while (!updates.stream().allMatch(update -> update.done().isDone()) || writer.repairs()) {
            writer.step(CONTEXT);
        }
        for (Update update : updates) {
            update.done().get();
        }
    }

    /** Nodes whose edges lead to free nodes. */
    private List<Integer> leadingToFree() {
        DiskGraph graph = table.graph();
        Codes codes = graph.codes();
        List<Integer> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int node = 0; node < codes.nodes(); node++) {
                NodePage page =
                        Objects.requireNonNull(table.readPage(graph.layout().pageOf(node), memory));
                if (codes.state(node) != Codes.FREE) {
                    for (int neighbor : page.neighbors(node)) {
                        if (codes.state(neighbor) == Codes.FREE) {
                            all.add(node);
                        }
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void noEdgeLeadsToANodeThatWasFreedWhileRowsWereInsertedAndDeleted(int deletesPerInsert) throws Exception {
        List<Update> updates = new ArrayList<>();
        int deleted = 0;
        for (; deleted < 60; deleted++) {
            updates.add(queued(Update.remove(Rows.id(deleted))));
        }
        for (int row = BUILT; row < BUILT + 100; row++) {
            updates.add(queued(Update.put(Rows.id(row), ROWS.vectors()[row])));
            // Fewer than begin another repair, so that some stay free.
            for (int i = 0; i < deletesPerInsert && deleted < 95; i++) {
                updates.add(queued(Update.remove(Rows.id(deleted++))));
            }
        }
        runAll(updates);
        assertThat(leadingToFree()).isEmpty();
        assertThat(table.graph().dead())
                .as("those of the first repair are free")
                .isLessThan(60);
    }

    @Test
    void aRepairThatCouldNotReadAPageFreesNothingAndTheNextOneDoes() throws Exception {
        List<Update> updates = new ArrayList<>();
        DiskLayout layout = table.graph().layout();
        device.badBlock(table.graph().block(layout.pageOf(BUILT - 1)), 1);
        for (int row = 0; row < 60; row++) {
            updates.add(queued(Update.remove(Rows.id(row))));
        }
        runAll(updates);
        assertThat(table.diskStats().damagedPages()).containsExactly(layout.pageOf(BUILT - 1));
        assertThat(table.graph().dead()).isEqualTo(60);
        assertThat(leadingToFree()).isEmpty();
        for (int row = 60; row < 120; row++) {
            updates.add(queued(Update.remove(Rows.id(row))));
        }
        runAll(updates);
        assertThat(table.graph().dead()).isLessThan(60);
        assertThat(leadingToFree()).isEmpty();
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
        assertThat(table.graph().dead()).isEqualTo(1);
    }
}
