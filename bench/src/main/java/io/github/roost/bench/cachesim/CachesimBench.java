package io.github.roost.bench.cachesim;

import io.github.roost.bench.Provenance;
import io.github.roost.bench.cachesim.SavedTables.Index;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.simulator.Policy;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Question: how many L3 misses do homes save on a machine with several L3s? The scheduler, the mapper and the kernels are the real ones; an emulator
 * models the caches beneath them. The schedulings alternate; every run is a JVM of its own.
 */
@Command(
        name = "cachesim",
        description =
                "L3 misses per search under scheduling policies, on modelled caches: counted by QEMU, not measured.")
public final class CachesimBench implements Callable<Integer> {
    private static final int MAX = 1_000_000_000;
    /**
     * Short windows of the mapper in the warm-up: two long ones. They have as few searches as that leaves them, and fewer would say less about the
     * tables' traffic.
     */
    private static final int WINDOWS_OF_WARM_UP = 12;

    private static final int DEFAULT_WINDOW_MILLIS = 1_000;

    @Option(
            names = "--policy",
            split = ",",
            paramLabel = "P,P,..",
            description = "Of v0, v1, v2, v2-gated, roost, forkjoin; default all. The first is the baseline.")
    private List<String> policies = List.of("v1", "v0", "v2", "v2-gated", "roost", GuestRun.FORK_JOIN);

    @Option(names = "--index", split = ",", paramLabel = "I,I,..", description = "Of hnsw, ivf, both; default hnsw.")
    private List<Index> indexes = List.of(Index.HNSW);

    private final @Mixin NumberOption tables = NumberOption.tables(24);
    private final @Mixin NumberOption rows = NumberOption.rows(8_000, 1, 1_000_000);

    @Option(names = "--domains", split = ",", paramLabel = "N,N,..", description = "Domains, from 2 to 31; default 4.")
    private List<Integer> domains = List.of(4);

    @Option(names = "--workers", paramLabel = "N", description = "Workers per domain; default ${DEFAULT-VALUE}.")
    private int workers = 2;

    @Option(names = "--private-kib", paramLabel = "N", description = "Cache per worker; default ${DEFAULT-VALUE}.")
    private int privateKib = 256;

    @Option(names = "--private-ways", paramLabel = "N", description = "Its ways; default ${DEFAULT-VALUE}.")
    private int privateWays = 8;

    @Option(
            names = "--l3-kib",
            split = ",",
            paramLabel = "N,N,..",
            description =
                    "L3 per domain, all sizes at once. Roost is told the first, and divides HNSW tables that are larger;"
                            + " default 2048,8192,32768.")
    private List<Integer> l3Kib = List.of(2_048, 8_192, 32_768);

    @Option(names = "--l3-ways", paramLabel = "N", description = "Its ways; default ${DEFAULT-VALUE}.")
    private int l3Ways = 16;

    @Option(names = "--line", paramLabel = "N", description = "Bytes per cache line; default ${DEFAULT-VALUE}.")
    private int line = 64;

    @Option(
            names = "--pace",
            split = ",",
            paramLabel = "N,N,..",
            description = "References a worker may be ahead of the slowest, 0: any; default 20000.")
    private List<Integer> paces = List.of(20_000);

    @Option(
            names = "--gate-micros",
            split = ",",
            paramLabel = "N,N,..",
            description =
                    "Age from which a task may cross domains under roost, on a machine that is not emulated: it is"
                            + " multiplied by the slowdown, which is measured; default 20, Roost's own.")
    private List<Integer> gates = List.of((int) (CrossDomainGate.DEFAULT.ageNanos() / 1_000));

    @Option(names = "--searches", paramLabel = "N", description = "Counted searches; default ${DEFAULT-VALUE}.")
    private int searches = 4_000;

    @Option(names = "--warm-up", paramLabel = "N", description = "Searches before them; default ${DEFAULT-VALUE}.")
    private int warmUp = 4_000;

    @Option(
            names = "--drift",
            split = ",",
            paramLabel = "N,N,..",
            description = "Searches after which a hot and a cold table swap their popularity, 0: never; default 0.")
    private List<Integer> drifts = List.of(0);

    private final @Mixin NumberOption rounds = NumberOption.rounds(2, 100);

    @Option(
            names = "--simulate",
            description = "Also the misses that the simulator expects, of HNSW tables that are not divided.")
    private boolean simulate;

    @Option(
            names = "--page",
            paramLabel = "FILE.md",
            description =
                    "Also write the tables as Markdown, with every count as FILE.json and pictures as FILE-N.svg.")
    private @Nullable Path page;

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    private final @Mixin JsonOutput output = new JsonOutput();

    /**
     * A machine and a load.
     *
     * @param index type of the tables
     * @param domains of the machine
     * @param drift searches between two swaps
     * @param pace limit of the plugin
     * @param gateMicros age of Roost's gate, on a machine that is not emulated
     */
    record Case(Index index, int domains, int drift, int pace, int gateMicros) {
        @Override
        public String toString() {
            return "%s, %d domains, %s, pace %d, gate %d us"
                    .formatted(
                            Options.name(index),
                            domains,
                            drift == 0 ? "stationary" : "drift every " + drift,
                            pace,
                            gateMicros);
        }
    }

