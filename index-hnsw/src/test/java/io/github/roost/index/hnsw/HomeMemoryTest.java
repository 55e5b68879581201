package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.search.ImageFile;
import io.github.roost.testkit.Remaps;
import io.github.roost.topology.system.MemoryResult;
import io.github.roost.vector.spi.TableMemory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where tables' memory is moved on machines of one NUMA node and of two, of two domains with a core each. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HomeMemoryTest {
    private static final int ROWS = 600;
    private static final int DIMENSION = 512;

    private record Move(long bytes, int node) {}

    private final BlockingQueue<Move> moves = new LinkedBlockingQueue<>();
    private final TableMemory.Mover recording = (memory, home) -> {
        moves.add(new Move(memory.byteSize(), home.numaNodes().getFirst()));
        return new MemoryResult(true, "");
    };
    private final float[][] rows = gaussian(ROWS, DIMENSION, new Random(7));

    private final Remaps remaps = new Remaps();

    /** Tables of many bytes that are built soon. */
    private static HnswTable.Builder cheap() {
        return HnswTable.builder().m(8).efConstruction(10);
    }

    private void awaitMoved(long bytes, int node) throws InterruptedException {
        for (long left = bytes; left > 0; ) {
            Move move = moves.take();
            assertThat(move.node()).isEqualTo(node);
            left -= move.bytes();
            assertThat(left).isNotNegative();
        }
    }

    @Test
    void aTablesGraphLiesOnItsHomesNodeAndFollowsItToAnother() throws InterruptedException {
        try (Orchestrator orchestrator = remaps.machine(1);
                HnswTable table = cheap().mover(recording).build(orchestrator, rows)) {
            int home = orchestrator.homes(table.mappingId()).getFirst();
            awaitMoved(table.bytes(), home);

            remaps.move(orchestrator, table.mappingId(), 1 - home);

            awaitMoved(table.bytes(), 1 - home);
            assertThat(moves).isEmpty();
        }
    }

    @Test
    void aGraphThatTakesAnothersPlaceIsMovedToo() throws InterruptedException {
        try (Orchestrator orchestrator = remaps.machine(1);
                HnswTable table = cheap().mover(recording).build(orchestrator, rows)) {
            int home = orchestrator.homes(table.mappingId()).getFirst();
            awaitMoved(table.bytes(), home);
            HnswTable other = cheap().mover((memory, elsewhere) -> new MemoryResult(true, ""))
                    .build(orchestrator, Arrays.copyOf(rows, 500));

            table.swap(other);

            awaitMoved(table.bytes(), home);
        }
    }

    @Test
    void aGraphOfAFileIsLeftWhereItIs(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("table");
        Orchestrator orchestrator = remaps.machine(1);
        try (HnswTable table =
                cheap().mover((memory, home) -> new MemoryResult(true, "")).build(orchestrator, rows)) {
            table.save(file);
        }
        HnswTable opened = new HnswTable(orchestrator, "opened", new Graph(ImageFile.open(file)), recording);
        remaps.move(orchestrator, opened.mappingId(), 1);
        remaps.move(orchestrator, opened.mappingId(), 0);
        orchestrator.close();

        assertThat(moves).isEmpty();
    }

    @Test
    void whatALiveTableMergesIsMovedHome() throws InterruptedException {
        try (Orchestrator orchestrator = remaps.machine(1);
                LiveTable table =
                        LiveTable.builder().mover(recording).mergeAfter(64).build(orchestrator, DIMENSION)) {
            int home = orchestrator.homes(table.mappingId()).getFirst();
            for (int row = 0; row < 32; row++) {
                table.put(row, rows[row]);
            }
            table.merge();

            Move merged = awaitMoveOfMerged(32);
            assertThat(merged.node()).isEqualTo(home);

            remaps.move(orchestrator, table.mappingId(), 1 - home);
            Move after = awaitMoveOfMerged(32);
            while (after.node() == home) {
                // The table's begin, if it was looked after late, found the graph there as well.
                after = awaitMoveOfMerged(32);
            }
            assertThat(after).isEqualTo(new Move(merged.bytes(), 1 - home));
        }
    }

    /** A graph of so many rows; the room for rows to be added is for twice as many. */
    private Move awaitMoveOfMerged(long count) throws InterruptedException {
        Move move = moves.take();
        while (move.bytes() >= 2 * count * DIMENSION * Float.BYTES) {
            move = moves.take();
        }
        assertThat(move.bytes()).isGreaterThan(count * DIMENSION * Float.BYTES);
        return move;
    }

    @Test
    void onOneNodeNothingIsMoved() throws InterruptedException {
        Orchestrator orchestrator = remaps.machine(0);
        try (HnswTable table = cheap().mover(recording).build(orchestrator, rows);
                LiveTable live =
                        LiveTable.builder().mover(recording).mergeAfter(64).build(orchestrator, DIMENSION)) {
            live.put(1, rows[1]);
            live.merge();
            remaps.move(orchestrator, table.mappingId(), 0);
            remaps.move(orchestrator, table.mappingId(), 1);
        }
        orchestrator.close();

        assertThat(moves).isEmpty();
    }
}
