package io.github.roost.bench.scheduling;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.SearchFailedException;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.Topology;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Question: if each search is called from a new virtual thread, how much throughput remains, and how much garbage is collected? Baseline: one
 * platform thread per search in flight, each of which searches in a loop. Both wait for one search at a time, alternate on the same tables in one
 * JVM, in reversed order every other round, and run the same queries.
 */
public final class CallerThreads implements AutoCloseable {
    /** Searches in flight, and number of platform threads. */
    public static final int IN_FLIGHT = 8;

    private static final int DIMENSION = 64;
    private static final int CENTERS = 100;
    private static final int QUERIES = 1_024;
    private static final int K = 10;
    private static final int EF = 64;
    /** Searches per measurement of memory. */
    private static final int WEIGHED = 200;
    /** Garbage collections may free memory during a measurement, so the median of several is used. */
    private static final int WEIGHINGS = 5;

    private final ExecutorService platform = Executors.newFixedThreadPool(IN_FLIGHT);
    private final Orchestrator orchestrator;
    private final HnswTable hnsw;
    private final IvfTable ivf;
    private final float[][] queries;

    /** The kind of the calling threads. */
    public enum Kind {
        /** The same threads throughout, one per search in flight. */
        PLATFORM,
        /** A new thread per search. */
        VIRTUAL
    }

    /** The searched table. */
    public enum Index {
        IVF,
        HNSW
    }

    /**
     * The result of the searches from one kind of thread.
     *
     * @param perSecond searches per second of each round
     * @param searches of all rounds
     * @param collections garbage collections during the searches, summed over all collectors
     * @param offHeapBytesPerSearch off-heap memory per search that is freed only by the garbage collector
     */
    public record Outcome(List<Double> perSecond, long searches, long collections, double offHeapBytesPerSearch) {
        private Outcome plus(Slice slice) {
            List<Double> rates = new ArrayList<>(perSecond);
            rates.add(slice.searches() * 1e9 / slice.nanos());
            return new Outcome(
                    rates, searches + slice.searches(), collections + slice.collections(), offHeapBytesPerSearch);
        }

        /** Garbage collections per million searches. */
        public double collectionsPerMillion() {
            return 1e6 * collections / searches;
        }
    }

    private record Slice(long searches, long nanos, long collections) {}

    @FunctionalInterface
    private interface Search {
        void of(float[] query);
    }

    /**
     * Builds both tables.
     *
     * @param topology the machine
     * @param rows per table
     */
    public CallerThreads(Topology topology, int rows) {
        this.orchestrator =
                Orchestrator.builder().recallShare(0).topology(topology).build();
        SplittableRandom random = new SplittableRandom(1);
        Mixture mixture = Mixture.of(CENTERS, DIMENSION, random);
        float[][] vectors = mixture.draw(rows, random);
        this.queries = mixture.draw(QUERIES, random);
        this.ivf = IvfTable.builder().name("ivf").build(orchestrator, vectors);
        this.hnsw = HnswTable.builder().name("hnsw").build(orchestrator, vectors);
    }

    /** Measures both kinds of threads on one index, after one unmeasured slice of each. */
    public Map<Kind, Outcome> run(Index index, int rounds, Duration slice) throws InterruptedException {
        Search search = switch (index) {
            case IVF -> query -> ivf.search(query, K).join();
            case HNSW -> query -> hnsw.search(query, K, EF).join();
        };
        Map<Kind, Outcome> outcomes = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            slice(kind, search, slice);
            outcomes.put(kind, new Outcome(List.of(), 0, 0, offHeapBytes(kind, search)));
        }
        List<Kind> order = List.of(Kind.values());
        for (int round = 0; round < rounds; round++) {
            for (Kind kind : round % 2 == 0 ? order : order.reversed()) {
                Slice measured = slice(kind, search, slice);
                outcomes.computeIfPresent(kind, (same, sum) -> sum.plus(measured));
            }
        }
        return outcomes;
    }

    private Slice slice(Kind kind, Search search, Duration time) throws InterruptedException {
        long collected = collections();
        long began = System.nanoTime();
        Calls calls = new Calls(kind, search, IN_FLIGHT, began + time.toNanos(), Long.MAX_VALUE);
        long searches = calls.run();
        return new Slice(searches, System.nanoTime() - began, collections() - collected);
    }

    private double offHeapBytes(Kind kind, Search search) throws InterruptedException {
        double[] perSearch = new double[WEIGHINGS];
        for (int i = 0; i < WEIGHINGS; i++) {
            long before = offHeapBytes();
            new Calls(kind, search, 1, Long.MAX_VALUE, WEIGHED).run();
            perSearch[i] = (double) (offHeapBytes() - before) / WEIGHED;
        }
        Arrays.sort(perSearch);
        return Math.max(0, perSearch[WEIGHINGS / 2]);
    }

    /** Memory that counts against {@code MaxDirectMemorySize}, including arenas. */
    private static long offHeapBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }

    /** Several chains of searches; in a chain each search begins when the previous one has ended. */
    private final class Calls {
        private final Kind kind;
        private final Search search;
        private final long end;
        private final long max;
        private final long[] searches;
        private final CountDownLatch running;
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        /**
         * @param end time from which no further search begins, by {@link System#nanoTime}; {@link Long#MAX_VALUE} for never
         * @param max maximum searches per chain
         */
        Calls(Kind kind, Search search, int chains, long end, long max) {
            this.kind = kind;
            this.search = search;
            this.end = end;
            this.max = max;
            this.searches = new long[chains];
            this.running = new CountDownLatch(chains);
        }

        /** Runs the chains; returns the number of searches. */
        long run() throws InterruptedException {
            for (int chain = 0; chain < searches.length; chain++) {
                start(chain);
            }
            running.await();
            Throwable thrown = failure.get();
            if (thrown != null) {
                throw new SearchFailedException(thrown);
            }
            return Arrays.stream(searches).sum();
        }

        private void start(int chain) {
            switch (kind) {
                case PLATFORM -> platform.execute(() -> callIn(chain));
                case VIRTUAL -> Thread.startVirtualThread(() -> callIn(chain));
            }
        }

        /** A chain's count is written by one thread at a time: the next thread starts after the last write. */
        private void callIn(int chain) {
            boolean goesOn;
            try {
                do {
                    search.of(queries[(int) ((searches[chain] * IN_FLIGHT + chain) % QUERIES)]);
                    searches[chain]++;
                    goesOn = searches[chain] < max && (end == Long.MAX_VALUE || System.nanoTime() < end);
                } while (goesOn && kind == Kind.PLATFORM);
                if (goesOn) {
                    start(chain);
                    return;
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
            running.countDown();
        }
    }

    @Override
    public void close() {
        platform.close();
        orchestrator.close();
    }
}
