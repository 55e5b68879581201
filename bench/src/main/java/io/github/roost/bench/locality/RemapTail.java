package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.task.Registration;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Question: do searches feel a remap? Windows come in threes: in the first the tables that are hot share a home, the
 * second begins with the remap that parts them, in the third nothing changes. The latencies of the second stand beside
 * those of the third.
 */
public final class RemapTail {
    private static final long LONGEST_NANOS = 10_000_000_000L;
    private static final int TABLE_BYTES = 64 << 10;
    private static final int HOT_TABLES = 4;
    private static final int CHAINS = 2;

    private final Topology topology;
    private final int ids;
    private final Duration window;

    /**
     * @param topology the machine, cut into at least two domains, or nothing can move
     * @param ids how many mapping ids there are, so how large the mapping is
     * @param window how long each window lasts
     */
    public RemapTail(Topology topology, int ids, Duration window) {
        if (topology.domains().size() < 2) {
            throw new IllegalArgumentException("there must be at least 2 cache domains to remap, got "
                    + topology.domains().size() + " by level " + topology.level());
        }
        this.topology = topology;
        this.ids = ids;
        this.window = window;
    }

    /**
     * Latencies in nanoseconds.
     *
     * @param withRemap of windows that began with a remap
     * @param remaps how many those were
     * @param without of windows alike that did not
     * @param others how many these were
     */
    public record Outcome(Histogram withRemap, int remaps, Histogram without, int others) {}

    /** Runs as many times three windows. */
    public Outcome run(int times) {
        Histogram withRemap = new Histogram(LONGEST_NANOS, 3);
        Histogram without = new Histogram(LONGEST_NANOS, 3);
        int remaps = 0;
        int others = 0;
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(topology)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .windows(Duration.ofHours(1), Duration.ofHours(1))
                .build()) {
            int domains = topology.domains().size();
            orchestrator.register("many", Math.max(1, ids - HOT_TABLES * domains));
            List<Registration> tables = new ArrayList<>();
            for (int table = 0; table < HOT_TABLES * domains; table++) {
                tables.add(orchestrator.register("table-" + table));
            }
            List<Registration> hot = List.of();
            // The first three windows are for the compiler.
            for (int number = -3; number < 3 * times; number++) {
                boolean remapped = orchestrator.indexing().endWindow();
                boolean first = Math.floorMod(number, 3) == 0;
                hot = first ? neighbours(orchestrator, tables) : hot;
                Histogram latencies = oneWindow(orchestrator, hot);
                if (number >= 0 && !first) {
                    (remapped ? withRemap : without).add(latencies);
                    remaps += remapped ? 1 : 0;
                    others += remapped ? 0 : 1;
                }
            }
        }
        return new Outcome(withRemap, remaps, without, others);
    }

    /** Tables that share a home; there are so many tables that somewhere enough do. */
    private static List<Registration> neighbours(Orchestrator orchestrator, List<Registration> tables) {
        return tables.stream().collect(Collectors.groupingBy(table -> orchestrator.homes(table.id()))).values().stream()
                .max(Comparator.comparingInt(List::size))
                .orElseThrow()
                .stream()
                .limit(HOT_TABLES)
                .toList();
    }

    private Histogram oneWindow(Orchestrator orchestrator, List<Registration> hot) {
        Recorder recorder = new Recorder(LONGEST_NANOS, 3);
        long end = System.nanoTime() + window.toNanos();
        List<CompletableFuture<Void>> chains = new ArrayList<>();
        for (Registration table : hot) {
            TableLoad load = new TableLoad(orchestrator, table, TABLE_BYTES, end, recorder::recordValue);
            for (int chain = 0; chain < CHAINS; chain++) {
                chains.add(load.start(chain));
            }
        }
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
        chains.forEach(CompletableFuture::join);
        return recorder.getIntervalHistogram();
    }
}
