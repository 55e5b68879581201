package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches that come from any thread, and from inside each other. */
class ScratchTest {
    private static final int ROWS = 3_000;
    private static final SearchContext OUTSIDE = SearchContext.outside((nodes, bytes) -> {});

    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();
    private static final float[][] VECTORS = gaussian(ROWS, 12, new Random(51));
    private static HnswTable table;
    private static LiveTable live;

    @BeforeAll
    static void build() {
        table = HnswTable.builder().build(ORCHESTRATOR, VECTORS);
        live = LiveTable.builder().build(ORCHESTRATOR, 12);
        for (int id = 0; id < 100; id++) {
            live.put(id, VECTORS[id]);
        }
    }

    @AfterAll
    static void close() {
        table.close();
        live.close();
        ORCHESTRATOR.close();
    }

    /** Pieces of off-heap memory that the JVM knows of. By reflection: the module does not read java.management. */
    private static long pieces() throws ReflectiveOperationException {
        Object server = Class.forName("java.lang.management.ManagementFactory")
                .getMethod("getPlatformMBeanServer")
                .invoke(null);
        Class<?> names = Class.forName("javax.management.ObjectName");
        Object direct = names.getConstructor(String.class).newInstance("java.nio:type=BufferPool,name=direct");
        return (long) Class.forName("javax.management.MBeanServer")
                .getMethod("getAttribute", names, String.class)
                .invoke(server, direct, "Count");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aThreadAndAFilterPerSearchTakeNoMemoryOffHeap(boolean filtered) throws Exception {
        int searches = 2_000;
        AtomicInteger expected = new AtomicInteger();
        List<Future<SearchResult>> answers = new ArrayList<>();
        long before = pieces();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < searches; i++) {
                float[] query = VECTORS[i % 100];
                IdFilter filter = filtered ? IdFilter.of(id -> id % 2 == 0).cached() : IdFilter.all();
                answers.add(threads.submit(
                        () -> table.searchFunction(10, 20, filter).search(query, OUTSIDE)));
                answers.add(
                        threads.submit(() -> live.searchFunction(10, 20, filter).search(query, OUTSIDE)));
            }
        }
        for (Future<SearchResult> answer : answers) {
            expected.addAndGet(answer.get().size());
        }
        assertThat(expected).hasValue(2 * searches * 10);
        // A few pieces for each of the scratches that were in use at once.
        assertThat(pieces() - before).isLessThan(200);
    }

    @Test
    void aFilterThatIsKeptFindsTheSameFromItsFirstSearchToItsLast() {
        IdFilter filter = IdFilter.of(id -> id % 3 == 0).cached();
        for (int search = 0; search < 30; search++) {
            float[] query = VECTORS[search % 2];
            assertThat(table.search(SearchRequest.of(query, 10).effort(100).filter(filter))
                            .join())
                    .isEqualTo(table.search(SearchRequest.of(query, 10)
                                    .effort(100)
                                    .filter(IdFilter.of(id -> id % 3 == 0).cached()))
                            .join());
        }
    }

    @Test
    void aSearchInsideASearchHasAScratchOfItsOwn() throws Exception {
        SearchResult expected = table.search(VECTORS[1], 10, 100).join();
        SearchContext searching = SearchContext.outside((nodes, bytes) -> {
            // What the outer search has found is still in its scratch.
            try {
                assertThat(table.searchFunction(3, 30)
                                .search(VECTORS[2], OUTSIDE)
                                .ids()[0])
                        .isEqualTo(2);
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        assertThat(table.searchFunction(10, 100).search(VECTORS[1], searching)).isEqualTo(expected);
    }

    /** However many asks a search has left, the rows that were asked about are not asked about again. */
    @Test
    void aFilterGoesOnAskingWhereASearchThatWasNoLongerWantedLeftIt() throws Exception {
        AtomicInteger requested = new AtomicInteger();
        IdFilter filter = IdFilter.of(id -> requested.incrementAndGet() > 0 && id % 2 == 0)
                .cached();
        int ended = 0;
        while (requested.get() < ROWS) {
            assertThatThrownBy(
                            () -> table.searchFunction(10, 100, filter).search(VECTORS[0], new Fixtures.EndsAfter(4)))
                    .isInstanceOf(DeadlineExceededException.class);
            ended++;
            assertThat(requested).hasValueLessThanOrEqualTo(ROWS);
            if (requested.get() > ROWS - 5 * Long.SIZE) {
                break;
            }
        }
        assertThat(ended).isGreaterThan(5);
        SearchResult found = table.searchFunction(10, 100, filter).search(VECTORS[0], OUTSIDE);
        assertThat(requested).hasValue(ROWS);
        assertThat(found)
                .isEqualTo(table.search(SearchRequest.of(VECTORS[0], 10)
                                .effort(100)
                                .filter(IdFilter.of(id -> id % 2 == 0).cached()))
                        .join());
    }
}
