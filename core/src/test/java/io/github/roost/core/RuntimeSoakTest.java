package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Everything at once, at random: no future is lost, none completes twice, and the counts add up. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RuntimeSoakTest {
    private static final int SUBMITTERS = 4;

    @ParameterizedTest
    @CsvSource({"V2,2,1,1", "V2,12,8,2", "V1,12,8,3", "V0,2,1,4"})
    void nothingIsLostUnderFaultsOfEveryKind(Scheduling scheduling, int domains, int cores, long seed)
            throws Exception {
        Orchestrator orchestrator = Machines.orchestrator(domains, cores)
                .scheduling(scheduling)
                .overloadPolicy(seed % 2 == 0 ? OverloadPolicy.reject() : OverloadPolicy.callerRuns())
                .ringCapacity(32)
                .windows(Duration.ofMillis(5), Duration.ofMillis(20))
                .build();
        AtomicLong accepted = new AtomicLong();
        AtomicLong completions = new AtomicLong();
        List<CompletableFuture<?>> futures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
        for (int submitter = 0; submitter < SUBMITTERS; submitter++) {
            Random random = new Random(seed * 31 + submitter);
            threads.add(Thread.ofPlatform().start(() -> {
                List<CompletableFuture<?>> mine = new ArrayList<>();
                while (System.nanoTime() < end) {
                    act(orchestrator, random, mine, accepted);
                }
                synchronized (futures) {
                    futures.addAll(mine);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (CompletableFuture<?> future : futures) {
            future.whenComplete((result, failure) -> completions.incrementAndGet());
        }
        boolean drained = orchestrator.close(Duration.ofSeconds(60));
        assertThat(drained).as("drained, seed %d", seed).isTrue();
        assertThat(futures).as("seed %d", seed).allMatch(CompletableFuture::isDone);
        assertThat(completions).hasValue(futures.size());
        OrchestratorStats.TaskCounts tasks = orchestrator.stats().tasks();
        assertThat(tasks.completed() + tasks.failed() + tasks.cancelled() + tasks.expired())
                .as("outcomes of accepted tasks, seed %d: %s", seed, tasks)
                .isEqualTo(accepted.get());
        assertThat(orchestrator.stats().replacedWorkers()).isZero();
        assertThat(orchestrator.stats().workers()).allMatch(worker -> worker.waiting() == 0);
    }

    /** One random table, and a few random things done with it. */
    private static void act(
            Orchestrator orchestrator, Random random, List<CompletableFuture<?>> futures, AtomicLong accepted) {
        int clusters = 1 + random.nextInt(6);
        try (Registration table = orchestrator.register("soak", clusters)) {
            for (int i = 0; i < 50; i++) {
                try {
                    futures.add(
                            random.nextInt(4) == 0
                                    ? fanOut(orchestrator, random, table, accepted)
                                    : submit(orchestrator, random, table, accepted));
                } catch (RejectedSearchException expected) {
                    // Refused, so there is no future to wait for.
                    continue;
                }
                if (random.nextInt(10) == 0) {
                    futures.getLast().cancel(false);
                }
            }
        }
    }

    private static CompletableFuture<?> submit(
            Orchestrator orchestrator, Random random, Registration table, AtomicLong accepted) {
        CompletableFuture<Integer> future = orchestrator.submit(
                work(orchestrator, table, accepted),
                random.nextInt(1_000),
                table.id(random.nextInt(table.clusters())),
                options(random));
        accepted.incrementAndGet();
        return future;
    }

    private static CompletableFuture<?> fanOut(
            Orchestrator orchestrator, Random random, Registration table, AtomicLong accepted) {
        List<Part<Integer, Integer>> parts = IntStream.range(0, table.clusters())
                .mapToObj(cluster ->
                        new Part<>(work(orchestrator, table, accepted), random.nextInt(1_000), table.id(cluster)))
                .toList();
        boolean mergerThrows = random.nextInt(10) == 0;
        CompletableFuture<Integer> future = orchestrator.fanOut(
                parts,
                results -> {
                    if (mergerThrows) {
                        throw new IllegalStateException("merger");
                    }
                    return results.size();
                },
                options(random));
        accepted.addAndGet(parts.size());
        return future;
    }

    private static SubmitOptions options(Random random) {
        SubmitOptions options = random.nextBoolean() ? SubmitOptions.DEFAULT : SubmitOptions.BATCH;
        return random.nextInt(5) == 0 ? options.withTimeout(Duration.ofNanos(1 + random.nextInt(200_000))) : options;
    }

    private static SearchFunction<Integer, Integer> work(
            Orchestrator orchestrator, Registration table, AtomicLong accepted) {
        return (query, context) -> {
            context.touched(1, query);
            if (query < 30) {
                throw new IllegalStateException("search");
            }
            if (query < 40) {
                throw new AssertionError("search");
            }
            if (query < 60) {
                Thread.currentThread().interrupt();
            }
            if (query < 160 && table.isOpen()) {
                try {
                    CompletableFuture<Integer> nested =
                            orchestrator.submit((q, c) -> q + 1, query, table.id(query % table.clusters()));
                    accepted.incrementAndGet();
                    return nested.join();
                } catch (RejectedSearchException | IllegalArgumentException full) {
                    return query;
                }
            }
            return query;
        };
    }
}
