package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.update.PartitionLogFullException;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.Metric;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RemoteChangesTest {
    private static final int ROWS = 300;
    private static final int PARTITIONS = 5;
    private static final int K = 8;
    private static final String POOL = "changed.pool";
    private static final Duration LEASE = Duration.ofMillis(60);

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static float[][] rows;
    private static float[][] others;

    private final SteppedMemory stepped = new SteppedMemory(RemoteMemory.mapped(folder));
    private final RemoteMemory plain = RemoteMemory.mapped(folder);
    private final Map<Long, float[]> model = new TreeMap<>();

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        rows = Pools.rows(ROWS, 1);
        others = Pools.rows(400, 2);
        Pools.build(
                orchestrator,
                PartitionedIndex.builder()
                        .partitions(PARTITIONS)
                        .boundary(.2)
                        .gap(.5)
                        .spare(4)
                        .lease(LEASE),
                rows,
                folder.resolve("first.pool"));
    }

    @AfterAll
    static void close() {
        orchestrator.close();
    }

    @BeforeEach
    void fresh() throws IOException {
        Files.copy(folder.resolve("first.pool"), folder.resolve(POOL), StandardCopyOption.REPLACE_EXISTING);
        model.clear();
        for (int i = 0; i < ROWS; i++) {
            model.put(2L * i, rows[i]);
        }
    }

    private static MutableRemoteTable open(RemoteMemory memory) throws IOException {
        return RemoteTable.builder().ef(300).rebuildsFullLogs(false).open(orchestrator, "changed", memory, POOL);
    }

    private static long[] exact(Map<Long, float[]> rows, float[] query) {
        return ExactSearch.exact(rows, query, K, Metric.SQUARED_L2).ids();
    }

    /** Searches of all partitions find exactly what the rows say. */
    private static void requireSame(MutableRemoteTable table, Map<Long, float[]> rows) {
        for (int i = 0; i < 12; i++) {
            float[] query = others[others.length - 1 - i];
            assertThat(table.search(query, K, PARTITIONS).join().ids()).isEqualTo(exact(rows, query));
        }
        assertThat(table.size()).isEqualTo(rows.size());
    }

    /** No two are the same, so that what is nearest has one order. */
    private static float[] somewhere(Random random) {
        float[] vector = others[random.nextInt(others.length)].clone();
        vector[0] += random.nextFloat();
        return vector;
    }

    private static float[] near(float[] vector, int number) {
        float[] near = vector.clone();
        near[0] += number * .01f;
        return near;
    }

    private void put(MutableRemoteTable table, long id, float[] vector) {
        assertThat(table.put(id, vector)).isEqualTo(model.put(id, vector) == null);
    }

    @Test
    void randomChangesOfTwoWritersAreSeenByBothAndByAReader() throws IOException {
        Random random = new Random(5);
        try (MutableRemoteTable one = open(plain);
                MutableRemoteTable two = open(plain);
                MutableRemoteTable reader = open(plain)) {
            for (int i = 0; i < 120; i++) {
                MutableRemoteTable writer = random.nextBoolean() ? one : two;
                long id = random.nextInt(ROWS * 2 + 40);
                if (random.nextInt(3) == 0) {
                    assertThat(writer.remove(id)).isEqualTo(model.remove(id) != null);
                    assertThat(reader.vector(id)).isNull();
                } else {
                    float[] vector = somewhere(random);
                    put(writer, id, vector);
                    assertThat(reader.vector(id)).isEqualTo(vector);
                }
                if (i % 10 == 0) {
                    requireSame(reader, model);
                }
            }
            requireSame(one, model);
            requireSame(two, model);
        }
        try (MutableRemoteTable later = open(plain)) {
            requireSame(later, model);
        }
    }

    /** One change of a table: of a row, or without a vector its removal. */
    private record Change(long id, float @Nullable [] vector) {
        void make(MutableRemoteTable table) {
            if (vector == null) {
                table.remove(id);
            } else {
                table.put(id, vector);
            }
        }

        Map<Long, float[]> in(Map<Long, float[]> before) {
            Map<Long, float[]> after = new TreeMap<>(before);
            if (vector == null) {
                after.remove(id);
            } else {
                after.put(id, vector);
            }
            return after;
        }
    }

    /** A new row; one that moves to other partitions; one that goes; one that is replaced in its own partition. */
    private static List<Change> changes() {
        float[] near = rows[30].clone();
        near[0] += .01f;
        return List.of(
                new Change(9_001, others[0]), new Change(20, others[1]), new Change(40, null), new Change(60, near));
    }

    private static boolean isSame(MutableRemoteTable table, Map<Long, float[]> rows) {
        boolean same = table.size() == rows.size();
        for (int i = 0; i < 12; i++) {
            float[] query = others[others.length - 1 - i];
            same &= Arrays.equals(table.search(query, K, PARTITIONS).join().ids(), exact(rows, query));
        }
        for (Change change : changes()) {
            same &= Arrays.equals(table.vector(change.id()), rows.get(change.id()));
            float[] near = change.vector() == null ? others[3] : change.vector();
            same &= Arrays.equals(table.search(near, K, PARTITIONS).join().ids(), exact(rows, near));
        }
        return same;
    }

    @Tag("stress")
    @Test
    void aWriterThatDiesBeforeAnyOfItsStepsLosesOnlyWhatItHadNotAcknowledged() throws IOException {
        int deaths = 0;
        for (Change change : changes()) {
            boolean died = true;
            for (int dies = 1; died; dies++) {
                fresh();
                try (MutableRemoteTable writer = open(stepped)) {
                    stepped.beforeEach(number -> {});
                    put(writer, 9_000, others[5]);
                    stepped.dieBefore(dies);
                    try {
                        change.make(writer);
                        died = false;
                    } catch (UncheckedIOException dead) {
                        deaths++;
                    }
                    try (MutableRemoteTable next = open(plain)) {
                        // A reader may see the row twice until somebody writes, but nothing else.
                        put(next, 9_002, others[7]);
                        boolean made = isSame(next, change.in(model));
                        assertThat(made || (died && isSame(next, model)))
                                .as("%s, dead before step %d", change, dies)
                                .isTrue();
                        put(next, 9_003, others[8]);
                        requireSame(next, made ? change.in(model) : model);
                    }
                }
            }
        }
        // Lease, slots, records, tails, and the lease again, at least.
        assertThat(deaths).isGreaterThanOrEqualTo(5 * changes().size());
    }

    @Tag("stress")
    @Test
    void aWriterThatIsStoppedBeforeAnyOfItsStepsAndGoesOnLaterIsFencedOff() throws Exception {
        int stops = 0;
        int fenced = 0;
        for (Change change : changes()) {
            for (int stop = 1; stop > 0; stop++) {
                fresh();
                try (MutableRemoteTable writer = open(stepped);
                        MutableRemoteTable next = open(plain)) {
                    stepped.beforeEach(number -> {});
                    put(writer, 9_000, others[5]);
                    CountDownLatch stopped = new CountDownLatch(1);
                    CountDownLatch release = new CountDownLatch(1);
                    int at = stop;
                    stepped.beforeEach(number -> {
                        if (number == at) {
                            stopped.countDown();
                            await(release);
                        }
                    });
                    CompletableFuture<Void> changed =
                            CompletableFuture.runAsync(() -> change.make(writer), Thread::startVirtualThread);
                    CompletableFuture.anyOf(
                                    changed,
                                    CompletableFuture.runAsync(() -> await(stopped), Thread::startVirtualThread))
                            .join();
                    if (stopped.getCount() > 0) {
                        stopped.countDown();
                        break;
                    }
                    stops++;
                    // The lease ends meanwhile, if the writer had it. The same row goes elsewhere: nothing else is
                    // written where the
                    // writer is going to, so that the fence alone keeps it off.
                    int pair = change.vector() == null ? -1 : next.partitionsOf(change.vector(), 1)[0] / 2;
                    List<float[]> elsewhere = Arrays.stream(others)
                            .filter(vector -> next.partitionsOf(vector, 1)[0] / 2 != pair)
                            .limit(6)
                            .toList();
                    try {
                        for (int i = 0; i < 6; i++) {
                            // Of the row itself the writer may have come so far that it is there.
                            long id = i == 3 ? change.id() : 9_010 + i;
                            next.put(id, elsewhere.get(i));
                            model.put(id, elsewhere.get(i));
                        }
                    } finally {
                        release.countDown();
                    }
                    boolean made = true;
                    try {
                        changed.join();
                    } catch (CompletionException refused) {
                        made = false;
                        assertThat(refused).rootCause().isInstanceOf(RemoteMemoryException.WriterFencedException.class);
                        fenced++;
                    }
                    // Where the writer got its lease after the others it was not fenced, and its change is the last.
                    Map<Long, float[]> now = made ? change.in(model) : model;
                    requireSame(next, now);
                    assertThat(isSame(next, now))
                            .as("%s, stopped at %d", change, stop)
                            .isTrue();
                    assertThat(next.put(9_030, others[30])).isTrue();
                }
            }
        }
        assertThat(stops).isGreaterThan(4 * changes().size());
        assertThat(fenced).isGreaterThan(2 * changes().size());
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(2, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aFullLogRefusesByNameAndOthersGoOn() throws IOException {
        try (MutableRemoteTable table = open(plain)) {
            int full = table.partitionsOf(rows[0], 1)[0];
            long id = 10_000;
            TableFullException refused = null;
            while (refused == null) {
                try {
                    table.put(id, rows[0]);
                    model.put(id++, rows[0]);
                } catch (TableFullException e) {
                    refused = e;
                }
            }
            assertThat(refused)
                    .hasCauseInstanceOf(PartitionLogFullException.class)
                    .hasMessageContaining("has a full log of partition " + full)
                    .hasMessageStartingWith("table changed is full: ")
                    .hasMessageContaining("slots of its pair are taken")
                    .hasMessageEndingWith("as by rebuild(" + full + ")");
            requireSame(table, model);
            // A row can still be taken out, and rows of other pairs come in.
            assertThat(table.remove(10_000)).isTrue();
            model.remove(10_000L);
            int other = 0;
            while (table.partitionsOf(rows[other], 1)[0] / 2 == full / 2) {
                other++;
            }
            put(table, id, rows[other]);
            requireSame(table, model);
        }
    }

    @Test
    void pairsAreBuiltAnewAgainAndAgainBesideChangesOfOthersAndSearches() throws Exception {
        Random random = new Random(9);
        try (MutableRemoteTable one = open(plain);
                MutableRemoteTable two = open(plain);
                MutableRemoteTable reader = open(plain)) {
            for (int i = 0; i < 260; i++) {
                MutableRemoteTable writer = random.nextBoolean() ? one : two;
                long id = random.nextInt(ROWS * 2);
                if (random.nextInt(4) == 0) {
                    assertThat(writer.remove(id)).isEqualTo(model.remove(id) != null);
                } else {
                    put(writer, id, somewhere(random));
                }
                if (i % 12 == 0) {
                    assertThat(writer.rebuild(random.nextInt(PARTITIONS))).isTrue();
                }
                if (i % 20 == 0) {
                    requireSame(reader, model);
                }
            }
            // More rebuilds than there is spare space for: that of older epochs was used again.
            assertThat(reader.remoteStats().epoch()).isGreaterThan(18);
            requireSame(one, model);
            requireSame(two, model);
        }
        try (MutableRemoteTable later = open(plain)) {
            requireSame(later, model);
        }
    }

    @Test
    void aTableThatFillsItsLogsEmptiesThemByItself() throws Exception {
        try (MutableRemoteTable table = RemoteTable.builder().ef(300).open(orchestrator, "changed", plain, POOL);
                MutableRemoteTable reader = open(plain)) {
            Random random = new Random(11);
            for (int i = 0; i < 600; i++) {
                long id = 10_000L + i % 90;
                float[] vector = somewhere(random);
                table.put(id, vector);
                model.put(id, vector);
            }
            requireSame(reader, model);
            assertThat(reader.remoteStats().epoch()).isGreaterThan(1);
        }
    }

    @Test
    @SuppressWarnings("try") // closed early on purpose
    void thatTheOrchestratorIsClosedDuringARebuildIsNoAlarm() throws Exception {
        PrintStream err = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try (Orchestrator own = Pools.orchestrator();
                MutableRemoteTable table = RemoteTable.builder().open(own, "changed", stepped, POOL)) {
            CompletableFuture<Thread> rebuild = new CompletableFuture<>();
            stepped.beforeEachRead(transfers -> {
                if (Thread.currentThread().getName().startsWith("roost-rebuild-")) {
                    own.close();
                    rebuild.complete(Thread.currentThread());
                }
                return CompletableFuture.completedFuture(null);
            });
            assertThatThrownBy(() -> {
                        for (long id = 10_000; ; id++) {
                            table.put(id, rows[0]);
                        }
                    })
                    .isInstanceOf(OrchestratorClosedException.class);
            rebuild.join().join();
        } finally {
            System.setErr(err);
        }
        assertThat(log.toString(StandardCharsets.UTF_8)).doesNotContain("could not be rebuilt");
    }

    @Test
    void aTableWhoseFullLogCannotBeEmptiedIsFullByName() throws Exception {
        Path file = folder.resolve("no-spare.pool");
        Pools.build(
                orchestrator,
                PartitionedIndex.builder()
                        .partitions(PARTITIONS)
                        .gap(.1)
                        .spare(0)
                        .lease(LEASE),
                rows,
                file);
        try (MutableRemoteTable table = RemoteTable.builder().open(orchestrator, "no-spare", plain, "no-spare.pool")) {
            int full = table.partitionsOf(rows[0], 1)[0];
            assertThatThrownBy(() -> {
                        for (long id = 10_000; ; id++) {
                            table.put(id, rows[0]);
                            model.put(id, rows[0]);
                        }
                    })
                    .isInstanceOf(TableFullException.class)
                    .hasMessageStartingWith("table no-spare is full: ")
                    .hasMessageContaining("has a full log of partition " + full)
                    .hasMessageContaining("has no space for pair " + full / 2);
            requireSame(table, model);
        }
    }

    @Tag("stress")
    @Test
    void aWriterThatDiesWhileItBuildsAPairAnewLosesNothing() throws IOException {
        boolean died = true;
        int deaths = 0;
        for (int dies = 1; died; dies++) {
            fresh();
            try (MutableRemoteTable writer = open(stepped)) {
                stepped.beforeEach(number -> {});
                put(writer, 9_000, others[5]);
                put(writer, 60, others[6]);
                int pair = writer.partitionsOf(others[5], 1)[0];
                stepped.dieBefore(dies);
                try {
                    writer.rebuild(pair);
                    died = false;
                } catch (UncheckedIOException dead) {
                    deaths++;
                }
                try (MutableRemoteTable next = open(plain)) {
                    requireSame(next, model);
                    put(next, 9_001, others[7]);
                    assertThat(next.remove(9_000)).isTrue();
                    model.remove(9_000L);
                    assertThat(next.rebuild(pair)).isTrue();
                    requireSame(next, model);
                    next.save(folder.resolve("copy.pool"));
                }
                try (MutableRemoteTable copy =
                        RemoteTable.builder().ef(300).open(orchestrator, "copy", plain, "copy.pool")) {
                    requireSame(copy, model);
                    put(copy, 9_002, others[8]);
                    requireSame(copy, model);
                }
            }
        }
        // Space, both images, directory, words, root.
        assertThat(deaths).isGreaterThan(10);
    }

    @Tag("stress")
    @Test
    void aWriterThatIsStoppedWhileItBuildsAPairAnewAndGoesOnHarmsNothing() throws Exception {
        for (int stop = 1; stop > 0; stop++) {
            fresh();
            try (MutableRemoteTable writer = open(stepped);
                    MutableRemoteTable next = open(plain)) {
                stepped.beforeEach(number -> {});
                put(writer, 9_000, others[5]);
                int pair = writer.partitionsOf(others[5], 1)[0];
                CountDownLatch stopped = new CountDownLatch(1);
                CountDownLatch release = new CountDownLatch(1);
                int at = stop;
                stepped.beforeEach(number -> {
                    if (number == at) {
                        stopped.countDown();
                        await(release);
                    }
                });
                CompletableFuture<Boolean> rebuilt =
                        CompletableFuture.supplyAsync(() -> writer.rebuild(pair), Thread::startVirtualThread);
                CompletableFuture.anyOf(
                                rebuilt, CompletableFuture.runAsync(() -> await(stopped), Thread::startVirtualThread))
                        .join();
                boolean ended = stopped.getCount() > 0;
                stopped.countDown();
                try {
                    if (ended) {
                        break;
                    }
                    // The very pair is changed and built anew, twice: its words are of the generation after the
                    // writer's.
                    put(next, 9_001, near(others[5], 1));
                    assertThat(next.rebuild(pair)).isTrue();
                    put(next, 9_002, near(others[5], 2));
                    assertThat(next.rebuild(pair)).isTrue();
                    put(next, 9_003, near(others[5], 3));
                } finally {
                    release.countDown();
                }
                try {
                    rebuilt.join();
                } catch (CompletionException refused) {
                    assertThat(refused).rootCause().isInstanceOf(RemoteMemoryException.class);
                }
                requireSame(next, model);
                put(next, 9_004, near(others[5], 4));
                assertThat(next.rebuild(pair)).isTrue();
                requireSame(next, model);
            }
        }
    }

    /** Holds a rebuild up where it reads its rows. */
    private CompletableFuture<Void> holdReads(CountDownLatch reading) {
        CompletableFuture<Void> release = new CompletableFuture<>();
        stepped.beforeEachRead(transfers -> {
            reading.countDown();
            return release;
        });
        return release;
    }

    @Test
    void aRebuildThatWasStartedIsAwaitedOrCancelledAndEndsWithItsTable() throws Exception {
        try (MutableRemoteTable table = open(stepped)) {
            stepped.beforeEach(number -> {});
            put(table, 9_000, others[5]);
            int partition = table.partitionsOf(others[5], 1)[0];
            TableBuild<MutableRemoteTable> rebuild = table.startRebuild(partition);
            assertThat(rebuild.join()).isSameAs(table);
            assertThat(rebuild.progress()).isEqualTo(1);
            assertThat(rebuild.cancel()).isFalse();
            requireSame(table, model);
            long epoch = table.remoteStats().epoch();

            CountDownLatch reading = new CountDownLatch(1);
            CompletableFuture<Void> release = holdReads(reading);
            TableBuild<MutableRemoteTable> cancelled = table.startRebuild(partition);
            await(reading);
            assertThat(cancelled.cancel()).isTrue();
            release.complete(null);
            assertThatThrownBy(cancelled::join).isInstanceOf(CancellationException.class);
            assertThat(table.remoteStats().epoch()).isEqualTo(epoch);
            requireSame(table, model);

            CountDownLatch readingAgain = new CountDownLatch(1);
            CompletableFuture<Void> goOnAgain = holdReads(readingAgain);
            TableBuild<MutableRemoteTable> ended = table.startRebuild(partition);
            await(readingAgain);
            Thread closing = Thread.ofVirtual().start(table::close);
            while (table.registration().isOpen()) {
                Thread.onSpinWait();
            }
            goOnAgain.complete(null);
            assertThatThrownBy(ended::join).isInstanceOf(TableClosedException.class);
            closing.join();
            assertThatThrownBy(() -> table.startRebuild(partition)).isInstanceOf(TableClosedException.class);
        } finally {
            stepped.beforeEachRead(transfers -> CompletableFuture.completedFuture(null));
        }
        try (MutableRemoteTable table = open(plain)) {
            requireSame(table, model);
        }
    }

    @Test
    void aRecordThatIsNotWholeIsNeverSearched() throws IOException {
        try (MutableRemoteTable table = open(plain)) {
            put(table, 9_000, others[0]);
            int partition = table.partitionsOf(others[0], 1)[0];
            try (RemoteMemory.Region region = plain.open(POOL);
                    Arena arena = Arena.ofConfined()) {
                OpenPool pool = OpenPool.open(plain.open(POOL), Duration.ofSeconds(5));
                Directory.Gap gap = pool.directory().gapOf(partition);
                int recordBytes = pool.head().recordBytes();
                long at = partition % 2 == 0 ? gap.at() : gap.end() - recordBytes;
                pool.close();
                for (long flipped : new long[] {0, 4, 16, 20, 24, 33, 41, 60}) {
                    MemorySegment one = arena.allocate(1);
                    RemoteMemory.Region.Transfer flip = new RemoteMemory.Region.Transfer(at + flipped, one);
                    region.get(List.of(flip)).join();
                    one.set(ValueLayout.JAVA_BYTE, 0, (byte) (one.get(ValueLayout.JAVA_BYTE, 0) ^ 16));
                    region.put(List.of(flip)).join();
                    try (MutableRemoteTable reader = open(plain)) {
                        assertThatThrownBy(() -> reader.search(others[0], K, 1).join())
                                .hasCauseInstanceOf(RemoteMemoryException.DamagedPartitionException.class)
                                .hasMessageContaining("slot 0 of its log holds no whole record");
                    }
                    one.set(ValueLayout.JAVA_BYTE, 0, (byte) (one.get(ValueLayout.JAVA_BYTE, 0) ^ 16));
                    region.put(List.of(flip)).join();
                }
            }
            requireSame(table, model);
        }
    }

    @Test
    void aRegionThatMayOnlyBeReadIsNotChanged() throws IOException {
        Path file = folder.resolve("read-only.pool");
        Files.copy(folder.resolve("first.pool"), file, StandardCopyOption.REPLACE_EXISTING);
        RemoteMemory readOnly = new ReadOnlyMemory(plain);
        assertThatThrownBy(() -> RemoteTable.builder().open(orchestrator, "read-only", readOnly, "read-only.pool"))
                .isInstanceOf(RemoteMemoryException.class)
                .hasMessageContaining("cannot be written by this process");
        try (RemoteTable table =
                RemoteTable.builder().openReadOnly(orchestrator, "read-only", readOnly, "read-only.pool")) {
            assertThat(table).isNotInstanceOf(MutableVectorTable.class);
            assertThat(table.search(rows[0], 1, 1).join().ids()).containsExactly(0);
        }
    }
}
