package io.github.roost.testkit;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.TableClosedException;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every index promises that builds its tables of rows, saves and opens them. A test class of each index extends it with how its tables are built
 * and opened; what depends on more is decided by the type of the table.
 *
 * @param <T> the type of the tables
 */
public abstract class VectorTableContract<T extends VectorTable> extends SearchContract<T> {
    /** Begins to build a table; of {@link #PARTS} lists or partitions, if it has them. */
    protected abstract TableBuild<? extends T> start(Orchestrator places, Metric metric, long[] ids, VectorSource rows);

    /** Opens a saved table by the name {@code opened}. */
    protected abstract T open(Orchestrator places, Path file) throws IOException;

    @Override
    protected T build(Orchestrator places, Metric metric) {
        return start(places, metric, ids(), VectorSource.of(VECTORS)).join();
    }

    /** Begins to build a table of more rows, whose graphs need not be good. */
    protected TableBuild<? extends T> startLarge(Orchestrator places, long[] ids, VectorSource rows) {
        return start(places, Metric.SQUARED_L2, ids, rows);
    }

    /** The number of rows of a large table. */
    protected int rowsOfALargeTable() {
        return 30_000;
    }

    /** How many copies of a large table are opened with it, to take much more memory than the JVM takes or gives back meanwhile. */
    protected int copiesOfALargeTable() {
        return 0;
    }

    /** A search that reads the table's memory in the thread that calls it, if the index has one. */
    protected SearchFunction<float[], SearchResult> searchInTheCaller(T table, int k, int effort) {
        return (query, context) -> table.search(query, k, effort).join();
    }

    /** The least off-heap memory of a table of {@link #ROWS} rows just opened. */
    protected long minBytesWhenOpened() {
        return (long) ROWS * DIMENSION * Float.BYTES;
    }

    /** What some thousand rows more take of a table's memory limit. */
    protected long bytesOfSomeThousandRows() {
        return 4_000_000;
    }

    /** The numbers of the rows. */
    protected static long[] ids() {
        return LongStream.range(0, ROWS).toArray();
    }

    @Test
    void aCosineTableGivesBackVectorsOfLengthOne() {
        try (T table = build(orchestrator, Metric.COSINE)) {
            float[] read = Objects.requireNonNull(table.vector(5));
            double length = Math.sqrt(LongStream.range(0, DIMENSION)
                    .mapToDouble(d -> VECTORS[5][(int) d] * VECTORS[5][(int) d])
                    .sum());
            for (int d = 0; d < DIMENSION; d++) {
                assertThat((double) read[d]).isCloseTo(VECTORS[5][d] / length, within(1e-6));
            }
        }
    }

