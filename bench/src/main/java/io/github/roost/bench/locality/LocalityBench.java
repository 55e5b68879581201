package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Registration;
import io.github.roost.core.Scheduling;
import io.github.roost.core.SearchContext;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Question: how many more searches a second does a table's home bring, where a table fits the cache of a domain and two
 * do not? One table a domain; a search reads random rows of its table. The three schedulings take turns in one process,
 * forwards and backwards (V0 V1 V2 V2 V1 V0), so that drift of the machine falls on all of them alike; the baseline is V0
 * of the same round.
 */
public final class LocalityBench {
    private static final int ROW_FLOATS = 128;
    private static final int ROWS_PER_SEARCH = 400;
    /** Searches of each table that are on their way at any time. */
    private static final int IN_FLIGHT = 4;

    private final Topology topology;
    private final int tableBytes;
    private final Duration slice;

    /**
     * @param topology the machine, cut into at least two domains
     * @param tableBytes size of each table
     * @param slice how long each scheduling runs at a time
     */
    public LocalityBench(Topology topology, int tableBytes, Duration slice) {
        if (topology.domains().size() < 2) {
            throw new IllegalArgumentException("there must be at least 2 cache domains to compare, got "
                    + topology.domains().size() + " by level " + topology.level());
        }
        this.topology = topology;
        this.tableBytes = tableBytes;
        this.slice = slice;
    }

    /** Searches a second of every round, by scheduling. */
    public Map<Scheduling, List<Double>> run(int rounds) {
        Map<Scheduling, List<Double>> results = new EnumMap<>(Scheduling.class);
        List<Scheduling> order = List.of(Scheduling.V0, Scheduling.V1, Scheduling.V2);
        // Once each unmeasured, for the compiler.
        order.forEach(this::searchesPerSecond);
        for (int round = 0; round < rounds; round++) {
            for (Scheduling scheduling : round % 2 == 0 ? order : order.reversed()) {
                results.computeIfAbsent(scheduling, none -> new ArrayList<>()).add(searchesPerSecond(scheduling));
            }
        }
        return results;
    }

    private double searchesPerSecond(Scheduling scheduling) {
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(topology)
                .scheduling(scheduling)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build()) {
            AtomicLong searches = new AtomicLong();
            long begin = System.nanoTime();
            long end = begin + slice.toNanos();
            List<CompletableFuture<Void>> chains = new ArrayList<>();
            for (int table = 0; table < topology.domains().size(); table++) {
                Chain chain = new Chain(orchestrator, orchestrator.register("table-" + table), end, searches);
                for (int i = 0; i < IN_FLIGHT; i++) {
                    chains.add(chain.start(31L * table + i));
                }
            }
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
            chains.forEach(CompletableFuture::join);
            return searches.get() * 1e9 / (System.nanoTime() - begin);
        }
    }

    /** Searches of one table, each followed by the next from the worker that ran it, so that no driver takes a core. */
    private final class Chain {
        private final Orchestrator orchestrator;
        private final Registration registration;
        private final long end;
        private final AtomicLong searches;
        private final float[] table = new float[tableBytes / Float.BYTES / ROW_FLOATS * ROW_FLOATS];

        Chain(Orchestrator orchestrator, Registration registration, long end, AtomicLong searches) {
            this.orchestrator = orchestrator;
            this.registration = registration;
            this.end = end;
            this.searches = searches;
            Arrays.fill(table, 1f);
        }

        CompletableFuture<Void> start(long seed) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            next(seed, done);
            return done;
        }

        private void next(long seed, CompletableFuture<Void> done) {
            orchestrator.submit(this::search, seed, registration.id()).whenComplete((sum, failure) -> {
                if (failure != null) {
                    done.completeExceptionally(failure);
                } else if (System.nanoTime() >= end) {
                    done.complete(null);
                } else {
                    searches.incrementAndGet();
                    next(seed + 1_000, done);
                }
            });
        }

        private double search(long seed, SearchContext context) {
            SplittableRandom random = new SplittableRandom(seed);
            int rows = table.length / ROW_FLOATS;
            double sum = 0;
            for (int i = 0; i < ROWS_PER_SEARCH; i++) {
                sum += squares(random.nextInt(rows) * ROW_FLOATS);
            }
            context.touched(ROWS_PER_SEARCH, (long) ROWS_PER_SEARCH * ROW_FLOATS * Float.BYTES);
            return sum;
        }

        /** Reads each cache line of a row once: the reads and not the additions are to set the pace. */
        private double squares(int base) {
            float a = 0;
            float b = 0;
            float c = 0;
            float d = 0;
            for (int i = base; i < base + ROW_FLOATS; i += 16) {
                a += table[i];
                b += table[i + 4];
                c += table[i + 8];
                d += table[i + 12];
            }
            return a + b + c + d;
        }
    }
}
