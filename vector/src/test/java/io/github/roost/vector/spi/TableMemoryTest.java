package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.testkit.Machines;
import io.github.roost.topology.system.MemoryResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TableMemoryTest {
    private static final long PIECE = 2L << 20;

    /** What was moved where, by which thread. */
    private record Move(MemorySegment memory, int node, String thread) {}

    private final BlockingQueue<Move> moves = new LinkedBlockingQueue<>();
    private final TableMemory.Mover recording = (memory, home) -> {
        moves.add(new Move(
                memory, home.numaNodes().getFirst(), Thread.currentThread().getName()));
        return new MemoryResult(true, "");
    };

    private volatile UnaryOperator<Mapping> next = now -> now;
    private Orchestrator orchestrator = machine(2, 2);
    private Registration weights = orchestrator.register("weights", 8);
    private int remaps;

    /** A machine of some NUMA nodes with some domains of one core each. */
    private Orchestrator machine(int nodes, int domainsPerNode) {
        return builder(nodes, domainsPerNode).build();
    }

    private Orchestrator.Builder builder(int nodes, int domainsPerNode) {
        return Orchestrator.builder()
                .topology(Machines.numa(nodes, domainsPerNode, 1))
                .pinner(Machines.unpinned())
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                .mappingPolicy((now, bytes) -> next.apply(now))
                .remapTrigger(new RemapTrigger(.01, 0));
    }

    private void use(Orchestrator other) {
        orchestrator.close();
        orchestrator = other;
        weights = other.register("weights", 8);
    }

    @AfterEach
    void close() {
        orchestrator.close();
    }

    /** Gives mapping ids of a table these homes; what makes that pay is that a weight gets two. */
    private void rehome(Registration table, int index, int... homes) {
        int weight = weights.firstSlot() + remaps;
        orchestrator.indexing().touched(weights.id(remaps), 1, (long) Math.pow(1_000, ++remaps));
        next = now -> now.edit(now.slots())
                .homes(weight, 0, 1)
                .homes(table.firstSlot() + index, homes)
                .build();
        assertThat(orchestrator.indexing().endWindow()).isTrue();
    }

    private int node(Registration table, int index) {
        int home = orchestrator.homes(table.id(index)).getFirst();
        return orchestrator.topology().domains().get(home).numaNodes().getFirst();
    }

    private static MemorySegment segment(long bytes) {
        return Arena.ofAuto().allocate(bytes);
    }

    private void awaitMoved(MemorySegment whole, int node) throws InterruptedException {
        for (long at = 0; at < whole.byteSize(); at += PIECE) {
            Move move = moves.take();
            assertThat(move.memory()).isEqualTo(whole.asSlice(at, Math.min(PIECE, whole.byteSize() - at)));
            assertThat(move.node()).isEqualTo(node);
        }
    }

    @Test
    void aTablesMemoryIsMovedHomeInPiecesOnTheWorkers() throws InterruptedException {
        Registration table = orchestrator.register("table", 2);
        List<MemorySegment> memory = List.of(segment(2 * PIECE + 4_096), segment(10));

        TableMemory.keepAtHome(orchestrator, table, index -> Stream.of(memory.get(index)), (piece, home) -> {
            assertThat(orchestrator.indexing().calledOnWorker()).isTrue();
            return recording.move(piece, home);
        });

        awaitMoved(memory.get(0), node(table, 0));
        awaitMoved(memory.get(1), node(table, 1));
    }

    @Test
    void aHomeThatMovesToAnotherNodeTakesItsMemoryAlongAndOneOnTheSameNodeDoesNot() throws InterruptedException {
        Registration table = orchestrator.register("table", 2);
        List<MemorySegment> memory = List.of(segment(4_096), segment(4_096));
        rehome(table, 0, 0);
        rehome(table, 1, 0);
        TableMemory.keepAtHome(orchestrator, table, index -> Stream.of(memory.get(index)), recording);
        awaitMoved(memory.get(0), 0);
        awaitMoved(memory.get(1), 0);

        rehome(table, 0, 1);
        rehome(table, 1, 3);

        awaitMoved(memory.get(1), 1);
        rehome(table, 0, 2);
        awaitMoved(memory.get(0), 1);
        assertThat(moves).isEmpty();
    }

    @Test
    void memoryStaysWhereOneOfSeveralHomesIs() throws InterruptedException {
        Registration table = orchestrator.register("table", 2);
        List<MemorySegment> memory = List.of(segment(4_096), segment(4_096));
        rehome(table, 0, 0);
        rehome(table, 1, 0);
        TableMemory.keepAtHome(orchestrator, table, index -> Stream.of(memory.get(index)), recording);
        awaitMoved(memory.get(0), 0);
        awaitMoved(memory.get(1), 0);

        rehome(table, 0, 3, 1);
        rehome(table, 1, 3, 2);

        awaitMoved(memory.get(1), 1);
        rehome(table, 0, 3);
        awaitMoved(memory.get(0), 1);
        assertThat(moves).isEmpty();
    }

    @Test
    void newMemoryIsMovedToWhereTheTablesIs() throws InterruptedException {
        Registration table = orchestrator.register("table");
        List<MemorySegment> parts = new ArrayList<>(List.of(segment(4_096)));
        rehome(table, 0, 3);
        TableMemory memory =
                TableMemory.keepAtHome(orchestrator, table, index -> List.copyOf(parts).stream(), recording);
        awaitMoved(parts.getFirst(), 1);

        MemorySegment part = segment(8_192);
        memory.isNew(0, part);
        awaitMoved(part, 1);
        parts.set(0, segment(16));
        memory.isNew(0);
        awaitMoved(parts.getFirst(), 1);
        memory.allIsNew();
        awaitMoved(parts.getFirst(), 1);
        assertThat(moves).isEmpty();
    }

    @Test
    void onOneNodeNothingIsEverMovedNorAskedFor() {
        use(machine(1, 4));
        Registration table = orchestrator.register("table");
        AtomicInteger requested = new AtomicInteger();

        TableMemory memory = TableMemory.keepAtHome(
                orchestrator,
                table,
                index -> {
                    requested.incrementAndGet();
                    return Stream.of(segment(8));
                },
                recording);
        rehome(table, 0, 1);
        rehome(table, 0, 2);
        memory.isNew(0);
        memory.isNew(0, segment(8));
        memory.allIsNew();
        orchestrator.close();

        assertThat(requested).hasValue(0);
        assertThat(moves).isEmpty();
    }

    @Test
    void theNodesOfAnotherMachineAreNotThisOnes() {
        use(Orchestrator.builder()
                .topology(Machines.unbound(Machines.numa(2, 2, 1)))
                .build());
        Registration table = orchestrator.register("table");

        TableMemory.keepAtHome(orchestrator, table, index -> Stream.of(segment(8)), recording)
                .allIsNew();
        orchestrator.close();

        assertThat(moves).isEmpty();
    }

    @Test
    void memoryOfAFileAndOfTheHeapIsLeftAlone(@TempDir Path folder) throws IOException, InterruptedException {
        Path file = Files.write(folder.resolve("table"), new byte[8_192]);
        MemorySegment mapped;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 8_192, Arena.ofAuto());
        }
        MemorySegment own = segment(8);
        Registration table = orchestrator.register("table");

        TableMemory.keepAtHome(
                orchestrator,
                table,
                index -> Stream.of(mapped, mapped.asSlice(4_096).asReadOnly(), MemorySegment.ofArray(new long[4]), own),
                recording);

        awaitMoved(own, node(table, 0));
        assertThat(moves).isEmpty();
    }

    @Test
    void aRefusalEndsThatSegmentAndTheNextIsTried() throws InterruptedException {
        Registration table = orchestrator.register("table");
        MemorySegment first = segment(3 * PIECE);
        MemorySegment second = segment(8);

        TableMemory.keepAtHome(orchestrator, table, index -> Stream.of(first, second), (memory, home) -> {
            recording.move(memory, home);
            return new MemoryResult(false, "the kernel does not want to");
        });

        assertThat(moves.take().memory()).isEqualTo(first.asSlice(0, PIECE));
        assertThat(moves.take().memory()).isEqualTo(second);
    }

    @Test
    void afterAFailureTheNextMoveIsTriedAgain() throws InterruptedException {
        Registration table = orchestrator.register("table");
        rehome(table, 0, 0);
        CountDownLatch failed = new CountDownLatch(1);
        MemorySegment memory = segment(8);
        TableMemory.Segments segments = index -> Stream.of(memory);
        TableMemory kept = TableMemory.keepAtHome(orchestrator, table, segments, (piece, home) -> {
            if (failed.getCount() > 0) {
                failed.countDown();
                throw new StackOverflowError("once");
            }
            return recording.move(piece, home);
        });
        failed.await();

        // The thread that failed may be about to end: what it does not see, the next begin does.
        while (moves.isEmpty()) {
            kept.isNew(0);
            Thread.onSpinWait();
        }

        assertThat(moves.take().memory()).isEqualTo(memory);
    }

    @Test
    void thatTheTableIsClosedMeanwhileIsNoAlarm() {
        assertThat(loggedAfter(new TableClosedException("table"))).doesNotContain("stays where it is");
        assertThat(loggedAfter(new IllegalStateException("for this test")))
                .contains("stays where it is")
                .contains("for this test");
    }

    /** What is logged if the first move fails. */
    private String loggedAfter(RuntimeException failure) {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try (Registration table = orchestrator.register("table")) {
            AtomicBoolean fails = new AtomicBoolean(true);
            AtomicInteger moved = new AtomicInteger();
            TableMemory.Segments segments = index -> {
                if (fails.getAndSet(false)) {
                    throw failure;
                }
                return Stream.of(segment(8));
            };
            TableMemory memory = TableMemory.keepAtHome(orchestrator, table, segments, (piece, home) -> {
                moved.incrementAndGet();
                return new MemoryResult(true, "");
            });
            // The thread that fails logs before another begins.
            while (moved.get() == 0) {
                memory.isNew(0);
                Thread.onSpinWait();
            }
        } finally {
            System.setErr(before);
        }
        return log.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aTableThatIsClosedIsMovedNoFurther() throws InterruptedException {
        Registration table = orchestrator.register("table");
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        AtomicInteger moved = new AtomicInteger();
        TableMemory memory = TableMemory.keepAtHome(
                orchestrator, table, index -> Stream.of(segment(3 * PIECE), segment(8)), (piece, home) -> {
                    moved.incrementAndGet();
                    begun.countDown();
                    await(closed);
                    return new MemoryResult(true, "");
                });
        begun.await();
        table.close();
        memory.isNew(0);
        closed.countDown();
        orchestrator.close();

        assertThat(moved).hasValue(1);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatThereIsNoRoomToQueueIsPutOff() throws InterruptedException {
        use(builder(2, 1).ringCapacity(1).build());
        Registration busy = orchestrator.register("busy", 2);
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        for (int worker = 0; worker < 2; worker++) {
            var _ = orchestrator.submit(
                    (query, context) -> {
                        begun.countDown();
                        end.await();
                        return query;
                    },
                    worker,
                    busy.id(worker));
        }
        begun.await();
        for (int worker = 0; worker < 2; worker++) {
            var _ = orchestrator.submit((query, context) -> query, worker, busy.id(worker), SubmitOptions.BATCH);
        }
        Registration table = orchestrator.register("table");
        MemorySegment memory = segment(8);
        CountDownLatch requested = new CountDownLatch(1);
        TableMemory.keepAtHome(
                orchestrator,
                table,
                index -> {
                    requested.countDown();
                    return Stream.of(memory);
                },
                recording);
        requested.await();
        assertThat(moves).isEmpty();
        end.countDown();

        awaitMoved(memory, node(table, 0));
    }
}
