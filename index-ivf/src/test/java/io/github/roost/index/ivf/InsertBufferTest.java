package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows between their addition and their list. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InsertBufferTest {
    private static final int DIMENSION = 20;
    private static final int ROWS = 1_000;
    private static final int NLIST = 50;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
            .build();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void addedRowsAreFoundWhateverIsProbedUntilSearchesHaveHadThemHandedOver(Kept kept) {
        Random random = new Random(1);
        IvfTable table = table(kept, random);
        for (long id = ROWS; id < ROWS + 5; id++) {
            table.add(id, vector(random));
        }
        table.update(ROWS, vector(random));
        table.remove(ROWS + 1);
        SearchResult added = table.search(
                        SearchRequest.of(vector(random), 10).effort(1).filter(IdFilter.of(id -> id >= ROWS)))
                .join();
        assertThat(added.ids()).contains(ROWS + 2, ROWS + 3, ROWS + 4).doesNotContain(ROWS + 1);
        assertThat(table.size()).isEqualTo(ROWS + 4);
        int searches = 0;
        while (rowsInLists(table) < ROWS + 4) {
            table.search(vector(random), 10).join();
            assertThat(++searches).isLessThan(100_000);
        }
        assertThat(searches).isGreaterThan(10);
        SearchResult all = table.search(
                        SearchRequest.of(vector(random), 10).effort(NLIST).filter(IdFilter.of(id -> id >= ROWS)))
                .join();
        assertThat(all.ids()).containsExactlyInAnyOrder(ROWS, ROWS + 2, ROWS + 3, ROWS + 4);
    }

    @Test
    void manyAreHandedOverWithoutSearches() {
        Random random = new Random(2);
        IvfTable table = table(Kept.FLOATS, random);
        for (long id = ROWS; id < ROWS + 100; id++) {
            table.add(id, vector(random));
        }
        while (rowsInLists(table) < ROWS + 64) {
            Thread.onSpinWait();
        }
        assertThat(table.size()).isEqualTo(ROWS + 100);
    }

    /** While the only worker is busy nothing is handed over. */
    @Test
    void aFullBufferLeavesRowsToTheirLists() throws InterruptedException {
        try (Orchestrator one = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            Random random = new Random(3);
            IvfTable table = IvfTable.builder().nlist(NLIST).nprobe(1).build(one, vectors(ROWS, random));
            BusyWorker busy = new BusyWorker(one, table);
            for (long id = ROWS; id < ROWS + 1_000; id++) {
                table.add(id, vector(random));
            }
            int toLists = rowsInLists(table) - ROWS;
            assertThat(one.stats().domains().getFirst().maintenance()).isEqualTo(1);
            busy.close();
            assertThat(toLists).isBetween(500, 999);
            long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (rowsInLists(table) < ROWS + 1_000 && System.nanoTime() < giveUp) {
                Thread.onSpinWait();
            }
            assertThat(rowsInLists(table)).isEqualTo(ROWS + 1_000);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void aFileHasAllRows(Kept kept, @TempDir Path folder) throws Exception {
        Random random = new Random(4);
        IvfTable table = table(kept, random);
        float[][] added = vectors(20, random);
        for (int i = 0; i < added.length; i++) {
            table.add(ROWS + i, added[i]);
        }
        table.save(folder.resolve("table"));
        try (IvfTable opened = IvfTable.open(orchestrator, "opened", folder.resolve("table"))) {
            assertThat(opened.size()).isEqualTo(ROWS + added.length);
            assertThat(rowsInLists(opened)).isEqualTo(ROWS + added.length);
            for (int i = 0; i < added.length; i++) {
                assertThat(opened.search(added[i], 1, 1).join()).isEqualTo(one(ROWS + i));
            }
        }
    }

    /** A list that is not there stands for one that finds no memory. The other one is of a file, and damaged. */
    @Test
    void handingOverThatFailsLeavesAllRowsInTheBuffer() {
        RowLayout layout = RowLayout.ofFloats(2);
        RowList damaged = RowList.mapped(layout, new long[] {7}, Arena.ofAuto().allocate(64, 64), () -> {
            throw new IOException("damaged");
        });
        RowList[] lists = {damaged, new RowList(layout)};
        CoarseQuantizer quantizer = new CoarseQuantizer(ScanKernels.preferred(), new float[][] {{0, 0}, {9, 9}});
        IvfRows rows = new IvfRows(new Lists(quantizer, layout, lists), new RowMap(0));
        InsertBuffer buffer = rows.lists().buffer();
        rows.add(new long[] {1, 2}, new float[][] {{1, 0}, {9, 8}});
        lists[1] = null;
        assertThatThrownBy(() -> run(rows.flush(buffer))).isInstanceOf(NullPointerException.class);
        assertThat(rows.lists().buffer()).isSameAs(buffer);
        assertThat(lists[0].live()).isEqualTo(1);
        assertThat(rows.remove(1)).isEqualTo(rows.lists().bufferNumber());
        lists[1] = new RowList(layout);
        assertThat(run(rows.flush(buffer))).isEqualTo(IvfRows.Progress.DONE);
        assertThat(lists[0].live()).isEqualTo(1);
        assertThat(lists[1].live()).isEqualTo(1);
        assertThat(rows.lists().buffer().isEmpty()).isTrue();
        assertThat(rows.remove(2)).isEqualTo(1);
    }

    /** A list of a file that takes its time to be checked holds up a save, as a slow disk would. */
    @Test
    void workersDoNotWaitForASave(@TempDir Path folder) throws Exception {
        RowLayout layout = RowLayout.ofFloats(2);
        CountDownLatch saving = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        RowList ofFile = RowList.mapped(layout, new long[] {1}, Arena.ofAuto().allocate(64, 64), () -> {
            saving.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new InterruptedIOException();
            }
        });
        RowList sparse = new RowList(layout);
        CoarseQuantizer quantizer = new CoarseQuantizer(ScanKernels.preferred(), new float[][] {{0, 0}, {9, 9}});
        IvfRows rows = new IvfRows(new Lists(quantizer, layout, new RowList[] {ofFile, sparse}), new RowMap(0));
        long[] ids = LongStream.range(100, 200).toArray();
        rows.add(ids, IntStream.range(0, 100).mapToObj(i -> new float[] {9, 9}).toArray(float[][]::new));
        for (int id = 100; id < 150; id++) {
            rows.remove(id);
        }
        try (ExecutorService thread =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            Future<?> save = thread.submit(() -> {
                rows.save(
                        folder.resolve("table"),
                        new RowPreparation(Metric.SQUARED_L2, 2, ElementType.FLOAT32),
                        new Training(
                                ScanKernels.preferred(),
                                0,
                                Metric.SQUARED_L2,
                                ElementType.FLOAT32,
                                false,
                                1,
                                true,
                                1,
                                1),
                        0);
                return true;
            });
            try {
                saving.await();
                assertThat(run(rows.compaction(1))).isEqualTo(IvfRows.Progress.PUT_OFF);
                assertThat(run(rows.flush(rows.lists().buffer()))).isEqualTo(IvfRows.Progress.PUT_OFF);
                rows.putOffCompaction(1);
                assertThat(sparse.rows()).isEqualTo(100);
            } finally {
                release.countDown();
            }
            save.get();
            assertThat(rows.claimCompaction(1)).isTrue();
            assertThat(run(rows.compaction(1))).isEqualTo(IvfRows.Progress.DONE);
            assertThat(sparse.rows()).isEqualTo(50);
        }
    }

    private static IvfRows.Progress run(IvfRows.Steps steps) {
        IvfRows.Progress progress;
        do {
            progress = steps.step();
        } while (progress == IvfRows.Progress.MORE);
        return progress;
    }

    /**
     * One thread adds, two look for what was added last, from the buffer through its handing over: each row must be the
     * nearest to itself, and in an answer once.
     */
    @ParameterizedTest
    @EnumSource(Kept.class)
    void aRowIsSeenByAllSearchesFromItsAdditionOn(Kept kept) throws Exception {
        int adds = 30_000;
        float[][] rows = vectors(adds, new Random(5));
        IvfTable table = table(kept, new Random(6));
        AtomicInteger added = new AtomicInteger();
        try (ExecutorService threads =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<?>> searchers = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                Random random = new Random(7 + thread);
                searchers.add(threads.submit(() -> {
                    for (int last = 0; last < adds; last = added.get()) {
                        int row = Math.max(0, last - 1 - random.nextInt(300));
                        if (last > 0) {
                            SearchResult found = table.search(rows[row], 20, 1).join();
                            assertThat(found.ids()).as("%d of %d", row, last).startsWith(ROWS + row);
                            assertThat(found.ids()).doesNotHaveDuplicates();
                        }
                    }
                }));
            }
            for (int row = 0; row < adds; row++) {
                table.add(ROWS + row, rows[row]);
                added.set(row + 1);
            }
            for (Future<?> searcher : searchers) {
                searcher.get();
            }
        }
        assertThat(table.size()).isEqualTo(ROWS + adds);
    }

    private IvfTable table(Kept kept, Random random) {
        float[][] vectors = vectors(ROWS, random);
        // What codes are learned from.
        vectors[0] = constant(0);
        vectors[1] = constant(255);
        return kept.builder().nlist(NLIST).nprobe(1).rerank(100).build(orchestrator, vectors);
    }

    private static int rowsInLists(IvfTable table) {
        return IntStream.range(0, table.nlist()).map(table::listSize).sum();
    }

    private static SearchResult one(long id) {
        return new SearchResult(new long[] {id}, new float[1]);
    }

    private static float[][] vectors(int count, Random random) {
        return LongStream.range(0, count).mapToObj(i -> vector(random)).toArray(float[][]::new);
    }

    private static float[] vector(Random random) {
        return WholeNumbers.vector(DIMENSION, random);
    }

    private static float[] constant(int value) {
        return WholeNumbers.constant(DIMENSION, value);
    }
}
