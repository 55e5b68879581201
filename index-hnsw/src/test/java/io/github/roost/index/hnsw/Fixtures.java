package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.dispatch.SchedulingPolicy;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

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

    static float[][] gaussian(int rows, int dimension, Random random) {
        float[][] values = new float[rows][dimension];
        for (float[] row : values) {
            for (int i = 0; i < dimension; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return values;
    }

    /** The nearest of the rows whose ordinal is allowed. */
    static Neighbors exact(float[][] rows, float[] query, int k, Metric metric, LongPredicate allowed) {
        long[] ids = LongStream.range(0, rows.length).filter(allowed).toArray();
        float[] distances = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            distances[i] = distance(rows[(int) ids[i]], query, metric);
        }
        return Neighbors.merge(List.of(Neighbors.sorted(ids, distances)), k);
    }

    static float distance(float[] a, float[] b, Metric metric) {
        double squares = 0;
        double dot = 0;
        double aa = 0;
        double bb = 0;
        for (int i = 0; i < a.length; i++) {
            squares += (a[i] - (double) b[i]) * (a[i] - (double) b[i]);
            dot += a[i] * (double) b[i];
            aa += a[i] * (double) a[i];
            bb += b[i] * (double) b[i];
        }
        return (float)
                switch (metric) {
                    case SQUARED_L2 -> squares;
                    case INNER_PRODUCT -> -dot;
                    case COSINE -> 1 - dot / Math.sqrt(aa * bb);
                };
    }

    /** How many of the true ids were found. */
    static int hits(Neighbors truth, Neighbors found) {
        Set<Long> ids = Arrays.stream(truth.ids()).boxed().collect(Collectors.toSet());
        return (int) Arrays.stream(found.ids()).filter(ids::contains).count();
    }
}
