package io.github.roost.bench.scheduling;

import io.github.roost.bench.Mixture;
import io.github.roost.bench.SearchFailedException;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
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
 * Question: what throughput is left, and what has to be collected, when each search comes from a virtual thread of its own?
 * Baseline: platform threads, as many as there are searches in flight, each of which searches again and again. Both wait for one
 * search at a time, take turns on the same tables in one JVM, forwards and backwards, and look for the same rows.
 */
public final class CallerThreads implements AutoCloseable {
    /** Searches in flight, and platform threads. */
    public static final int IN_FLIGHT = 8;

    private static final int DIMENSION = 64;
    private static final int CENTRES = 100;
    private static final int QUERIES = 1_024;
    private static final int K = 10;
    private static final int EF = 64;
    /** Searches of which the memory is weighed together. */
    private static final int WEIGHED = 200;
    /** Collections may happen while memory is weighed, and free some: the middle one of several counts. */
    private static final int WEIGHINGS = 5;

    private final ExecutorService platform = Executors.newFixedThreadPool(IN_FLIGHT);
    private final Orchestrator orchestrator;
    private final HnswTable hnsw;
    private final IvfTable ivf;
    private final float[][] queries;

    /** Which threads call. */
    public enum Kind {
        /** Always the same, one for each search in flight. */
        PLATFORM,
        /** A new one for each search. */
        VIRTUAL
    }

    /** What is searched. */
    public enum Index {
        IVF,
        HNSW
    }

    /**
     * What the searches from one kind of threads did.
     *
     * @param perSecond searches per second of each round
     * @param searches of all rounds
     * @param collections of garbage while they ran, all collectors together
     * @param offHeapBytesPerSearch memory outside the heap that a search leaves to the garbage collector
     */
    public record Outcome(List<Double> perSecond, long searches, long collections, double offHeapBytesPerSearch) {
        private Outcome plus(Slice slice) {
            List<Double> rates = new ArrayList<>(perSecond);
            rates.add(slice.searches() * 1e9 / slice.nanos());
            return new Outcome(
                    rates, searches + slice.searches(), collections + slice.collections(), offHeapBytesPerSearch);
        }

        /** Collections for a million searches. */
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
     * @param rows of each table
     */
    public CallerThreads(Topology topology, int rows) {
        this.orchestrator = Orchestrator.builder().topology(topology).build();
        SplittableRandom random = new SplittableRandom(1);
        Mixture mixture = Mixture.of(CENTRES, DIMENSION, random);
        float[][] vectors = mixture.draw(rows, random);
        this.queries = mixture.draw(QUERIES, random);
        this.ivf = IvfTable.builder().name("ivf").build(orchestrator, vectors);
        this.hnsw = HnswTable.builder().name("hnsw").build(orchestrator, vectors);
    }

    /** Measures both kinds of threads on one index, after a slice of each that does not count. */
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

    /** What counts against {@code MaxDirectMemorySize}, that of arenas included. */
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

    /** Several chains of searches, in each of which one begins when the one before has ended. */
    private final class Calls {
        private final Kind kind;
        private final Search search;
        private final long end;
        private final long most;
        private final long[] searches;
        private final CountDownLatch running;
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        /**
         * @param end when no further search begins, by {@link System#nanoTime}; {@link Long#MAX_VALUE} for never
         * @param most searches of a chain
         */
        Calls(Kind kind, Search search, int chains, long end, long most) {
            this.kind = kind;
            this.search = search;
            this.end = end;
            this.most = most;
            this.searches = new long[chains];
            this.running = new CountDownLatch(chains);
        }

        /** How many searches there were. */
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

        /** A chain's count is written by one thread at a time: the next one starts after the last write. */
        private void callIn(int chain) {
            boolean goesOn;
            try {
                do {
                    search.of(queries[(int) ((searches[chain] * IN_FLIGHT + chain) % QUERIES)]);
                    searches[chain]++;
                    goesOn = searches[chain] < most && (end == Long.MAX_VALUE || System.nanoTime() < end);
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