    @Test
    void aSavedTableIsOpenedWithTheSameRowsAndFigures() throws IOException {
        Path file = folder.resolve("table.roost");
        TableStats before;
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            before = table.stats();
            table.save(file);
        }
        try (T table = open(orchestrator, file)) {
            TableStats after = table.stats();
            assertThat(after.name()).isEqualTo("opened");
            assertThat(after)
                    .usingRecursiveComparison()
                    .ignoringFields("name", "bytes")
                    .isEqualTo(before);
            assertThat(after.bytes()).isGreaterThanOrEqualTo(minBytesWhenOpened());
            assertThat(after.elementType()).isEqualTo(ElementType.FLOAT32);
            assertThat(table.search(QUERIES[0], K, exactEffort(table)).join().ids())
                    .isEqualTo(nearest(QUERIES[0], K));
            // A remote table has fetched all by now.
            assertThat(table.bytes()).isGreaterThanOrEqualTo((long) ROWS * DIMENSION * Float.BYTES);
            assertThat(table.registration().size()).isEqualTo(table.maxEffort() == PARTS ? PARTS : 1);
        }
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void openingRefusesNullsByName() throws IOException {
        Path file = folder.resolve("table.roost");
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            table.save(file);
        }
        refusedNull("orchestrator", () -> open(null, file));
    }

    @Test
    @Timeout(value = 180, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whatIsNoTableIsRefusedByItsNameAndNothingIsLeftBesideIt() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        Path empty = Files.createFile(folder.resolve("empty"));
        Path text = Files.writeString(folder.resolve("text"), "no table ".repeat(2_000));
        for (Path file : List.of(pipe, empty, text, folder)) {
            assertThatThrownBy(() -> open(orchestrator, file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageNotContaining(" -");
        }
        try (var left = Files.list(folder)) {
            assertThat(left).containsExactlyInAnyOrder(pipe, empty, text);
        }
        assertThat(orchestrator.stats().tables()).isEmpty();
    }

    @Test
    void aTableIsNotSavedOverAFolder() throws IOException {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            assertThatThrownBy(() -> table.save(folder))
                    .isInstanceOf(IOException.class)
                    .hasMessage(folder + " is a folder, not the name of a file");
        }
    }

    @Test
    void whatWasAcceptedFinishesBeforeCloseReturnsAndThenNobodyReadsTheFile() throws IOException {
        Path file = folder.resolve("table.roost");
        try (VectorTable built = build(orchestrator, Metric.SQUARED_L2)) {
            built.save(file);
        }
        long[] nearest = nearest(QUERIES[0], K);
        for (int round = 0; round < 10; round++) {
            T table = open(orchestrator, file);
            List<CompletableFuture<SearchResult>> accepted = new ArrayList<>();
            for (int search = 0; search < 200; search++) {
                accepted.add(table.search(QUERIES[0], K, exactEffort(table)));
            }
            SearchFunction<float[], SearchResult> function = searchInTheCaller(table, K, exactEffort(table));
            AtomicReference<Throwable> ended = new AtomicReference<>();
            Thread outside = Thread.ofPlatform().start(() -> {
                while (ended.get() == null) {
                    try {
                        assertThat(function.search(QUERIES[0], SearchContext.outside((nodes, bytes) -> {}))
                                        .ids())
                                .isEqualTo(nearest);
                    } catch (Throwable thrown) {
                        ended.set(thrown);
                    }
                }
            });
            table.close();
            // Whoever still read the mapping would end this JVM.
            Path copy = Files.copy(file, folder.resolve("copy"));
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            }
            assertThat(accepted)
                    .allSatisfy(search -> assertThat(search.join().ids()).isEqualTo(nearest));
            join(outside);
            assertThat(ended.get()).isInstanceOf(TableClosedException.class);
            assertThat(table.bytes()).isZero();
            assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain(file.toString());
            Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @Test
    void aTableAtItsMemoryLimitRefusesRowsByNameAndGoesOnAnswering() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            Assumptions.assumeTrue(table instanceof MemoryLimited, "has no limit");
            MemoryLimited limited = (MemoryLimited) table;
            assertThat(limited.memoryLimit()).isEqualTo(MemoryLimited.NO_MEMORY_LIMIT);
            refused("at least 1 byte, got 0", () -> limited.memoryLimit(0));
            SearchResult before =
                    table.search(QUERIES[0], K, exactEffort(table)).join();
            if (table instanceof MutableVectorTable mutable) {
                limited.memoryLimit(table.bytes() + bytesOfSomeThousandRows());
                float[] far = new float[DIMENSION];
                Arrays.fill(far, 50);
                int added = 0;
                TableFullException full = null;
                while (full == null && added < 1_000_000) {
                    try {
                        mutable.put(10_000 + added, far);
                        added++;
                    } catch (TableFullException refused) {
                        full = refused;
                    }
                }
                assertThat(full).hasMessageContaining(table.name() + " is full: its memory limit is ");
                assertThat(added).isGreaterThan(1_000);
                // A rebuild takes more until it ends.
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
                while (table.bytes() > limited.memoryLimit() && System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
                assertThat(table.bytes()).isLessThanOrEqualTo(limited.memoryLimit());
                assertThat(table.size()).isEqualTo(ROWS + added);
                assertThat(table.search(QUERIES[0], K, exactEffort(table)).join())
                        .isEqualTo(before);
                assertThat(mutable.remove(10_000)).isTrue();
                limited.memoryLimit(Long.MAX_VALUE);
                assertThat(mutable.put(10_000, far)).isTrue();
            } else {
                limited.memoryLimit(1);
                assertThat(table.search(QUERIES[0], K, exactEffort(table)).join())
                        .isEqualTo(before);
            }
        }
    }

    @Test
    void aClosedTablesMemoryIsFreedAtOnce() throws IOException {
        int rows = rowsOfALargeTable();
        float[][] many = new float[rows][DIMENSION * 8];
        Random random = new Random(3);
        for (float[] row : many) {
            for (int d = 0; d < row.length; d++) {
                row[d] = random.nextFloat();
            }
        }
        List<T> tables = new ArrayList<>();
        tables.add(startLarge(orchestrator, LongStream.range(0, rows).toArray(), VectorSource.of(many))
                .join());
        Assumptions.assumeTrue(tables.getFirst().bytes() > 0, "its rows are in the memory of another process");
        for (int i = 0; i < copiesOfALargeTable(); i++) {
            Path copy = folder.resolve("copy-" + i);
            tables.getFirst().save(copy);
            tables.add(open(orchestrator, copy));
        }
        long bytes = tables.stream().mapToLong(VectorTable::bytes).sum();
        long before = residentBytes();
        tables.forEach(VectorTable::close);
        // Not all of it: some pages were never touched, and AddressSanitizer's shadow takes an eighth of what is
        // unmapped.
        assertThat(before - residentBytes()).isGreaterThan(bytes / 2);
    }

    private static long residentBytes() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("RssAnon:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        }
    }

    @Test
    void searchesAreRepeatedExactlyInIdleTimeToMeasureTheirRecall() throws InterruptedException {
        float[][] rows = gaussian(1_200, DIMENSION, new Random(5));
        long[] ids = LongStream.range(0, rows.length).toArray();
        try (Orchestrator measuring = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1")
                                .read())
                        .recallShare(.1)
                        .build();
                T table = start(measuring, Metric.SQUARED_L2, ids, VectorSource.of(rows))
                        .join()) {
            double hits = 0;
            for (float[] query : QUERIES) {
                SearchResult found = table.search(query, K, table.minEffort(K)).join();
                hits += ExactSearch.hits(new ExactSearch(rows).search(query, K), found);
            }
            Registration.Recall measured = null;
            for (int query = 0; measured == null || measured.samples() < 20; query++) {
                var _ = table.search(QUERIES[query % QUERIES.length], K, table.minEffort(K))
                        .join();
                Thread.sleep(1);
                measured = table.stats().recall();
            }
            // Twice the distance to the ends of the interval: chance is outside once in ten thousand times.
            double recall = hits / K / QUERIES.length;
            assertThat(recall)
                    .isBetween(
                            2 * measured.low() - measured.recall() - .001,
                            2 * measured.high() - measured.recall() + .001);
            assertThat(measured.k()).isEqualTo(K);
            assertThat(measuring.stats().tables().getFirst().recall()).isNotNull();
        }
    }

    @Test
    void aBuildOfASourceMakesTheTableThatArraysMake() {
        TableBuild<? extends T> build = start(orchestrator, Metric.SQUARED_L2, ids(), VectorSource.of(VECTORS));
        double before = 0;
        while (!build.result().isDone()) {
            double now = build.progress();
            assertThat(now).isBetween(before, 1.0);
            before = now;
        }
        try (VectorTable table = build.join();
                VectorTable expected = build(orchestrator, Metric.SQUARED_L2)) {
            assertThat(build.progress()).isEqualTo(1);
            assertThat(build.cancel()).isFalse();
            for (float[] query : QUERIES) {
                assertThat(table.search(query, K, exactEffort(table)).join())
                        .isEqualTo(expected.search(query, K, exactEffort(table)).join());
            }
        }
    }

    @Test
    void aCancelledBuildEndsWithoutATable() {
        int tables = orchestrator.stats().tables().size();
        AtomicInteger reads = new AtomicInteger();
        VectorSource endless = new VectorSource() {
            @Override
            public int size() {
                return ROWS;
            }

            @Override
            public int dimension() {
                return DIMENSION;
            }

            @Override
            public void read(int row, float[] into) {
                reads.incrementAndGet();
                LockSupport.parkNanos(1_000_000);
                System.arraycopy(VECTORS[row], 0, into, 0, DIMENSION);
            }
        };
        TableBuild<? extends T> build = start(orchestrator, Metric.SQUARED_L2, ids(), endless);
        while (reads.get() == 0) {
            Thread.onSpinWait();
        }
        assertThat(build.cancel()).isTrue();
        assertThatThrownBy(build::join).isInstanceOf(CancellationException.class);
        assertThat(build.cancel()).isTrue();
        assertThat(reads.get()).isLessThan(ROWS);
        // What shows the work in reports goes when the last worker leaves it.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (orchestrator.stats().tables().size() != tables && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(orchestrator.stats().tables()).hasSize(tables);
    }

    @Test
    void aBadRowFailsTheBuildByItsNumberAndBadIdsAreRefusedAtOnce() {
        float[][] rows = VECTORS.clone();
        rows[700] = VECTORS[700].clone();
        rows[700][3] = Float.NaN;
        TableBuild<? extends T> build = start(orchestrator, Metric.SQUARED_L2, ids(), VectorSource.of(rows));
        assertThatThrownBy(build::join)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("vector 700 must be finite");
        refused(
                "one id per vector",
                () -> start(orchestrator, Metric.SQUARED_L2, new long[3], VectorSource.of(VECTORS)));
        refused("got 0 twice", () -> start(orchestrator, Metric.SQUARED_L2, new long[ROWS], VectorSource.of(VECTORS)));
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void aBuildRefusesNullsByName() {
        refusedNull("rows", () -> start(orchestrator, Metric.SQUARED_L2, ids(), null));
        refusedNull("ids", () -> start(orchestrator, Metric.SQUARED_L2, null, VectorSource.of(VECTORS)));
    }

    @Test
    void aClosedOrchestratorRefusesABuild() {
        orchestrator.close();
        assertThatThrownBy(() -> start(orchestrator, Metric.SQUARED_L2, ids(), VectorSource.of(VECTORS)))
                .isInstanceOf(OrchestratorClosedException.class);
    }
}
