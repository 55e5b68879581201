package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No worker is idle beside a queue that stands, and what its own domain does in a moment stays there. Tasks wait instead of
 * computing, so the cores of this machine set no limit. Nothing here depends on how long anything takes: a flood's tasks end
 * only when as many run at once as there are free workers.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkConservationTest {
    /** Nothing reports traffic, and homes stay where they are. */
    private static final Duration WINDOW = Duration.ofHours(1);

    /** What the workers do when a flood begins. */
    enum Before {
        AWAKE,
        ASLEEP,
        ONE_BUSY
    }

    private static Orchestrator.Builder machine(int domains, int workers) {
        return Machines.orchestrator(domains, workers).ringCapacity(4_096).windows(WINDOW, WINDOW);
    }

    private static void awaitAsleep(Orchestrator orchestrator, int but) {
        WorkerPool pool = Inside.pool(orchestrator);
        int asleep = 0;
        while (asleep < pool.workers() - but) {
            asleep = 0;
            for (int i = 0; i < pool.workers(); i++) {
                asleep += pool.worker(i).asleep() == null ? 0 : 1;
            }
            LockSupport.parkNanos(100_000);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "4, 2, AWAKE", "4, 2, ASLEEP", "4, 2, ONE_BUSY",
        "12, 8, AWAKE", "12, 8, ASLEEP", "12, 8, ONE_BUSY",
        "1, 72, ASLEEP", "2, 72, ONE_BUSY"
    })
    void everyWorkerRunsAtOnceInAFloodOfOneId(int domains, int workers, Before before) throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        int busyPerDomain = before == Before.ONE_BUSY ? 1 : 0;
        int free = domains * (workers - busyPerDomain);
        CountDownLatch together = new CountDownLatch(free);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger max = new AtomicInteger();
        int tasks = Math.max(800, 2 * 8 * workers + free);
        try (Orchestrator orchestrator = machine(domains, workers).build()) {
            Registration ids = orchestrator.register("flood", domains);
            List<CompletableFuture<Boolean>> answers = new ArrayList<>();
            if (before == Before.ONE_BUSY) {
                for (int domain = 0; domain < domains; domain++) {
                    answers.add(orchestrator.submit(
                            (query, context) -> {
                                over.await();
                                return true;
                            },
                            domain,
                            ids.id(domain)));
                }
            }
            if (before != Before.AWAKE) {
                awaitAsleep(orchestrator, busyPerDomain * domains);
            }
            for (int i = 0; i < tasks; i++) {
                answers.add(orchestrator.submit(
                        (query, context) -> {
                            max.accumulateAndGet(running.incrementAndGet(), Math::max);
                            together.countDown();
                            boolean met = together.await(20, TimeUnit.SECONDS);
                            running.decrementAndGet();
                            return met;
                        },
                        i,
                        ids.id(0)));
            }
            boolean met = together.await(20, TimeUnit.SECONDS);
            over.countDown();
            assertThat(met).as("%d workers at once, got %d", free, max.get()).isTrue();
            assertThat(answers).allSatisfy(answer -> assertThat(answer.join()).isTrue());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void burstsThatADomainTakesInATurnOrTwoStayThere(int perWorker) {
        int bursts = 100;
        int workers = 8;
        // However long this machine keeps the workers from running.
        CrossDomainGate gate = new CrossDomainGate(Duration.ofMinutes(1).toNanos());
        Orchestrator orchestrator = machine(12, workers).crossDomainGate(gate).build();
        try (orchestrator) {
            Registration ids = orchestrator.register("bursts", 12);
            for (int burst = 0; burst < bursts; burst++) {
                List<CompletableFuture<Integer>> answers = new ArrayList<>();
                for (int task = 0; task < perWorker * workers; task++) {
                    answers.add(orchestrator.submit(
                            (query, context) -> {
                                LockSupport.parkNanos(500_000);
                                return query;
                            },
                            task,
                            ids.id(burst % 12)));
                }
                answers.forEach(CompletableFuture::join);
            }
        }
        assertThat(orchestrator.stats(0).tasks().crossSteals()).isLessThan(bursts * perWorker * workers / 100);
    }

    @Test
    void aLoadThatItsDomainsServeAtOnceStaysThere() {
        int domains = 4;
        int workers = 8;
        int tasks = 6_000;
        SplittableRandom random = new SplittableRandom(23);
        // Ten mean tasks: on a loaded machine a worker may get no core for as long.
        Orchestrator orchestrator = machine(domains, workers)
                .crossDomainGate(new CrossDomainGate(5_000_000))
                .build();
        // Four tenths of the workers are busy at any time: as the oldest task ends another comes, to a domain at
        // random.
        int inFlight = domains * workers * 4 / 10;
        try (orchestrator) {
            Registration ids = orchestrator.register("balanced", domains);
            Queue<CompletableFuture<Integer>> answers = new ArrayDeque<>();
            for (int task = 0; task < tasks; task++) {
                if (answers.size() == inFlight) {
                    answers.remove().join();
                }
                long nanos = (long) (-Math.log(1 - random.nextDouble()) * 500_000);
                answers.add(orchestrator.submit(
                        (query, context) -> {
                            LockSupport.parkNanos(nanos);
                            return query;
                        },
                        task,
                        ids.id(random.nextInt(domains))));
            }
            answers.forEach(CompletableFuture::join);
        }
        assertThat(orchestrator.stats(0).tasks().crossSteals()).isLessThan(tasks * 2 / 100);
    }

    /** It was added while one worker looked, which then found a search, and the other slept. */
    @ParameterizedTest
    @MethodSource("policies")
    void maintenanceRunsOnAWorkerThatSleepsWhileTheOtherSearches(SchedulingPolicy policy) throws Exception {
        try (Orchestrator orchestrator = machine(1, 2).scheduling(policy).build()) {
            Registration table = orchestrator.register("table");
            for (int round = 0; round < 100; round++) {
                TimeUnit.MILLISECONDS.sleep(1);
                orchestrator.submit((query, context) -> query, 1, table.id()).join();
                CountDownLatch ran = new CountDownLatch(1);
                CompletableFuture<Void> maintained = orchestrator.indexing().maintenance(table.id(), context -> {
                    ran.countDown();
                    return false;
                });
                CompletableFuture<Integer> search = orchestrator.submit(
                        (query, context) -> {
                            ran.await();
                            return query;
                        },
                        1,
                        table.id());
                search.join();
                maintained.join();
            }
        }
    }

    private static List<SchedulingPolicy> policies() {
        return List.of(
                SchedulingPolicy.HOME_DOMAIN,
                SchedulingPolicy.HOME_DOMAIN_UNGATED,
                SchedulingPolicy.WORK_STEALING,
                SchedulingPolicy.ROUND_ROBIN);
    }
}
