package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random programs of changes, rebuilds and searches of a mirrored pool, in which a node, the writer or both are lost at one of the writes. Then
 * each node that is left is opened alone and compared with a model.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MirroredLossTest {
    private static final int ROWS = 80;
    private static final int PARTITIONS = 4;
    private static final int IDS = 2 * ROWS + 40;
    private static final int K = 6;
    /** Programs at once: most of their time they wait for leases. */
    private static final int AT_ONCE = 8;

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static float[][] rows;
    private static float[][] others;

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        rows = Pools.rows(ROWS, 1);
        others = Pools.rows(300, 2);
        Pools.build(
                orchestrator,
                PartitionedIndex.builder()
                        .partitions(PARTITIONS)
                        .boundary(.2)
                        .gap(1)
                        .spare(6)
                        .lease(Duration.ofMillis(50)),
                rows,
                folder.resolve("first"));
        Files.copy(folder.resolve("first"), folder.resolve("second"));
        RemoteMemory memory = RemoteMemory.mapped(folder);
        RemoteTable.mirrored(memory, memory, "second").open("first").close();
    }

    @AfterAll
    static void close() {
        orchestrator.close();
    }

    @Test
    void whatIsAcknowledgedSurvivesTheLossOfANodeAtAnyWrite() throws Exception {
        runPrograms(1, 120, Program::lose);
    }

    @Tag("stress")
    @Test
    void whatIsAcknowledgedSurvivesTheLossOfANodeInThousandsOfPrograms() throws Exception {
        runPrograms(100_000, 3_000, Program::lose);
    }

    @Test
    void aWriterThatIsStoppedBeforeAnyWriteAndGoesOnLaterHarmsNeitherNode() throws Exception {
        runPrograms(1, 80, Program::stop);
    }

    @Tag("stress")
    @Test
    void aWriterThatIsStoppedHarmsNeitherNodeInManyPrograms() throws Exception {
        runPrograms(200_000, 1_000, Program::stop);
    }

    private interface Run {
        void of(Program program) throws Exception;
    }

    private static void runPrograms(long seed, int count, Run run) {
        try (ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
            List<CompletableFuture<Void>> programs = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long number = seed + i;
                programs.add(CompletableFuture.runAsync(
                        () -> {
                            try {
                                run.of(new Program(number));
                            } catch (Throwable failed) {
                                throw new AssertionError("program of seed " + number, failed);
                            }
                        },
                        threads));
            }
            programs.forEach(CompletableFuture::join);
        }
    }

    /** One program; its seed says everything but how fast it runs. */
    private static final class Program {
        private final Random random;
        private final String first;
        private final String second;
        private final TwoNodes nodes = new TwoNodes(RemoteMemory.mapped(folder), RemoteMemory.mapped(folder));
        private final RemoteMemory plain = RemoteMemory.mapped(folder);
        private Map<Long, float[]> model = new TreeMap<>();
        /** With the change whose outcome nobody knows; otherwise the same. */
        private Map<Long, float[]> maybe = model;

        Program(long seed) {
            this.random = new Random(seed);
            this.first = "first-" + seed;
            this.second = "second-" + seed;
            for (int i = 0; i < ROWS; i++) {
                model.put(2L * i, rows[i]);
            }
        }

        private void copy() throws IOException {
            Files.copy(folder.resolve("first"), folder.resolve(first));
            Files.copy(folder.resolve("second"), folder.resolve(second));
        }

        private void delete() throws IOException {
            Files.delete(folder.resolve(first));
            Files.delete(folder.resolve(second));
        }

        /** A node, the writer or both are lost. */
        void lose() throws IOException {
            copy();
            int lost = random.nextInt(3) - 1;
            try (MutableRemoteTable table = open(RemoteTable.mirrored(nodes.first(), nodes.second(), second), first)) {
                nodes.lose(new TwoNodes.Loss(
                        random.nextInt(1, 100), lost, lost < 0 || random.nextBoolean(), random.nextBoolean()));
                boolean goesOn = true;
                for (int i = 0; i < 9 && goesOn; i++) {
                    goesOn = step(table);
                }
            }
            if (lost < 0) {
                takeOver();
            }
            // Either may be the one that is left, if both are there; each alone has everything.
            for (String left : lost == 0 ? List.of(second) : lost == 1 ? List.of(first) : List.of(first, second)) {
                compareAlone(left);
            }
            delete();
        }

        /** The writer is stopped while another one takes over, and then goes on. */
        void stop() throws Exception {
            copy();
            CountDownLatch stopped = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            try (MutableRemoteTable table = open(RemoteTable.mirrored(nodes.first(), nodes.second(), second), first)) {
                for (int i = 0; i < random.nextInt(4); i++) {
                    assertThat(step(table)).isTrue();
                }
                nodes.stopBefore(random.nextInt(1, 25), () -> {
                    stopped.countDown();
                    await(release);
                });
                Change change = change();
                CompletableFuture<Boolean> changed = CompletableFuture.supplyAsync(() -> {
                    try {
                        change.make(table);
                        return true;
                    } catch (UncheckedIOException fenced) {
                        assertThat(fenced).hasCauseInstanceOf(RemoteMemoryException.WriterFencedException.class);
                        return false;
                    } finally {
                        stopped.countDown();
                    }
                });
                await(stopped);
                boolean hasEffect = change.hasEffectOn(model);
                maybe = change.in(model);
                boolean wasMade = false;
                try {
                    wasMade = takeOver();
                } finally {
                    release.countDown();
                }
                if (changed.join() && !(hasEffect && wasMade)) {
                    maybe = change.in(model);
                    // One without effect may have come before the changes of the other.
                    model = hasEffect ? maybe : model;
                }
                takeOver();
            }
            for (String each : List.of(first, second)) {
                compareAlone(each);
            }
            delete();
        }

        private static void await(CountDownLatch latch) {
            try {
                assertThat(latch.await(5, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private MutableRemoteTable open(RemoteMemory memory, String region) throws IOException {
            return RemoteTable.builder().ef(200).rebuildsFullLogs(false).open(orchestrator, region, memory, region);
        }

        /**
         * Another writer opens both nodes, after the first one has died or has ended. Returns whether it finds the change whose outcome nobody
         * knew.
         */
        private boolean takeOver() throws IOException {
            try (MutableRemoteTable next = open(RemoteTable.mirrored(plain, plain, second), first)) {
                next.put(IDS, others[0]);
                boolean made = isSame(next, maybe);
                assertThat(made || isSame(next, model)).isTrue();
                model = made ? maybe : model;
                model.put((long) IDS, others[0]);
                maybe = model;
                for (int i = 0; i < 4; i++) {
                    assertThat(step(next)).isTrue();
                }
                return made;
            }
        }

        private void compareAlone(String left) throws IOException {
            try (MutableRemoteTable alone = open(RemoteTable.alone(plain), left)) {
                // The first writer repairs what a lost one has left.
                alone.put(IDS, others[0]);
                assertThat(isSame(alone, maybe) || isSame(alone, model))
                        .as("%s alone", left)
                        .isTrue();
                alone.verify();
                int partition = random.nextInt(PARTITIONS);
                assertThat(alone.rebuild(partition)).isTrue();
                assertThat(isSame(alone, maybe) || isSame(alone, model))
                        .as("%s alone, rebuilt", left)
                        .isTrue();
            }
        }

        private Change change() {
            int kind = random.nextInt(9);
            if (kind >= 7) {
                return new Change(-1, null, random.nextInt(PARTITIONS));
            }
            float[] vector = others[random.nextInt(others.length)].clone();
            vector[0] += random.nextFloat();
            return new Change(random.nextInt(IDS), kind < 5 ? vector : null, -1);
        }

        /** A search, or a change; returns whether there was no loss. */
        private boolean step(MutableRemoteTable table) {
            if (random.nextInt(10) == 0) {
                float[] query = others[random.nextInt(others.length)];
                assertThat(table.search(query, K, PARTITIONS).join().ids()).isEqualTo(exact(model, query));
                return true;
            }
            Change change = change();
            Map<Long, float[]> after = change.in(model);
            try {
                assertThat(change.make(table)).isEqualTo(change.isNewsIn(model));
                model = after;
                maybe = after;
                return true;
            } catch (UncheckedIOException lost) {
                maybe = after;
                return false;
            }
        }
    }

    /** A row is put; without a vector it is removed; with a partition that is rebuilt. */
    private record Change(long id, float @Nullable [] vector, int partition) {
        boolean make(MutableRemoteTable table) {
            if (partition >= 0) {
                return table.rebuild(partition);
            }
            return vector == null ? table.remove(id) : table.put(id, vector);
        }

        boolean isNewsIn(Map<Long, float[]> model) {
            return partition >= 0 || (vector == null) == model.containsKey(id);
        }

        boolean hasEffectOn(Map<Long, float[]> model) {
            return vector != null || (partition < 0 && model.containsKey(id));
        }

        Map<Long, float[]> in(Map<Long, float[]> model) {
            Map<Long, float[]> after = new TreeMap<>(model);
            if (vector != null) {
                after.put(id, vector);
            } else if (partition < 0) {
                after.remove(id);
            }
            return after;
        }
    }

    private static long[] exact(Map<Long, float[]> rows, float[] query) {
        return ExactSearch.exact(rows, query, K, Metric.SQUARED_L2).ids();
    }

    /** Whether the table has these rows, and the one that the comparison has put. */
    private static boolean isSame(MutableRemoteTable table, Map<Long, float[]> model) {
        Map<Long, float[]> expected = new TreeMap<>(model);
        expected.put((long) IDS, others[0]);
        boolean same = table.size() == expected.size();
        for (long id = 0; id <= IDS && same; id++) {
            float @Nullable [] there = table.vector(id);
            same = Arrays.equals(there, expected.get(id));
        }
        for (int i = 0; i < 6 && same; i++) {
            float[] query = others[10 + i];
            same = Arrays.equals(table.search(query, K, PARTITIONS).join().ids(), exact(expected, query));
        }
        return same;
    }
}
