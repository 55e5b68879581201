package io.github.roost.cli;

import io.github.roost.bench.ivf.IvfBench;
import io.github.roost.bench.ivf.IvfBench.KernelLimit;
import io.github.roost.bench.ivf.IvfBench.Point;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.PeerPython;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench ivf}: an IVF table, compared with FAISS. */
@Command(
        name = "ivf",
        description =
                "Searches per second, and latency without load, of an IVF table, compared with FAISS's IndexIVFFlat.")
final class IvfBenchCommand implements Callable<Integer> {
    /** The element type of the lists. */
    enum Element {
        float32,
        float16,
        int8
    }

    /** Compared libraries. */
    enum Peer {
        faiss,
        none
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final IvfDataOptions data = new IvfDataOptions();

    @Option(
            names = "--nprobe",
            paramLabel = "N",
            split = ",",
            description = "Lists per search; default 16,32; for the mixture 8,32.")
    private List<Integer> nprobe = List.of();

    @Option(
            names = "--k",
            paramLabel = "N",
            split = ",",
            description = "Neighbours per query; default 10,100; for the mixture 100.")
    private List<Integer> ks = List.of();

    @Option(names = "--in-flight", paramLabel = "N", split = ",", description = "Searches in flight; default 64,256.")
    private List<Integer> inFlight = List.of(64, 256);

    @Option(
            names = "--element",
            paramLabel = "float32|float16|int8",
            split = ",",
            description =
                    "More tables to measure: float32 (no codes), float16, int8 (codes, best candidates compared by"
                            + " floats); default none.")
    private List<Element> elements = List.of();

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of both; default 3.")
    private int rounds = 3;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per point and round; default 500.")
    private int sliceMillis = 500;

    @Option(names = "--peer", paramLabel = "faiss|none", description = "none leaves out FAISS, which needs Python.")
    private Peer peer = Peer.faiss;

    @Option(
            names = "--kernel",
            paramLabel = "NAME",
            description =
                    "Kernel that scans Roost's lists: avx512, avx2, neon, vector, portable or java; default the fastest.")
    private @Nullable String kernel;

    @Mixin
    private final JsonOption json;

    IvfBenchCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        nprobe = nprobe.isEmpty() ? (data.mixture() ? List.of(8, 32) : List.of(16, 32)) : nprobe;
        ks = ks.isEmpty() ? (data.mixture() ? List.of(100) : List.of(10, 100)) : ks;
        check();
        if (kernel == null) {
            measure();
            return 0;
        }
        String before = System.setProperty(IvfTable.KERNEL_PROPERTY, kernel);
        try {
            measure();
        } finally {
            if (before == null) {
                System.clearProperty(IvfTable.KERNEL_PROPERTY);
            } else {
                System.setProperty(IvfTable.KERNEL_PROPERTY, before);
            }
        }
        return 0;
    }

    private void measure() throws Exception {
        Workload workload = data.workload();
        Path home = Path.of(System.getProperty("roost.home", "."));
        Path python = peer == Peer.none
                ? null
                : PeerPython.prepare(home.resolve("bench/target/peers/faiss"), PeerPython.FAISS);
        List<Map<String, Object>> results = new ArrayList<>();
        List<ElementType> beside = elements.stream()
                .distinct()
                .map(element -> ElementType.valueOf(element.name().toUpperCase(Locale.ROOT)))
                .toList();
        Duration slice = Duration.ofMillis(sliceMillis);
        try (IvfBench bench = new IvfBench(workload, TopologyReader.live().read(), data.nlist(), beside, python)) {
            json.line("%s, nlist %d; build %.1f s%s, FAISS %.1f s"
                    .formatted(
                            workload.name(),
                            data.nlist(),
                            bench.buildSeconds().getFirst(),
                            otherBuilds(bench),
                            bench.faissBuildSeconds()));
            KernelLimit limit = bench.kernelLimit(rounds, slice);
            json.line("kernel %s: %.0f M pairs/s (%.0f to %.0f) with full groups and long lists"
                    .formatted(
                            limit.kernel(),
                            limit.pairsPerSecond().median() / 1e6,
                            limit.pairsPerSecond().least() / 1e6,
                            limit.pairsPerSecond().most() / 1e6));
            json.line("   k nprobe  engine in flight  recall  searches/s: median (min to max)     M pairs/s"
                    + " single: p50 us   p999 us");
            for (int k : ks) {
                for (int probes : nprobe) {
                    for (Point point : bench.measure(k, probes, inFlight, rounds, slice)) {
                        print(k, probes, point);
                        results.add(Map.of("k", k, "nprobe", probes, "point", point));
                    }
                }
            }
            json.print(Map.of(
                    "workload",
                    workload.name(),
                    "nlist",
                    data.nlist(),
                    "buildSeconds",
                    bench.buildSeconds(),
                    "faissBuildSeconds",
                    bench.faissBuildSeconds(),
                    "kernelLimit",
                    limit,
                    "points",
                    results));
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
    }

    private String otherBuilds(IvfBench bench) {
        List<Element> others = elements.stream().distinct().toList();
        return IntStream.range(0, others.size())
                .mapToObj(i -> ", %s %.1f s"
                        .formatted(others.get(i), bench.buildSeconds().get(i + 1)))
                .collect(Collectors.joining());
    }

    private void check() {
        data.check();
        nprobe.forEach(probes -> BenchCommand.require("--nprobe", probes, 1, data.nlist()));
        ks.forEach(k -> BenchCommand.require("--k", k, 1, 10_000));
        inFlight.forEach(number -> BenchCommand.require("--in-flight", number, 1, 1_000_000));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
    }

    private void print(int k, int probes, Point point) {
        json.line("%4d %6d %7s %9d  %6.3f  %10.0f (%.0f to %.0f)   %18.0f   %12.0f %9.0f"
                .formatted(
                        k,
                        probes,
                        point.engine(),
                        point.inFlight(),
                        point.recall(),
                        point.perSecond().median(),
                        point.perSecond().least(),
                        point.perSecond().most(),
                        point.pairsPerSecond() / 1e6,
                        point.loneP50().median(),
                        point.loneP999().median()));
    }
}
