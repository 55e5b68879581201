package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Registration;
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
 * Question: does a remap delay searches? Windows come in threes: in the first one the hot tables share a home, the
 * second one begins with the remap that separates them, in the third one nothing changes. The latencies of the second
 * window are compared with the third.
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
     * @param topology the machine, with at least two domains, so that tables can move
     * @param ids number of mapping ids, the size of the mapping
     * @param window duration of each window
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
     * @param withRemap in windows that began with a remap
     * @param remaps number of those windows
     * @param without in comparable windows without a remap
     * @param others number of those windows
     */
    public record Outcome(Histogram withRemap, int remaps, Histogram without, int others) {}

    /** Runs {@code times} times three windows. */
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
            // The first three windows are the warm-up for the JIT.
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

    /** Tables that share a home; there are enough tables that some domain has enough of them. */
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
