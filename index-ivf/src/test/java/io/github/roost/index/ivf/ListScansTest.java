package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.testkit.Await;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the lists of a search are scanned, and in how many tasks. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ListScansTest {
    private static final int DIMENSION = 20;
    private static final int ROWS = 500;
    private static final int NLIST = 40;

    @Test
    void aSearchThatMeetsAFreeWorkerHasATaskForSeveralLists() throws InterruptedException {
        try (Orchestrator one = orchestrator("pack:1 l3:1 core:1 pu:1");
                IvfTable table = table(one, Kept.FLOATS)) {
            awaitFree(one);
            OrchestratorStats before = one.stats();
            table.search(new float[DIMENSION], 10, NLIST).join();
            awaitFree(one);
            OrchestratorStats after = one.stats();
            assertThat(after.tasks().completed() - before.tasks().completed()).isEqualTo(Batches.BATCHES_PER_WORKER);
            assertScanned(NLIST, (long) ROWS * DIMENSION * Float.BYTES, before, after);
        }
    }

    @Test
    void searchesThatMeetABusyWorkerShareATaskForEachList() throws InterruptedException {
        try (Orchestrator one = orchestrator("pack:1 l3:1 core:1 pu:1");
                IvfTable table = table(one, Kept.FLOATS)) {
            awaitFree(one);
            BusyWorker busy = new BusyWorker(one, table);
            OrchestratorStats before = one.stats();
            CompletableFuture<SearchResult> first = table.search(new float[DIMENSION], 10, NLIST);
            CompletableFuture<SearchResult> second = table.search(new float[DIMENSION], 10, NLIST);
            busy.close();
            assertThat(first.join()).isEqualTo(second.join());
            awaitFree(one);
            OrchestratorStats after = one.stats();
            // And the one that kept the worker busy.
            assertThat(after.tasks().completed() - before.tasks().completed()).isEqualTo(NLIST + 1);
            assertScanned(NLIST, (long) ROWS * DIMENSION * Float.BYTES, before, after);
        }
    }

    private static void assertScanned(int lists, long bytes, OrchestratorStats before, OrchestratorStats after) {
        OrchestratorStats.TableStats was = before.tables().getFirst();
        OrchestratorStats.TableStats is = after.tables().getFirst();
        assertThat(is.searches() - was.searches()).isEqualTo(lists);
        assertThat(is.trafficBytes() - was.trafficBytes()).isEqualTo(bytes);
    }

    @Test
    void listsAreScannedAtHomeAndTheirTrafficIsTheirs() throws InterruptedException {
        try (Orchestrator three = orchestrator("pack:1 l3:3 core:1 pu:1");
                IvfTable table = table(three, Kept.FLOATS)) {
            long[] expected = new long[3];
            for (int list = 0; list < NLIST; list++) {
                expected[table.registration().home(list)] += (long) table.listSize(list) * DIMENSION * Float.BYTES;
            }
            awaitFree(three);
            OrchestratorStats before = three.stats();
            table.search(new float[DIMENSION], 10, NLIST).join();
            awaitFree(three);
            OrchestratorStats after = three.stats();
            for (int domain = 0; domain < 3; domain++) {
                assertThat(after.domains().get(domain).trafficBytes()
                                - before.domains().get(domain).trafficBytes())
                        .isEqualTo(expected[domain]);
                assertThat(after.workers().get(domain).completed()
                                - before.workers().get(domain).completed())
                        .isEqualTo(Batches.BATCHES_PER_WORKER);
            }
        }
    }

    /** A list that is so hot that it has several homes, and domains of which some are busy. */
    @ParameterizedTest
    @EnumSource(Kept.class)
    void aSearchIsAnsweredWhoeverIsFree(Kept kept) throws Exception {
        try (Orchestrator three = orchestrator("pack:1 l3:3 core:1 pu:1");
                IvfTable table = table(three, kept)) {
            SearchFunction<Integer, Integer> hot = (query, context) -> {
                context.touched(1, 1_000_000);
                return query;
            };
            for (int i = 0; i < 100; i++) {
                three.submit(hot, i, table.registration().id(3)).join();
            }
            assertThat(three.indexing().endWindow()).isTrue();
            assertThat(table.registration().home(3)).isEqualTo(-1);
            Random random = new Random(8);
            for (int i = 0; i < 30; i++) {
                float[] query = gaussian(1, DIMENSION, random)[0];
                SearchResult expected =
                        table.searchFunction(10, NLIST).search(query, SearchContext.outside((nodes, bytes) -> {}));
                awaitFree(three);
                CountDownLatch release = new CountDownLatch(1);
                int busy = i % 4;
                CountDownLatch begun = new CountDownLatch(busy);
                SearchFunction<Integer, Boolean> keeping = (none, context) -> {
                    begun.countDown();
                    return release.await(60, TimeUnit.SECONDS);
                };
                for (int list = 0, found = 0; found < busy && list < NLIST; list++) {
                    if (table.registration().home(list) == found) {
                        var _ = three.submit(keeping, 0, table.registration().id(list));
                        found++;
                    }
                }
                assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
                CompletableFuture<SearchResult> answer = table.search(query, 10, NLIST);
                if (busy == 3) {
                    assertThat(answer).isNotDone();
                }
                release.countDown();
                assertThat(answer.join()).isEqualTo(expected);
            }
        }
    }

    @Test
    void searchesOfManyCallersFindWhatEachWouldAlone() {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Orchestrator two = orchestrator("pack:1 l3:2 core:2 pu:1");
                IvfTable table = table(two, Kept.CODED_FLOATS)) {
            float[][] queries = gaussian(100, DIMENSION, new Random(9));
            List<SearchResult> alone = Arrays.stream(queries)
                    .map(query -> table.search(query, 10, 20).join())
                    .toList();
            for (int callers = 1; callers <= 4; callers++) {
                List<CompletableFuture<Void>> done = new ArrayList<>();
                for (int caller = 0; caller < callers; caller++) {
                    done.add(CompletableFuture.runAsync(
                            () -> {
                                for (int i = 0; i < 5 * queries.length; i++) {
                                    int query = i % queries.length;
                                    assertThat(table.search(queries[query], 10, 20)
                                                    .join())
                                            .isEqualTo(alone.get(query));
                                }
                            },
                            threads));
                }
                done.forEach(CompletableFuture::join);
            }
        }
    }

    @Test
    void aSearchOfMoreTasksThanPlacesIsAnsweredIfNoOtherTaskWaits() throws InterruptedException {
        try (Orchestrator cramped = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1")
                                .read())
                        .ringCapacity(1)
                        .build();
                IvfTable table = table(cramped, Kept.FLOATS)) {
            for (int i = 0; i < 10; i++) {
                awaitFree(cramped);
                assertThat(table.search(new float[DIMENSION], 10, NLIST).join().size())
                        .isEqualTo(10);
            }
            BusyWorker busy = new BusyWorker(cramped, table);
            CompletableFuture<SearchResult> waits = table.search(new float[DIMENSION], 10, 1);
            assertThatThrownBy(() -> table.search(new float[DIMENSION], 10, NLIST))
                    .isInstanceOf(RejectedSearchException.class);
            busy.close();
            assertThat(waits.join().size()).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSearchThatMeetsADamagedListFails(boolean whileBusy, @TempDir Path folder) throws Exception {
        try (Orchestrator one = orchestrator("pack:1 l3:1 core:1 pu:1")) {
            Path file = folder.resolve("table");
            try (IvfTable saved = table(one, Kept.FLOATS)) {
                saved.save(file);
            }
            byte[] bytes = Files.readAllBytes(file);
            bytes[bytes.length - 1] ^= 1;
            Files.write(file, bytes);
            try (IvfTable opened = IvfTable.open(one, "damaged", file)) {
                BusyWorker busy = new BusyWorker(one, opened);
                if (!whileBusy) {
                    busy.close();
                    awaitFree(one);
                }
                CompletableFuture<SearchResult> failing = opened.search(new float[DIMENSION], 10, NLIST);
                busy.close();
                assertThatThrownBy(failing::join).hasStackTraceContaining("is damaged");
            }
        }
    }

    private static Orchestrator orchestrator(String topology) {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic(topology).read())
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                // Nobody helps another domain.
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .build();
    }

    private static IvfTable table(Orchestrator orchestrator, Kept kept) {
        return kept.builder().nlist(NLIST).build(orchestrator, gaussian(ROWS, DIMENSION, new Random(7)));
    }

    /**
     * Until every worker has found out that it has nothing to do: at several looks, since one that has just taken a last step of
     * the build from where maintenance waits is neither there nor busy yet.
     */
    static void awaitFree(Orchestrator orchestrator) {
        AtomicInteger looks = new AtomicInteger();
        Await.until(() -> looks.updateAndGet(free -> isFree(orchestrator) ? free + 1 : 0) == 20);
    }

    private static boolean isFree(Orchestrator orchestrator) {
        return IntStream.range(0, orchestrator.topology().domains().size())
                .allMatch(domain -> orchestrator.stats().domains().get(domain).maintenance() == 0
                        && orchestrator.indexing().freeWorkers(domain)
                                == orchestrator
                                        .topology()
                                        .domains()
                                        .get(domain)
                                        .cores()
                                        .size());
    }
}
