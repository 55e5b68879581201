package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.distance;
import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchResult;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Random rows, exact answers and a small machine. */
final class Fixtures {
    private Fixtures() {}

    static Topology twoDomains() {
        return new Topology(
                "test",
                DomainLevel.L3,
                false,
                List.of(
                        new CacheDomain(0, 0, List.of(0), 0, List.of(new Core(0, -1, List.of(0)))),
                        new CacheDomain(1, 0, List.of(0), 0, List.of(new Core(1, -1, List.of(1))))));
    }

    /** The share of true neighbors that a table finds; it checks that each is at its true distance. */
    static double recall(HnswTable table, float[][] rows, float[][] queries, int k, int ef) {
        int hits = 0;
        for (float[] query : queries) {
            SearchResult found = table.search(query, k, ef).join();
            for (int i = 0; i < k; i++) {
                float distance = distance(rows[(int) found.ids()[i]], query, table.metric());
                assertThat(found.distances()[i]).isCloseTo(distance, within(1e-3f + 1e-4f * Math.abs(distance)));
            }
            hits += hits(exact(rows, query, k, table.metric()), found);
        }
        return hits / (double) (k * queries.length);
    }

    /** The rows themselves, each component times a unit. */
    static float[][] scaled(float[][] rows, float unit) {
        for (float[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                row[i] *= unit;
            }
        }
        return rows;
    }

    /** Says of a search that it is no longer wanted, from the time on that it has asked so often. */
    record EndsAfter(AtomicInteger asksLeft) implements SearchContext {
        EndsAfter(int asks) {
            this(new AtomicInteger(asks));
        }

        @Override
        public boolean expired() {
            return asksLeft.decrementAndGet() < 0;
        }

        @Override
        public void touched(long nodes, long bytes) {}

        @Override
        public int worker() {
            return -1;
        }

        @Override
        public int domain() {
            return -1;
        }

        @Override
        public long epoch() {
            return 0;
        }
    }

    /** Two workers that take turns with what is submitted, and steal nothing. */
    static Orchestrator roundRobin() {
        return Orchestrator.builder()
                .topology(twoDomains())
                .scheduling(SchedulingPolicy.ROUND_ROBIN)
                .build();
    }

    /** Gives each worker of {@link #roundRobin} a task that keeps it until the latch is down; returns when they run. */
    static void keepWorkers(Orchestrator roundRobin, MappingId id, CountDownLatch until) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(roundRobin.workers());
        SearchFunction<CountDownLatch, Boolean> keeping = (wait, context) -> {
            running.countDown();
            wait.await();
            return true;
        };
        for (int worker = 0; worker < roundRobin.workers(); worker++) {
            var _ = roundRobin.submit(keeping, until, id);
        }
        running.await();
    }
}
