package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.Remaps;
import io.github.roost.topology.system.MemoryResult;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where lists' memory is moved on machines of one NUMA node and of two, of two domains with a core each. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HomeMemoryTest {
    private static final int ROWS = 400;
    private static final int DIMENSION = 16;
    /** Rows' bytes, and their ids. */
    private static final int SEGMENTS_PER_BLOCK = 2;

    /** The nodes that segments were moved to, each of less than a piece. */
    private final BlockingQueue<Integer> moves = new LinkedBlockingQueue<>();

    private final float[][] rows = gaussian(ROWS, DIMENSION, new Random(7));

    private final Remaps remaps = new Remaps();

    private IvfTable table(Orchestrator orchestrator, int lists) {
        return IvfTable.builder()
                .nlist(lists)
                .nprobe(1)
                .mover((memory, home) -> {
                    moves.add(home.numaNodes().getFirst());
                    return new MemoryResult(true, "");
                })
                .build(orchestrator, rows);
    }

    /** Lists are looked after in their order. */
    private void awaitListsMovedHome(Orchestrator orchestrator, IvfTable table) throws InterruptedException {
        for (int list = 0; list < table.nlist(); list++) {
            int home = orchestrator.homes(table.registration().id(list)).getFirst();
            awaitMoved(table.listSize(list) == 0 ? 0 : 1, home);
        }
    }

    private void awaitMoved(int blocks, int node) throws InterruptedException {
        for (int segment = 0; segment < SEGMENTS_PER_BLOCK * blocks; segment++) {
            assertThat(moves.take()).isEqualTo(node);
        }
    }

    @Test
    void eachListLiesOnItsOwnHomesNodeAndFollowsItToAnother() throws InterruptedException {
        try (Orchestrator orchestrator = remaps.machine(1);
                IvfTable table = table(orchestrator, 8)) {
            awaitListsMovedHome(orchestrator, table);
            int moving = 3;
            int home = orchestrator.homes(table.registration().id(moving)).getFirst();

            remaps.move(orchestrator, table.registration().id(moving), 1 - home);

            awaitMoved(1, 1 - home);
            assertThat(moves).isEmpty();
        }
    }

    @Test
    void whatAListGrowsByFollowsOnceItIsFull() throws InterruptedException {
        try (Orchestrator orchestrator = remaps.machine(1);
                IvfTable table = table(orchestrator, 1)) {
            int home = orchestrator.homes(table.registration().id(0)).getFirst();
            awaitMoved(1, home);

            // So many at once that they come to their list at once; they begin its second block.
            table.add(LongStream.range(ROWS, ROWS + 16 + 1).toArray(), gaussian(16 + 1, DIMENSION, new Random(7)));

            awaitMoved(2, home);
        }
    }

    @Test
    void listsThatAreCompactedOrTrainedAnewAreMovedAgain() throws InterruptedException {
        try (Orchestrator orchestrator = remaps.machine(1);
                IvfTable table = table(orchestrator, 1)) {
            int home = orchestrator.homes(table.registration().id(0)).getFirst();
            awaitMoved(1, home);

            for (long id = 0; id < ROWS / 4 + 1; id++) {
                table.remove(id);
            }
            awaitMoved(1, home);

            table.rebuild().join();
            awaitMoved(1, home);
        }
    }

    @Test
    void onOneNodeNothingIsMoved() {
        Orchestrator orchestrator = remaps.machine(0);
        try (IvfTable table = table(orchestrator, 4)) {
            remaps.move(orchestrator, table.registration().id(0), 1);
            remaps.move(orchestrator, table.registration().id(0), 0);
            table.rebuild().join();
        }
        orchestrator.close();

        assertThat(moves).isEmpty();
    }

    @Test
    void theRowsOfAFileAreKnownToBeOfAFile(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("table");
        try (Orchestrator orchestrator = remaps.machine(0);
                IvfTable table = table(orchestrator, 1)) {
            table.save(file);
        }

        List<MemorySegment> memory = IvfFile.open(file).lists()[0].memory().toList();

        assertThat(memory).hasSize(SEGMENTS_PER_BLOCK);
        assertThat(memory.getFirst().isMapped()).isTrue();
        assertThat(memory.getLast().isMapped()).isFalse();
    }
}