    @Override
    public Integer call() throws Exception {
        check();
        List<Outcome> outcomes = new ArrayList<>();
        for (Index index : indexes) {
            try (TemporaryFolder folder = new TemporaryFolder("roost-cachesim")) {
                output.progress("building %d tables".formatted(tables.value()));
                SavedTables saved = SavedTables.build(folder.path(), index, tables.value(), rows.value());
                for (Case each : cases(index)) {
                    Outcome outcome = run(saved, each);
                    output.line(outcome.text() + "\n");
                    outcomes.add(outcome);
                    if (page != null) {
                        MissesPage.write(page, new MissesPage.Run(command(), machine(), outcomes));
                    }
                }
            }
        }
        output.print(outcomes);
        return 0;
    }

    private void check() {
        if (page != null && !page.toString().endsWith(".md")) {
            throw new CommandFailure("--page must name a file that ends in .md, got " + page);
        }
        NumberOption.check(tables, rows, rounds);
        domains.forEach(value -> Options.require("--domains", value, 2, 31));
        paces.forEach(value -> Options.require("--pace", value, 0, MAX));
        gates.forEach(value -> Options.require("--gate-micros", value, 0, MAX));
        drifts.forEach(value -> Options.require("--drift", value, 0, MAX));
        Options.require("--workers", workers, 1, 8);
        Options.require("--searches", searches, 1, 1_000_000);
        Options.require("--warm-up", warmUp, 0, 1_000_000);
        policies.stream().filter(name -> !name.equals(GuestRun.FORK_JOIN)).forEach(Policy::parse);
        if (simulate
                && (!indexes.equals(List.of(Index.HNSW)) || policies.getFirst().equals(GuestRun.FORK_JOIN))) {
            throw new CommandFailure(
                    "--simulate needs --index hnsw and another first policy than forkjoin, got %s and %s"
                            .formatted(indexes, policies.getFirst()));
        }
    }

    private List<Case> cases(Index index) {
        List<Case> cases = new ArrayList<>();
        for (int machine : domains) {
            for (int drift : drifts) {
                for (int pace : paces) {
                    gates.forEach(gate -> cases.add(new Case(index, machine, drift, pace, gate)));
                }
            }
        }
        return cases;
    }

    /** Runs all policies in turns, in reversed order every other round. */
    private Outcome run(SavedTables saved, Case each) throws IOException, InterruptedException {
        saved.drawSearches(warmUp + searches, each.drift());
        List<Long> sizes = l3Kib.stream().map(kib -> kib * 1024L).toList();
        CacheModel model = new CacheModel(privateKib * 1024L, privateWays, sizes, l3Ways, line, each.pace());
        GuestJvm guest = new GuestJvm(saved, model);
        output.progress("measuring the slowdown of " + each);
        GuestRun many = guestRun(saved, each, "v1", 0, DEFAULT_WINDOW_MILLIS);
        GuestJvm.Pace pace = guest.pace(many.ofSearches(warmUp / 2, Math.max(1, searches / 4)), many);
        int gate = (int) Math.min(MAX, Math.round(each.gateMicros() * pace.factor()));
        int window = warmUp == 0
                ? DEFAULT_WINDOW_MILLIS
                : (int) Math.clamp(pace.microsPerSearch() * warmUp / WINDOWS_OF_WARM_UP / 1_000, 100, 3_600_000);
        Map<String, List<GuestJvm.Counted>> runs = new LinkedHashMap<>();
        policies.forEach(policy -> runs.put(policy, new ArrayList<>()));
        for (int round = 0; round < rounds.value(); round++) {
            for (String policy : round % 2 == 0 ? policies : policies.reversed()) {
                output.progress("round %d of %s: %s".formatted(round + 1, each, policy));
                runs.computeIfAbsent(policy, none -> new ArrayList<>())
                        .add(guest.run(guestRun(saved, each, policy, gate, window)));
            }
        }
        String name = "%s, tasks %d times as long".formatted(each, Math.round(pace.factor()));
        Map<String, List<Double>> simulated =
                simulate ? new Prediction(saved, model, many, each.drift()).misses(policies) : Map.of();
        return new Outcome(name, each.domains(), saved.bytes(), searches, runs, simulated);
    }

    private GuestRun guestRun(SavedTables saved, Case each, String policy, int gateMicros, int windowMillis) {
        return new GuestRun(
                saved.folder(),
                policy,
                each.domains(),
                workers,
                l3Kib.getFirst() * 1024L,
                warmUp,
                searches,
                4 * each.domains() * workers,
                gateMicros,
                windowMillis);
    }

    /** As typed, without the page. */
    private String command() {
        List<String> words =
                new ArrayList<>(spec.root().commandLine().getParseResult().originalArgs());
        words.removeIf(word -> word.startsWith("--page="));
        int at = words.indexOf("--page");
        if (at >= 0) {
            words.subList(at, at + 2).clear();
        }
        return "./roost " + String.join(" ", words);
    }

    private static String machine() throws IOException {
        return Provenance.here(RoostHome.checkout(), TopologyReader.live().read(), Map.of())
                .inWords();
    }
}
