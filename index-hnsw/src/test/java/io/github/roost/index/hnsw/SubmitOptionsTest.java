package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Deadlines and priorities of the searches that tables submit themselves, behind a worker that is kept. */
@Timeout(60)
class SubmitOptionsTest {
    private static final SubmitOptions AT_ONCE = SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(1));
    private static final IdFilter EVEN = IdFilter.of(id -> id % 2 == 0);

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .scheduling(SchedulingPolicy.ROUND_ROBIN)
            .build();
    private final float[][] rows = gaussian(200, 4, new Random(71));
    private HnswTable table;
    private LiveTable live;

    @BeforeEach
    void build() {
        table = HnswTable.builder().build(orchestrator, rows);
        live = LiveTable.builder().build(orchestrator, 4);
        for (int id = 0; id < 100; id++) {
            live.put(id, rows[id]);
        }
    }

    @AfterEach
    void close() {
        table.close();
        live.close();
        orchestrator.close();
    }

    private List<CompletableFuture<?>> everySearch(SubmitOptions options) {
        float[] query = rows[10];
        return List.of(
                table.search(SearchRequest.of(query, 3).effort(20).options(options)),
                table.search(SearchRequest.of(query, 3).effort(20).filter(EVEN).options(options)),
                live.search(SearchRequest.of(query, 3).effort(20).options(options)),
                live.search(SearchRequest.of(query, 3).effort(20).filter(EVEN).options(options)),
                twice(options));
    }

    private CompletableFuture<SearchResult> twice(SubmitOptions options) {
        Part<SearchRequest, SearchResult> part =
                table.part(SearchRequest.of(rows[10], 3).effort(20));
        return orchestrator.fanOut(List.of(part, part), results -> SearchResult.merge(results, 3), options);
    }

    private <T> T behindAKeptWorker(Function<MappingId, T> submissions) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch until = new CountDownLatch(1);
        SearchFunction<CountDownLatch, Boolean> keeping = (wait, context) -> {
            running.countDown();
            wait.await();
            return true;
        };
        var _ = orchestrator.submit(keeping, until, table.mappingId());
        running.await();
        T submitted = submissions.apply(table.mappingId());
        until.countDown();
        return submitted;
    }

    @Test
    void aSearchWhoseDeadlineHasPassedFailsAndNoOther() throws Exception {
        List<CompletableFuture<?>> late = new ArrayList<>();
        List<CompletableFuture<?>> inTime = new ArrayList<>();
        behindAKeptWorker(id -> {
            inTime.addAll(everySearch(SubmitOptions.DEFAULT));
            late.addAll(everySearch(AT_ONCE));
            inTime.addAll(everySearch(SubmitOptions.DEFAULT.withTimeout(Duration.ofDays(1))));
            return id;
        });
        for (CompletableFuture<?> each : late) {
            assertThatThrownBy(each::join).hasCauseInstanceOf(DeadlineExceededException.class);
        }
        for (CompletableFuture<?> each : inTime) {
            assertThat(each.join()).isNotNull();
        }
        assertThat(table.search(SearchRequest.of(rows[10], 3)
                                .effort(20)
                                .filter(EVEN)
                                .options(SubmitOptions.BATCH))
                        .join())
                .isEqualTo(table.search(SearchRequest.of(rows[10], 3).effort(20).filter(EVEN))
                        .join());
        assertThat(twice(SubmitOptions.BATCH).join())
                .isEqualTo(twice(SubmitOptions.DEFAULT).join());
    }

    @Test
    void batchSearchesGoBehindInteractiveOnes() throws Exception {
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<?>> done = new ArrayList<>();
        behindAKeptWorker(id -> {
            for (CompletableFuture<?> each : everySearch(SubmitOptions.BATCH)) {
                done.add(each.thenRun(() -> order.add("batch")));
            }
            for (CompletableFuture<?> each : everySearch(SubmitOptions.DEFAULT)) {
                done.add(each.thenRun(() -> order.add("interactive")));
            }
            return id;
        });
        done.forEach(CompletableFuture::join);
        assertThat(order.subList(0, 5)).containsOnly("interactive");
        assertThat(order.subList(5, 10)).containsOnly("batch");
    }
}
