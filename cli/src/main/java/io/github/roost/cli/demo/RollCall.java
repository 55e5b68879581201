package io.github.roost.cli.demo;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.WorkerStats;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.Pinner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Determines where the kernel has placed each worker. Each worker gets one task, which reads the status of its own thread and stays until all
 * tasks have run, so that no worker runs two.
 */
final class RollCall {
    private static final long PATIENCE_MILLIS = 2_000;
    /** A link to the folder of the thread that reads it. */
    private static final Path THREAD_SELF = Path.of("/proc/thread-self");

    private static final Path TASKS = Path.of("/proc/self/task");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private record Seen(long tid, String allowed) {
        static final Seen NOTHING = new Seen(-1, "");
    }

    private final Orchestrator orchestrator;
    private final Map<Integer, Seen> seen = new ConcurrentHashMap<>();
    private final CountDownLatch missing;

    private RollCall(Orchestrator orchestrator) {
        this.orchestrator = orchestrator;
        this.missing = new CountDownLatch(orchestrator.workers());
    }

    /** The positions of all workers, by index. */
    static List<WorkerPosition> of(Orchestrator orchestrator) {
        return new RollCall(orchestrator).positions();
    }

    private List<WorkerPosition> positions() {
        List<CacheDomain> domains = orchestrator.topology().domains();
        List<CompletableFuture<Boolean>> answers = new ArrayList<>();
        // As many ids as domains, registered while there is no traffic: one at home in each domain.
        try (Registration ids = orchestrator.register("roll call", domains.size())) {
            SearchFunction<Integer, Boolean> answer = this::answer;
            for (CacheDomain domain : domains) {
                for (Core core : domain.cores()) {
                    answers.add(orchestrator.submit(answer, core.id(), ids.id(domain.id())));
                }
            }
            answers.forEach(CompletableFuture::join);
        }
        return orchestrator.stats().workers().stream().map(this::position).toList();
    }

    private boolean answer(Integer core, SearchContext context) throws IOException, InterruptedException {
        seen.put(context.worker(), Files.isSymbolicLink(THREAD_SELF) ? look() : Seen.NOTHING);
        missing.countDown();
        return missing.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static Seen look() throws IOException {
        Path tid = Files.readSymbolicLink(THREAD_SELF).getFileName();
        String allowed = Files.readAllLines(TASKS.resolve(tid).resolve("status")).stream()
                .filter(line -> line.startsWith(ALLOWED))
                .map(line -> line.substring(ALLOWED.length()).strip())
                .findFirst()
                .orElse("");
        return new Seen(Long.parseLong(tid.toString()), allowed);
    }

    private WorkerPosition position(WorkerStats worker) {
        Seen where = seen.getOrDefault(worker.worker(), Seen.NOTHING);
        Pinner.Result pin = worker.pin();
        return new WorkerPosition(
                worker.worker(),
                worker.domain(),
                worker.core(),
                pin == null ? List.of() : pin.requested(),
                where.tid(),
                where.allowed(),
                pin == null ? "not pinned yet" : pin.reason());
    }
}
