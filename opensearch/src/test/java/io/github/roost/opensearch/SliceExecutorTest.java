package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TableStats;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.topology.TopologyReader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.opensearch.cluster.metadata.MetadataCreateIndexService;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.indices.InvalidIndexNameException;
import org.opensearch.tasks.TaskResourceTrackingService;
import org.opensearch.threadpool.RunnableTaskExecutionListener;

class SliceExecutorTest {
    @Test
    void noIndexCanHaveTheNameOfTheSlicesInStatistics() {
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1")
                                .read())
                        .build();
                ExecutorService pool = Executors.newSingleThreadExecutor()) {
            SliceExecutor slices = new SliceExecutor(
                    orchestrator, pool, new ThreadContext(Settings.EMPTY), RoostSettings.Slices.ROOST);
            assertThat(orchestrator.stats().tables())
                    .extracting(TableStats::name)
                    .containsOnly(SliceExecutor.NAME);
            slices.shutdown();
        }
        assertThat(isIndexName("slices")).isTrue();
        assertThat(isIndexName(SliceExecutor.NAME)).isFalse();
    }

    @Test
    void aWaitingSliceOfAnotherIndexIsNextHoweverManySlicesOfABusyIndexWait() throws Exception {
        try (Orchestrator orchestrator = oneWorker(OverloadPolicy.callerRuns());
                ExecutorService pool = Executors.newSingleThreadExecutor()) {
            SliceExecutor slices = new SliceExecutor(
                    orchestrator, pool, new ThreadContext(Settings.EMPTY), RoostSettings.Slices.ROOST);
            CountDownLatch goesOn = blockTheWorker(slices);
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            submit(slices, "busy", 20, order);
            submit(slices, "quiet", 2, order);
            submit(slices, "other", 1, order);
            goesOn.countDown();
            slices.shutdown();
            assertThat(slices.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
            assertThat(order.subList(0, 5)).containsExactly("busy 0", "quiet 0", "other 0", "busy 1", "quiet 1");
            assertThat(order).hasSize(23).endsWith("busy 18", "busy 19");
        }
    }

    @Test
    void slicesOfAnIndexWithoutVectorsStayInOpenSearchsPool() throws Exception {
        try (Orchestrator orchestrator = oneWorker(OverloadPolicy.callerRuns());
                ExecutorService pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "stock"))) {
            SliceExecutor slices = new SliceExecutor(
                    orchestrator, pool, new ThreadContext(Settings.EMPTY), RoostSettings.Slices.ROOST);
            new SearchedIndex("logs", false).begin();
            Future<String> stock = slices.submit(() -> Thread.currentThread().getName());
            SearchedIndex.end();
            Future<String> nobodys = slices.submit(() -> Thread.currentThread().getName());
            new SearchedIndex("birds", true).begin();
            Future<String> own = slices.submit(() -> Thread.currentThread().getName());
            SearchedIndex.end();
            assertThat(stock.get()).isEqualTo("stock");
            assertThat(nobodys.get()).isEqualTo("stock");
            assertThat(own.get()).startsWith("roost-worker");
            assertThat(slices.submitted()).containsOnlyKeys("birds");
            slices.shutdown();
        }
    }

    /** The thread that submits counts for its task already, and must not be counted twice. */
    @Test
    void aSliceOnAWorkerCountsForItsTaskAndOneInItsOwnThreadDoesNotAgain() throws Exception {
        try (Orchestrator orchestrator = oneWorker(OverloadPolicy.callerRuns());
                ExecutorService pool = Executors.newSingleThreadExecutor()) {
            ThreadContext requests = new ThreadContext(Settings.EMPTY);
            SliceExecutor slices = new SliceExecutor(orchestrator, pool, requests, RoostSettings.Slices.ROOST);
            List<Long> begun = Collections.synchronizedList(new ArrayList<>());
            List<Long> ended = Collections.synchronizedList(new ArrayList<>());
            slices.tasks(new RunnableTaskExecutionListener() {
                @Override
                public void taskExecutionStartedOnThread(long taskId, long threadId) {
                    assertThat(threadId).isEqualTo(Thread.currentThread().threadId());
                    begun.add(taskId);
                }

                @Override
                public void taskExecutionFinishedOnThread(long taskId, long threadId) {
                    ended.add(taskId);
                }
            });
            CountDownLatch goesOn = blockTheWorker(slices);
            requests.putTransient(TaskResourceTrackingService.TASK_ID, 7L);
            new SearchedIndex("birds", true).begin();
            Thread own = Thread.currentThread();
            AtomicInteger inOwnThread = new AtomicInteger();
            int count = 200;
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                all.add(slices.submit(() -> {
                    if (Thread.currentThread() == own) {
                        inOwnThread.incrementAndGet();
                    }
                }));
            }
            SearchedIndex.end();
            goesOn.countDown();
            for (Future<?> one : all) {
                one.get();
            }
            slices.shutdown();
            assertThat(slices.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
            assertThat(inOwnThread)
                    .as("slices that the full queue left to their thread")
                    .hasPositiveValue();
            assertThat(begun).hasSize(count - inOwnThread.get()).containsOnly(7L);
            assertThat(ended).isEqualTo(begun);
        }
    }

    /** Returns once the worker waits for the returned latch. */
    private static CountDownLatch blockTheWorker(SliceExecutor slices) {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        new SearchedIndex("blocked", true).begin();
        slices.execute(() -> {
            blocked.countDown();
            await(goesOn);
        });
        SearchedIndex.end();
        await(blocked);
        return goesOn;
    }

    private static void submit(SliceExecutor slices, String index, int count, List<String> order) {
        new SearchedIndex(index, true).begin();
        try {
            for (int i = 0; i < count; i++) {
                String slice = index + " " + i;
                slices.execute(() -> order.add(slice));
            }
        } finally {
            SearchedIndex.end();
        }
    }

    /** Accepted slices run once, whichever of them the rejected tasks would have run. */
    @Test
    void whenWorkersRejectTasksEachAcceptedSliceRunsOnceAndNoOther() throws Exception {
        try (Orchestrator orchestrator = oneWorker(OverloadPolicy.reject());
                ExecutorService pool = Executors.newSingleThreadExecutor();
                ExecutorService clients = Executors.newFixedThreadPool(4)) {
            SliceExecutor slices = new SliceExecutor(
                    orchestrator, pool, new ThreadContext(Settings.EMPTY), RoostSettings.Slices.ROOST);
            int count = 20_000;
            AtomicIntegerArray runs = new AtomicIntegerArray(4 * count);
            AtomicIntegerArray accepted = new AtomicIntegerArray(4 * count);
            AtomicInteger rejected = new AtomicInteger();
            List<Future<?>> done = new ArrayList<>();
            for (int client = 0; client < 4; client++) {
                int first = client * count;
                done.add(clients.submit(() -> {
                    new SearchedIndex("index" + first, true).begin();
                    for (int i = first; i < first + count; i++) {
                        int slice = i;
                        try {
                            slices.execute(() -> runs.incrementAndGet(slice));
                            accepted.set(slice, 1);
                        } catch (RejectedExecutionException full) {
                            rejected.incrementAndGet();
                        }
                    }
                }));
            }
            for (Future<?> client : done) {
                client.get();
            }
            slices.shutdown();
            assertThat(slices.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
            assertThat(rejected).hasPositiveValue();
            for (int slice = 0; slice < runs.length(); slice++) {
                assertThat(runs.get(slice)).as("slice %d", slice).isEqualTo(accepted.get(slice));
            }
        }
    }

    @Test
    void shutdownNowReturnsTheSlicesThatNeverRun() throws Exception {
        try (Orchestrator orchestrator = oneWorker(OverloadPolicy.callerRuns());
                ExecutorService pool = Executors.newSingleThreadExecutor()) {
            SliceExecutor slices = new SliceExecutor(
                    orchestrator, pool, new ThreadContext(Settings.EMPTY), RoostSettings.Slices.ROOST);
            CountDownLatch goesOn = blockTheWorker(slices);
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            submit(slices, "busy", 3, order);
            List<Runnable> neverRun = slices.shutdownNow();
            goesOn.countDown();
            assertThat(slices.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
            assertThat(order).isEmpty();
            neverRun.forEach(Runnable::run);
            assertThat(order).containsExactly("busy 0", "busy 1", "busy 2");
        }
    }

    private static Orchestrator oneWorker(OverloadPolicy overload) {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .overloadPolicy(overload)
                .ringCapacity(64)
                .build();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static boolean isIndexName(String name) {
        try {
            MetadataCreateIndexService.validateIndexOrAliasName(name, InvalidIndexNameException::new);
            return true;
        } catch (InvalidIndexNameException refused) {
            return false;
        }
    }
}
