package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Searches that read little, of tables of which all lists have one home. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OneTaskTest {
    private static final int DIMENSION = 16;
    private static final int NLIST = 20;
    private static final int CACHE = 256 * 1024;

    /** Domains of one worker each. */
    private static Orchestrator machine(int domains) {
        List<CacheDomain> each = IntStream.range(0, domains)
                .mapToObj(id -> new CacheDomain(id, CACHE, List.of(0), 0, List.of(new Core(id, -1, List.of(id)))))
                .toList();
        return Orchestrator.builder()
                .topology(new Topology("test", DomainLevel.L3, true, each))
                .pinner(core -> new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine"))
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .recallShare(0)
                .build();
    }

    private static IvfTable table(Orchestrator orchestrator, float[][] rows) {
        return IvfTable.builder().codes(false).nlist(NLIST).nprobe(NLIST).build(orchestrator, rows);
    }

    private static long[] tasks(Orchestrator orchestrator) {
        return orchestrator.stats().workers().stream()
                .mapToLong(OrchestratorStats.WorkerStats::completed)
                .toArray();
    }

    @Test
    void aSearchOfASmallTableIsOneTaskAtTheHomeOfTheTable() {
        float[][] rows = gaussian(1_000, DIMENSION, new Random(1));
        try (Orchestrator three = machine(3);
                IvfTable table = table(three, rows)) {
            int home = table.registration().home(0);
            ListScansTest.awaitFree(three);
            long[] before = tasks(three);
            OrchestratorStats.TableStats was = three.stats().tables().getFirst();
            for (int i = 0; i < 10; i++) {
                assertThat(table.search(rows[i], 1, NLIST).join().ids()).containsExactly(i);
            }
            long[] after = tasks(three);
            OrchestratorStats.TableStats is = three.stats().tables().getFirst();
            for (int domain = 0; domain < 3; domain++) {
                assertThat(after[domain] - before[domain]).isEqualTo(domain == home ? 10 : 0);
            }
            assertThat(is.searches() - was.searches()).isEqualTo(10);
            assertThat(is.trafficBytes() - was.trafficBytes()).isEqualTo(10L * rows.length * DIMENSION * Float.BYTES);
        }
    }

    @Test
    void theListsOfATableThatOutgrowsTheCacheHaveTheirOwnHomes() {
        float[][] rows = gaussian(8_000, DIMENSION, new Random(2));
        try (Orchestrator three = machine(3);
                IvfTable table = table(three, Arrays.copyOf(rows, 1_000))) {
            table.add(LongStream.range(1_000, rows.length).toArray(), Arrays.copyOfRange(rows, 1_000, rows.length));
            long[] before = tasks(three);
            for (int i = 0; i < rows.length; i += 100) {
                assertThat(table.search(rows[i], 1, NLIST).join().ids()).containsExactly(i);
            }
            long[] after = tasks(three);
            for (int domain = 0; domain < 3; domain++) {
                assertThat(after[domain]).isGreaterThan(before[domain]);
            }
        }
    }

    /** With filters and radii (which lists a limit of visits leaves out differs) and with removed rows. */
    @ParameterizedTest
    @EnumSource(Metric.class)
    void dividedOrNotASearchHasTheSameAnswer(Metric metric) {
        Random random = new Random(3);
        float[][] rows = gaussian(3_000, DIMENSION, random);
        try (Orchestrator three = machine(3);
                IvfTable whole =
                        IvfTable.builder().metric(metric).nlist(NLIST).nprobe(2).build(three, rows);
                IvfTable divided = IvfTable.builder()
                        .metric(metric)
                        .apart()
                        .nlist(NLIST)
                        .nprobe(2)
                        .build(three, rows)) {
            for (int i = 0; i < 10; i++) {
                assertThat(whole.remove(17L * i)).isTrue();
                assertThat(divided.remove(17L * i)).isTrue();
            }
            for (float[] query : gaussian(60, DIMENSION, random)) {
                int k = 1 + random.nextInt(200);
                int every = 1 + random.nextInt(300);
                SearchRequest request = SearchRequest.of(query, k).effort(1 + random.nextInt(NLIST));
                SearchResult all = whole.search(request).join();
                List<SearchRequest> requests = List.of(
                        request,
                        request.filter(IdFilter.of(id -> id % every == 0)),
                        request.radius(all.distances()[all.size() / 2]));
                for (SearchRequest each : requests) {
                    assertThat(whole.search(each).join())
                            .isEqualTo(divided.search(each).join());
                }
                SearchResult limited = whole.search(request.visitLimit(random.nextInt(1, 3_000)))
                        .join();
                assertThat(limited.cutShort() || limited.size() == k).isTrue();
            }
        }
    }

    @Test
    void aSearchEndsByItsDeadlineItsCallerOrItsFilterAlone() throws Exception {
        float[][] rows = gaussian(500, DIMENSION, new Random(4));
        try (Orchestrator one = machine(1);
                IvfTable table = table(one, rows)) {
            BusyWorker busy = new BusyWorker(one, table);
            SearchRequest request = SearchRequest.of(rows[3], 1).effort(NLIST);
            CompletableFuture<SearchResult> late =
                    table.search(request.options(SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(1))));
            CompletableFuture<SearchResult> given = table.search(request);
            List<CompletableFuture<SearchResult>> patient = new ArrayList<>();
            patient.add(table.search(request));
            CompletableFuture<SearchResult> failing = table.search(request.filter(IdFilter.of(id -> {
                throw new IllegalStateException("of the filter");
            })));
            patient.add(table.search(request));
            given.cancel(false);
            busy.close();
            assertThatThrownBy(late::join).hasCauseInstanceOf(DeadlineExceededException.class);
            assertThatThrownBy(failing::join).hasStackTraceContaining("of the filter");
            assertThat(given).isCancelled();
            for (CompletableFuture<SearchResult> each : patient) {
                assertThat(each.join().ids()).containsExactly(3);
            }
        }
    }
}
