package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.distance;
import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.TableClosedException;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.VectorSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LiveTableTest {
    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    private static LiveTable.Builder small() {
        return LiveTable.builder().m(8).efConstruction(40).mergeAfter(64);
    }

    /** Searches so wide that every part is looked at whole: what is found is exact whatever was merged when. */
    @ParameterizedTest
    @EnumSource(Metric.class)
    void everySearchSeesExactlyTheChangesBeforeIt(Metric metric) throws Exception {
        Random random = new Random(61);
        Map<Long, float[]> model = new TreeMap<>();
        try (LiveTable table = small().metric(metric).build(ORCHESTRATOR, 5)) {
            for (int change = 0; change < 3_000; change++) {
                long id = random.nextInt(400) - 100L;
                if (random.nextInt(4) == 0) {
                    assertThat(table.remove(id)).isEqualTo(model.remove(id) != null);
                } else {
                    float[] vector = random.nextInt(10) == 0 && !model.isEmpty()
                            ? model.values().iterator().next()
                            : gaussian(1, 5, random)[0];
                    assertThat(table.put(id, vector)).isEqualTo(model.put(id, vector) == null);
                }
                assertThat(table.size()).isEqualTo(model.size());
                if (change % 7 == 0) {
                    float[] query = gaussian(1, 5, random)[0];
                    assertSame(table.search(query, 10, 1_000).join(), model, query, metric);
                }
                // Merging goes on all the time; here some is known to be done, however busy the cores are.
                if (change % 1_000 == 500) {
                    table.merge();
                    assertThat(table.graphParts()).isPositive();
                }
            }
        }
    }

    private static void assertSame(SearchResult found, Map<Long, float[]> model, float[] query, Metric metric) {
        float[] expected = new float[Math.min(10, model.size())];
        List<Float> all = model.values().stream()
                .map(vector -> distance(vector, query, metric))
                .sorted()
                .toList();
        for (int i = 0; i < expected.length; i++) {
            expected[i] = all.get(i);
        }
        assertThat(found.distances()).containsExactly(expected, within(1e-4f));
        for (int i = 0; i < found.size(); i++) {
            float[] vector = Objects.requireNonNull(model.get(found.ids()[i]), "a row that was removed");
            assertThat(distance(vector, query, metric)).isCloseTo(found.distances()[i], within(1e-4f));
        }
        assertThat(Arrays.stream(found.ids()).distinct().count()).isEqualTo(found.size());
    }

    @Test
    void aMergePutsAllRowsIntoGraphs() throws Exception {
        float[][] rows = gaussian(1_000, 8, new Random(62));
        try (LiveTable table = small().build(ORCHESTRATOR, 8)) {
            for (int row = 0; row < rows.length; row++) {
                table.put(row, rows[row]);
            }
            table.merge();
            assertThat(table.graphParts()).isBetween(1, 6);
            assertThat(table.size()).isEqualTo(1_000);
            for (int row = 0; row < 1_000; row += 2) {
                table.remove(row);
            }
            table.merge();
            SearchResult found = table.search(rows[0], 1_000, 1_000).join();
            assertThat(found.size()).isEqualTo(500);
            assertThat(Arrays.stream(found.ids())).allMatch(id -> id % 2 == 1);
            for (int row = 1; row < 1_000; row += 2) {
                table.remove(row);
            }
            table.merge();
            assertThat(table.graphParts()).isZero();
            assertThat(table.search(rows[0], 10, 10).join().size()).isZero();
        }
    }

    /** Its graph takes minutes: nothing here waits for it. */
    private static LiveTable slowToMerge(Orchestrator orchestrator) {
        LiveTable table = LiveTable.builder()
                .name("slow")
                .efConstruction(10_000)
                .mergeAfter(1_000_000)
                .build(orchestrator, 16);
        float[][] rows = gaussian(20_000, 16, new Random(63));
        for (int row = 0; row < rows.length; row++) {
            table.put(row, rows[row]);
        }
        return table;
    }

    private static void awaitGraph(TableBuild<LiveTable> merge) {
        // By then the rows are read: it is the graph that is being built.
        while (merge.progress() < .05) {
            Thread.onSpinWait();
        }
    }

    private static void awaitNoBuild(Orchestrator orchestrator) {
        while (orchestrator.stats().tables().stream()
                .anyMatch(table -> table.name().equals("slow (build)"))) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Timeout(300)
    void aMergeThatIsCancelledEndsAndTheRowsAreSearchedAsBefore() {
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(Fixtures.twoDomains()).build();
                LiveTable table = slowToMerge(orchestrator)) {
            TableBuild<LiveTable> merge = table.startMerge();
            awaitGraph(merge);
            assertThat(merge.cancel()).isTrue();
            assertThatThrownBy(merge::join).isInstanceOf(CancellationException.class);
            awaitNoBuild(orchestrator);
            assertThat(merge.progress()).isLessThan(.9);
            assertThat(table.graphParts()).isZero();
            assertThat(table.search(Objects.requireNonNull(table.vector(777)), 1)
                            .join()
                            .ids())
                    .containsExactly(777);
        }
    }

    @Test
    @Timeout(300)
    void closingATableEndsTheMergeUnderWay() {
        try (Orchestrator orchestrator =
                Orchestrator.builder().topology(Fixtures.twoDomains()).build()) {
            LiveTable table = slowToMerge(orchestrator);
            TableBuild<LiveTable> merge = table.startMerge();
            awaitGraph(merge);
            table.close();
            assertThatThrownBy(merge::join).isInstanceOf(TableClosedException.class);
            awaitNoBuild(orchestrator);
            assertThat(merge.progress()).isLessThan(.9);
            assertThatThrownBy(table::startMerge).isInstanceOf(TableClosedException.class);
        }
    }

    @Test
    void largeRowsAddedAfterASmallOneAreToldApartFromFarAway() {
        float[][] rows = {{.5f, .5f}, {500_000, 0}, {0, 500_000}};
        try (LiveTable table = small().build(ORCHESTRATOR, 2)) {
            for (int row = 0; row < rows.length; row++) {
                table.put(row, rows[row]);
            }
            for (float far : new float[] {1e7f, 1e9f, 1e11f}) {
                float[] query = {far, far / 25};
                SearchResult found = table.search(query, 3, 10).join();
                SearchResult expected = exact(rows, query, 3, Metric.SQUARED_L2, id -> true);
                assertThat(found.ids()).containsExactly(expected.ids());
                for (int i = 0; i < rows.length; i++) {
                    assertThat(found.distances()[i]).isCloseTo(expected.distances()[i], withinPercentage(1e-4));
                }
            }
        }
    }

    /** One of two equal rows is alive, the other allowed: together they are none that may be found. */
    @ParameterizedTest
    @ValueSource(ints = {10, 200})
    void equalRowsOfWhichNoneMayBeFoundHideNoOthers(int near) {
        int far = near / 10 + 5;
        long[] ids = LongStream.range(0, 2L * near + far).toArray();
        float[][] rows = new float[ids.length][];
        Arrays.setAll(rows, row -> new float[] {Math.min(row / 2, near) + Math.max(0, row - 2 * near), 1});
        try (LiveTable table = small().build(ORCHESTRATOR, ids, rows)) {
            for (long id = 0; id < 2L * near; id += 2) {
                table.remove(id);
            }
            IdFilter filter = IdFilter.of(id -> id % 2 == 0 || id >= 2L * near);
            assertThat(table.search(SearchRequest.of(new float[2], 5).effort(5).filter(filter))
                            .join()
                            .ids())
                    .containsExactly(LongStream.range(2L * near, 2L * near + 5).toArray());
        }
    }

    @Test
    void rowsOfVeryDifferentUnitsAreToldApart() {
        try (LiveTable table = small().build(ORCHESTRATOR, 2)) {
            float[] units = {0, 1e-20f, 1e-10f, 1, 1e12f};
            for (int i = 0; i < units.length; i++) {
                table.put(i, new float[] {units[i], -units[i]});
            }
            for (int i = 0; i < units.length; i++) {
                SearchResult found =
                        table.search(new float[] {units[i], -units[i]}, 1, 10).join();
                assertThat(found).isEqualTo(new SearchResult(new long[] {i}, new float[1]));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Metric.class,
            names = {"SQUARED_L2", "INNER_PRODUCT"})
    void rowsOfZeroesAmongOthersBeginNoParts(Metric metric) {
        try (LiveTable table = small().metric(metric).build(ORCHESTRATOR, 2)) {
            for (int id = 0; id < 20; id++) {
                table.put(id, new float[] {id % 2 * id, 0});
            }
            assertThat(table.snapshot().parts()).hasSize(1);
            assertThat(table.search(new float[] {19, 0}, 1, 20).join().ids()).containsExactly(19);
            assertThat(table.search(new float[] {-1, 0}, 20, 20).join().ids()).startsWith(0, 2, 4);
        }
    }

    /** Adds parts while a search looks at others, each as full as it may be. */
    private record AddsParts(LiveTable table, AtomicInteger added, int max, boolean expired) implements SearchContext {
        void add() {
            int first = 64 * added.getAndIncrement();
            for (int id = first; id < first + 64; id++) {
                table.put(id, new float[] {id});
            }
        }

        @Override
        public void touched(long nodes, long bytes) {
            if (added.get() < max) {
                add();
            }
        }

        @Override
        public int worker() {
            return -1;
        }

        @Override
        public int domain() {
            return -1;
        }

        @Override
        public long epoch() {
            return 0;
        }
    }

    @Test
    void partsThatAreAddedDuringASearchAreSearchedWithoutTheOthersAgain() throws Exception {
        CountDownLatch mergesMayGoOn = new CountDownLatch(1);
        try (Orchestrator busy = Fixtures.roundRobin();
                LiveTable table = small().build(busy, 1)) {
            Fixtures.keepWorkers(busy, table.mappingId(), mergesMayGoOn);
            AtomicInteger touches = new AtomicInteger();
            AddsParts adding = new AddsParts(table, new AtomicInteger(), 30, false);
            adding.add();
            SearchResult found = table.searchFunction(30 * 64, 30 * 64)
                    .search(new float[1], SearchContext.outside((nodes, bytes) -> {
                        touches.incrementAndGet();
                        adding.touched(nodes, bytes);
                    }));
            mergesMayGoOn.countDown();
            assertThat(found.size()).isEqualTo(30 * 64);
            assertThat(touches).hasValue(30);
        }
    }

    @Test
    void aSearchThatIsNoLongerWantedIsNotDoneAgain() throws Exception {
        try (LiveTable table = small().build(ORCHESTRATOR, 1)) {
            AddsParts adding = new AddsParts(table, new AtomicInteger(), 2, true);
            adding.add();
            assertThatThrownBy(() -> table.searchFunction(10, 10).search(new float[1], adding))
                    .isInstanceOf(DeadlineExceededException.class);
            table.merge();
            assertThat(table.searchFunction(200, 200)
                            .search(new float[1], adding)
                            .size())
                    .isEqualTo(2 * 64);
        }
    }

    /** Floats from the smallest to the largest, neighbors as far from each other as they can be. */
    @ParameterizedTest
    @CsvSource({"2, 2", "3, 3", "280, 15"})
    void rowsOfAnyMagnitudeTakeFewParts(int magnitudes, int maxParts) throws Exception {
        CountDownLatch mergesMayGoOn = new CountDownLatch(1);
        try (Orchestrator busy = Fixtures.roundRobin();
                LiveTable table = LiveTable.builder().mergeAfter(1_000).build(busy, 1)) {
            Fixtures.keepWorkers(busy, table.mappingId(), mergesMayGoOn);
            for (int id = 0; id < 3_000; id++) {
                int exponent = -149 + 276 * (id % magnitudes * 97 % magnitudes) / (magnitudes - 1);
                table.put(id, new float[] {Math.scalb(1f, exponent)});
            }
            // Three times as many rows as are merged together.
            assertThat(table.scannedParts()).isLessThanOrEqualTo(3 * maxParts);
            SearchResult found = table.searchFunction(3_000, 3_000)
                    .search(new float[1], SearchContext.outside((nodes, bytes) -> {}));
            mergesMayGoOn.countDown();
            assertThat(found.size()).isEqualTo(3_000);
        }
    }

    /** The successor of a row goes to the end of a part that the search has been through. */
    @Test
    void aRowThatMovesToAPartBeforeItsOwnIsFoundThere() throws Exception {
        try (LiveTable table = small().build(ORCHESTRATOR, 1)) {
            table.put(1, new float[] {1e-20f});
            table.put(2, new float[] {1e20f});
            assertThat(table.scannedParts()).isEqualTo(2);
            AtomicInteger parts = new AtomicInteger();
            SearchContext moving = SearchContext.outside((nodes, bytes) -> {
                if (parts.incrementAndGet() == 1) {
                    table.put(2, new float[] {2e-20f});
                }
            });
            assertThat(table.searchFunction(5, 5).search(new float[1], moving).ids())
                    .containsExactly(1, 2);
        }
    }

    /** Rows die between the moment a part's nearest are found and that at which their ids are read. */
    @ParameterizedTest
    @CsvSource({"true, FLOAT32", "true, INT8", "false, FLOAT32"})
    void rowsThatDieWhileTheyAreSearchedTakeNoPlaces(boolean merged, ElementType elementType) throws Exception {
        try (LiveTable table = small().elementType(elementType).build(ORCHESTRATOR, 2)) {
            for (int id = 0; id < 60; id++) {
                table.put(id, new float[] {id, 1});
            }
            if (merged) {
                table.merge();
            }
            AtomicInteger deleted = new AtomicInteger();
            SearchContext deleting = SearchContext.outside((nodes, bytes) -> {
                while (deleted.get() < 8) {
                    assertThat(table.remove(deleted.getAndIncrement())).isTrue();
                }
            });
            assertThat(table.searchFunction(3, 3).search(new float[2], deleting).ids())
                    .containsExactly(8, 9, 10);
        }
    }

    /** The row that is replaced has been found by its old vector, and is found by its new one, which is far away. */
    @Test
    void aRowThatMovesAwayWhileItIsSearchedHidesNoNearerOne() throws Exception {
        try (LiveTable table = small().build(ORCHESTRATOR, 1)) {
            for (int id = 0; id < 60; id++) {
                table.put(id, new float[] {id});
            }
            table.merge();
            table.put(100, new float[] {100});
            table.put(110, new float[] {110});
            AtomicInteger parts = new AtomicInteger();
            SearchContext moving = SearchContext.outside((nodes, bytes) -> {
                if (parts.incrementAndGet() == 2) {
                    table.put(0, new float[] {500});
                }
            });
            assertThat(table.searchFunction(3, 60).search(new float[1], moving).ids())
                    .containsExactly(1, 2, 3);
        }
    }

    @Test
    void aFilterGoesOverAllParts() throws Exception {
        Random random = new Random(63);
        float[][] rows = gaussian(600, 6, random);
        try (LiveTable table =
                small().build(ORCHESTRATOR, LongStream.range(0, 300).toArray(), Arrays.copyOf(rows, 300))) {
            for (int row = 300; row < rows.length; row++) {
                table.put(row, rows[row]);
            }
            table.remove(30);
            IdFilter filter = IdFilter.of(id -> id % 3 == 0);
            float[] query = gaussian(1, 6, random)[0];
            SearchResult truth = exact(rows, query, 20, Metric.SQUARED_L2, id -> id % 3 == 0 && id != 30);
            assertThat(table.search(SearchRequest.of(query, 20).effort(300).filter(filter))
                            .join()
                            .ids())
                    .isEqualTo(truth.ids());
        }
    }

    @Test
    void badInputChangesNothing() {
        try (LiveTable table = small().build(ORCHESTRATOR, 3)) {
            assertThatThrownBy(() -> table.put(1, new float[2])).hasMessageContaining("3 dimensions, got 2");
            assertThatThrownBy(() -> table.put(1, new float[] {1, Float.NaN, 1}))
                    .hasMessageContaining("got NaN");
            assertThat(table.size()).isZero();
            assertThatThrownBy(() -> table.search(new float[3], 2, 1)).hasMessageContaining("ef must be between 2");
        }
        LiveTable closed = small().build(ORCHESTRATOR, 3);
        closed.close();
        assertThatThrownBy(() -> closed.put(1, new float[3])).hasMessageContaining("is closed");
        assertThatThrownBy(() -> LiveTable.builder().mergeAfter(10)).hasMessageContaining("mergeAfter");
        assertThatThrownBy(() -> small().build(ORCHESTRATOR, 0)).hasMessageContaining("dimension must be between 1");
    }

    /** As where there is no memory to remember where a row is: nobody could remove it any more. */
    @Test
    void aRowWhosePlaceCannotBeRememberedIsNotFound() {
        try (LiveTable table = small().build(ORCHESTRATOR, 3)) {
            table.put(1, new float[] {1, 0, 0});
            table.places().close();

            assertThatThrownBy(() -> table.put(2, new float[] {0, 1, 0})).isInstanceOf(IllegalStateException.class);

            assertThat(everyId(table)).containsExactly(1L);
        }
    }

    /**
     * Rows lie far apart, and are replaced again and again by others next to them, while searches ask for each place: a
     * search that once finds another row has missed both the old and the new one. Fails if rows are removed before their
     * successors are added, if parts are searched from the newest, or if a search does not look for rows added behind it.
     */
    @Tag("stress")
    @ParameterizedTest
    @CsvSource({"300, 64", "20, 20000"})
    void noSearchEverMissesARowThatIsBeingReplaced(int ids, int mergeAfter) throws Exception {
        int changes = 60_000;
        float[][] places = gaussian(ids, 6, new Random(64));
        for (float[] place : places) {
            for (int i = 0; i < place.length; i++) {
                place[i] *= 100;
            }
        }
        AtomicBoolean done = new AtomicBoolean();
        try (LiveTable table = small().mergeAfter(mergeAfter).efConstruction(20).build(ORCHESTRATOR, 6);
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int id = 0; id < ids; id++) {
                table.put(id, places[id]);
            }
            Future<?> writer = threads.submit(() -> {
                Random random = new Random(65);
                try {
                    for (int change = 0; change < changes; change++) {
                        int id = random.nextInt(ids);
                        float[] next = places[id].clone();
                        next[change % 6] += random.nextFloat();
                        table.put(id, next);
                    }
                } finally {
                    done.set(true);
                }
            });
            Future<Long> searcher = threads.submit(() -> {
                Random random = new Random(66);
                long searches = 0;
                while (!done.get() || searches < 100) {
                    int id = random.nextInt(ids);
                    SearchResult found = table.search(places[id], 2, 200).join();
                    assertThat(found.ids()[0]).isEqualTo(id);
                    assertThat(found.ids()[1]).isNotEqualTo(id);
                    searches++;
                }
                return searches;
            });
            writer.get();
            assertThat(searcher.get()).isPositive();
            assertThat(table.size()).isEqualTo(ids);
        }
    }

    /**
     * Two threads write, each its own ids, and two search: an id that nobody changed from before a search to after it is in the
     * answer with its distance, or absent, or farther than the last. Few ids and places, so that searches and changes meet,
     * rows lie at one place, and there are always rows that come next.
     */
    @Tag("stress")
    @ParameterizedTest
    @ValueSource(ints = {64, 20_000})
    void everyAnswerIsRightForAllThatNobodyChangesMeanwhile(int mergeAfter) throws Exception {
        int ids = 40;
        AtomicLongArray changes = new AtomicLongArray(ids);
        AtomicReferenceArray<float[]> rows = new AtomicReferenceArray<>(ids);
        for (int id = 0; id < ids; id++) {
            rows.set(id, new float[0]);
        }
        AtomicInteger writing = new AtomicInteger(2);
        try (LiveTable table = small().mergeAfter(mergeAfter).build(ORCHESTRATOR, 2);
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                Random own = new Random(72 + thread);
                int first = thread;
                running.add(threads.submit(() -> {
                    try {
                        for (int change = 0; change < Effort.times(50_000); change++) {
                            int id = 2 * own.nextInt(ids / 2) + first;
                            float[] row = own.nextInt(3) == 0 ? new float[0] : place(own);
                            changes.incrementAndGet(id);
                            if (row.length == 0) {
                                table.remove(id);
                            } else {
                                table.put(id, row);
                            }
                            rows.set(id, row);
                            changes.incrementAndGet(id);
                        }
                    } finally {
                        writing.decrementAndGet();
                    }
                }));
                running.add(threads.submit(() -> {
                    Random chance = new Random(74 + first);
                    while (writing.get() > 0) {
                        float[] query = place(chance);
                        int k = 1 + chance.nextInt(10);
                        long[] before = new long[ids];
                        float[][] then = new float[ids][];
                        for (int id = 0; id < ids; id++) {
                            before[id] = changes.get(id);
                            then[id] = rows.get(id);
                        }
                        SearchResult found = table.search(query, k, ids).join();
                        Map<Long, Float> distances = new TreeMap<>();
                        for (int i = 0; i < found.size(); i++) {
                            assertThat(distances.put(found.ids()[i], found.distances()[i]))
                                    .isNull();
                        }
                        for (int id = 0; id < ids; id++) {
                            if (before[id] % 2 == 0 && changes.get(id) == before[id]) {
                                assertRight(found, distances.get((long) id), k, query, then[id]);
                            }
                        }
                    }
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    private static float[] place(Random random) {
        return new float[] {random.nextInt(12), random.nextInt(12)};
    }

    /** @param row of no components where there is none */
    private static void assertRight(SearchResult found, @Nullable Float distance, int k, float[] query, float[] row) {
        if (row.length == 0) {
            assertThat(distance).isNull();
        } else if (distance != null) {
            assertThat(distance).isCloseTo(distance(row, query, Metric.SQUARED_L2), within(1e-4f));
        } else {
            assertThat(found.size()).isEqualTo(k);
            assertThat(distance(row, query, Metric.SQUARED_L2)).isGreaterThan(found.distances()[k - 1] - 1e-4f);
        }
    }

    /** The mixed load of 90 % searches and 10 % changes, scaled down. */
    @Tag("stress")
    @Test
    void aMixedLoadLosesNothingAndFindsAsMuchAsAFreshTable() throws Exception {
        Random random = new Random(67);
        int dimension = 16;
        Map<Long, float[]> model = new TreeMap<>();
        float[][] first = gaussian(4_000, dimension, random);
        for (int row = 0; row < first.length; row++) {
            model.put((long) row, first[row]);
        }
        try (LiveTable table = LiveTable.builder()
                .m(12)
                .efConstruction(60)
                .mergeAfter(256)
                .build(ORCHESTRATOR, LongStream.range(0, 4_000).toArray(), first)) {
            List<CompletableFuture<SearchResult>> searches = new ArrayList<>();
            for (int operation = 0; operation < Effort.times(15_000); operation++) {
                if (operation % 10 == 0) {
                    long id = random.nextInt(6_000);
                    if (random.nextInt(4) == 0) {
                        assertThat(table.remove(id)).isEqualTo(model.remove(id) != null);
                    } else {
                        float[] vector = gaussian(1, dimension, random)[0];
                        table.put(id, vector);
                        model.put(id, vector);
                    }
                } else {
                    searches.add(table.search(gaussian(1, dimension, random)[0], 10, 50));
                    if (searches.size() == 16) {
                        searches.forEach(
                                search -> assertThat(search.join().size()).isEqualTo(10));
                        searches.clear();
                    }
                }
            }
            Long[] ids = model.keySet().toArray(Long[]::new);
            float[][] rows = model.values().toArray(float[][]::new);
            assertThat(table.size()).isEqualTo(ids.length);
            table.merge();
            assertThat(everyId(table)).isEqualTo(List.of(ids));
            try (HnswTable fresh = HnswTable.builder().m(12).efConstruction(60).build(ORCHESTRATOR, rows)) {
                int liveHits = 0;
                int freshHits = 0;
                float[][] queries = gaussian(200, dimension, random);
                for (float[] query : queries) {
                    SearchResult truth = exact(rows, query, 10, Metric.SQUARED_L2, row -> true);
                    freshHits += hits(truth, fresh.search(query, 10, 50).join());
                    SearchResult trueIds = new SearchResult(
                            Arrays.stream(truth.ids())
                                    .map(row -> ids[(int) row])
                                    .toArray(),
                            truth.distances());
                    liveHits += hits(trueIds, table.search(query, 10, 50).join());
                }
                assertThat(liveHits / 2_000.0).isGreaterThan(freshHits / 2_000.0 - .01);
            }
        }
    }

    private static List<Long> everyId(LiveTable table) {
        SearchResult all =
                table.search(new float[table.dimension()], 10_000, 100_000).join();
        return Arrays.stream(all.ids())
                .boxed()
                .sorted(Comparator.naturalOrder())
                .toList();
    }

    /** The map from ids to rows counts too, though a graph alone is within the limit. */
    @Test
    void aTableBuiltWithRowsIsRefusedBeyondItsLimit() {
        float[][] rows = gaussian(1_000, 8, new Random(72));
        long[] ids = LongStream.range(0, rows.length).toArray();
        long bytes;
        try (LiveTable table = LiveTable.builder().build(ORCHESTRATOR, ids, rows)) {
            bytes = table.bytes();
        }
        LiveTable.Builder limited = LiveTable.builder().memoryLimit(bytes - 1);
        assertThatThrownBy(() -> limited.build(ORCHESTRATOR, ids, rows)).isInstanceOf(TableFullException.class);
        assertThatThrownBy(() ->
                        limited.start(ORCHESTRATOR, ids, VectorSource.of(rows)).join())
                .isInstanceOf(TableFullException.class);
        try (LiveTable table = LiveTable.builder().memoryLimit(bytes).build(ORCHESTRATOR, ids, rows)) {
            assertThat(table.size()).isEqualTo(rows.length);
        }
    }

    /** The rows that were replaced and removed still have their places, until a merge that is begun by itself. */
    @Test
    void aTableAtItsLimitTakesRowsAgainWhenOthersAreGone() throws Exception {
        float[][] rows = gaussian(10, 32, new Random(73));
        long bytes;
        try (LiveTable table = LiveTable.builder().mergeAfter(1_000).build(ORCHESTRATOR, 32)) {
            table.put(0, rows[0]);
            bytes = table.bytes();
        }
        try (LiveTable table =
                LiveTable.builder().mergeAfter(1_000).memoryLimit(3 * bytes).build(ORCHESTRATOR, 32)) {
            assertThatThrownBy(() -> {
                        for (int row = 0; row < 100_000; row++) {
                            table.put(row % rows.length, rows[row % rows.length]);
                        }
                    })
                    .isInstanceOf(TableFullException.class);
            for (int row = 0; row < rows.length; row++) {
                table.remove(row);
            }
            for (boolean isPut = false; !isPut; ) {
                try {
                    isPut = table.put(5, rows[5]);
                } catch (TableFullException full) {
                    TimeUnit.MILLISECONDS.sleep(1);
                }
            }
            assertThat(table.search(rows[5], 1).join().ids()).containsExactly(5);
        }
    }

    @Test
    void aTableIsNotSwappedForItself() {
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, gaussian(5, 3, new Random(71)))) {
            assertThatThrownBy(() -> table.swap(table))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another table");
            assertThat(table.search(new float[3], 5, 5).join().size()).isEqualTo(5);
        }
    }

    @Test
    void tablesOpenSwapAndCloseWhileTheyAreSearched() throws Exception {
        float[][] old = gaussian(500, 4, new Random(68));
        float[][] replacement = gaussian(700, 4, new Random(69));
        AtomicBoolean done = new AtomicBoolean();
        try (HnswTable table = HnswTable.builder().m(4).efConstruction(20).build(ORCHESTRATOR, old);
                ExecutorService threads = Executors.newFixedThreadPool(1)) {
            Future<Integer> searcher = threads.submit(() -> {
                int searches = 0;
                while (!done.get() || searches < 100) {
                    int found = table.search(old[searches % 500], 1_000, 1_000)
                            .join()
                            .size();
                    assertThat(found).isIn(500, 700);
                    searches++;
                }
                return searches;
            });
            try {
                for (int round = 0; round < 20; round++) {
                    table.swap(HnswTable.builder()
                            .name("next")
                            .m(4)
                            .efConstruction(20)
                            .build(ORCHESTRATOR, round % 2 == 0 ? replacement : old));
                    assertThat(table.size()).isEqualTo(round % 2 == 0 ? 700 : 500);
                }
            } finally {
                done.set(true);
            }
            assertThat(searcher.get()).isPositive();
            assertThatThrownBy(() ->
                            table.swap(HnswTable.builder().build(ORCHESTRATOR, gaussian(5, 3, new Random(70)))))
                    .hasMessageContaining("4 dimensions");
        }
    }
}
