package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.topology.Pinner;
import io.github.roost.topology.TopologyReader;
import io.github.roost.topology.system.ProcessCpus;
import io.github.roost.topology.system.ThreadPlacement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
@Timeout(60)
class StartedThreadsTest {
    @BeforeEach
    void severalCpus() {
        int ofACore = TopologyReader.live()
                .read()
                .cores()
                .findFirst()
                .orElseThrow()
                .pus()
                .size();
        assumeThat(ProcessCpus.count()).isGreaterThan(ofACore);
    }

    /** The executor starts its thread on the worker that completes the search. */
    @Test
    void anExecutorWhoseThreadAWorkerStartedGetsAllCpus() throws Exception {
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                ExecutorService executor = Executors.newSingleThreadExecutor()) {
            MappingId id = orchestrator.register("table").id();
            assertThat(looking()).isNotEmpty();
            List<Integer> first = orchestrator
                    .submit(
                            (query, context) -> CompletableFuture.supplyAsync(StartedThreadsTest::allowedCpus, executor)
                                    .join(),
                            "query",
                            id)
                    .get(30, TimeUnit.SECONDS);
            assertThat(first).hasSizeLessThan(ProcessCpus.count());
            while (executor.submit(StartedThreadsTest::allowedCpus).get().size() < ProcessCpus.count()) {
                Thread.onSpinWait();
            }
            assertThat(workersCpus(orchestrator, id)).as("a worker").isEqualTo(first.size());
        }
    }

    @Test
    void withAPinnerOfItsOwnThreadsAreLeftAlone() throws Exception {
        Set<Thread> before = looking();
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .pinner(Pinner.of(TopologyReader.live().read())::pin)
                        .build();
                ExecutorService executor = Executors.newSingleThreadExecutor()) {
            MappingId id = orchestrator.register("table").id();
            int ofAWorker = workersCpus(orchestrator, id);
            assertThat(orchestrator
                            .submit((query, context) -> executor.submit(() -> 1).get(), "query", id)
                            .get(30, TimeUnit.SECONDS))
                    .isEqualTo(1);
            assertThat(looking())
                    .as("threads that look, besides those of other orchestrators")
                    .isSubsetOf(before);
            assertThat(executor.submit(StartedThreadsTest::allowedCpus).get()).hasSize(ofAWorker);
        }
    }

    /** The threads that give others all CPUs. */
    private static Set<Thread> looking() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("roost-threads"))
                .collect(Collectors.toSet());
    }

    private static int workersCpus(Orchestrator orchestrator, MappingId id) throws Exception {
        return orchestrator
                .submit((query, context) -> allowedCpus().size(), "query", id)
                .get(30, TimeUnit.SECONDS);
    }

    private static List<Integer> allowedCpus() {
        return ThreadPlacement.current().orElseThrow().allowedCpus();
    }
}
