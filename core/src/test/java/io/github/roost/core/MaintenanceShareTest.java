package io.github.roost.core;

import static io.github.roost.core.TestBed.done;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The share of a busy worker's time that maintenance gets is of the time of its own steps. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MaintenanceShareTest {
    private static final double SHARE = .2;
    private static final int CLIENTS = 2;
    private static final int IN_FLIGHT = 64;
    private static final int SEARCHES = 40_000;
    private static final int SEARCH_NANOS = 20_000;
    /** A step runs this many pieces; one that yields does so before each. */
    private static final int PIECES = 4;

    private static final int PIECE_NANOS = 12_500;

    @Test
    void stepsThatYieldToSearchesGetAboutAsMuchAsThoseThatDoNot() throws Exception {
        long greedy = stepsBesideSearches(false);
        long yielding = stepsBesideSearches(true);
        assertThat(greedy).as("steps that do not yield").isPositive();
        assertThat(yielding)
                .as("steps that yield, in place of %d that do not", greedy)
                .isBetween(greedy / 3, greedy * 3);
    }

    /** Counts the steps of maintenance during a number of searches that keep the only worker busy. */
    private static long stepsBesideSearches(boolean yields) throws Exception {
        try (Orchestrator orchestrator =
                Machines.orchestrator(1, 1).maintenanceShare(SHARE).build()) {
            MappingId id = orchestrator.register("table").id();
            AtomicBoolean stop = new AtomicBoolean();
            LongAdder steps = new LongAdder();
            List<CompletableFuture<Void>> work = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                work.add(orchestrator.indexing().maintenance(id, context -> {
                    for (int piece = 0; piece < PIECES; piece++) {
                        if (yields) {
                            orchestrator.indexing().yieldToSearches();
                        }
                        compute(PIECE_NANOS);
                    }
                    steps.increment();
                    return !stop.get();
                }));
            }
            search(orchestrator, id, SEARCHES / 10);
            long before = steps.sum();
            search(orchestrator, id, SEARCHES);
            long during = steps.sum() - before;
            stop.set(true);
            done(work);
            return during;
        }
    }

    /** Several clients, each with many searches in flight, so that searches wait at every moment. */
    private static void search(Orchestrator orchestrator, MappingId id, int searches) throws InterruptedException {
        SearchFunction<Integer, Integer> search = (query, context) -> {
            compute(SEARCH_NANOS);
            return query;
        };
        List<Thread> clients = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            clients.add(Thread.ofPlatform().daemon().start(() -> {
                List<CompletableFuture<Integer>> inFlight = new ArrayList<>();
                for (int i = 0; i < searches / CLIENTS; i++) {
                    inFlight.add(orchestrator.submit(search, i, id));
                    if (inFlight.size() == IN_FLIGHT) {
                        inFlight.removeFirst().join();
                    }
                }
                inFlight.forEach(CompletableFuture::join);
            }));
        }
        for (Thread client : clients) {
            client.join();
        }
    }

    private static void compute(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }
}
