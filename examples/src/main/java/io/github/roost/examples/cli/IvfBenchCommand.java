package io.github.roost.examples.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.ivf.IvfBench;
import io.github.roost.bench.ivf.IvfBench.Point;
import io.github.roost.bench.packages.DebianPackages;
import io.github.roost.bench.peer.PeerPython;
import io.github.roost.bench.peer.Workload;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench ivf}: an IVF table beside FAISS. */
@Command(name = "ivf", description = "Searches a second and lone latency of an IVF table, beside FAISS's IndexIVFFlat.")
final class IvfBenchCommand implements Callable<Integer> {
    private static final int QUERIES = 1_000;

    private final Streams streams;

    /** The data to search. */
    enum Data {
        packages,
        mixture
    }

    /** What the lists are of. */
    enum Element {
        float32,
        int8
    }

    /** What stands beside Roost. */
    enum Peer {
        faiss,
        none
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--data",
            paramLabel = "packages|mixture",
            description = "Debian's packages (the default), or a mixture of Gaussians.")
    private Data data = Data.packages;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the mixture; default 1000000.")
    private int rows = 1_000_000;

    @Option(names = "--nlist", paramLabel = "N", description = "Lists; default 256, of the mixture 1024.")
    private int nlist;

    @Option(names = "--nprobe", paramLabel = "N", split = ",", description = "Default 16,32; of the mixture 8,32.")
    private List<Integer> nprobe = List.of();

    @Option(names = "--k", paramLabel = "N", split = ",", description = "Default 10,100; of the mixture 100.")
    private List<Integer> ks = List.of();

    @Option(names = "--in-flight", paramLabel = "N", split = ",", description = "Searches under way; default 64,256.")
    private List<Integer> inFlight = List.of(64, 256);

    @Option(
            names = "--element",
            paramLabel = "float32|int8",
            description = "int8 measures a table of bytes, floats kept, beside the one of floats; default float32.")
    private Element element = Element.float32;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of both; default 3.")
    private int rounds = 3;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time of each point in a round; default 500.")
    private int sliceMillis = 500;

    @Option(names = "--peer", paramLabel = "faiss|none", description = "none leaves FAISS, which needs Python, out.")
    private Peer peer = Peer.faiss;

    @Option(names = "--json", description = "Every figure as JSON instead of a table.")
    private boolean json;

    IvfBenchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        boolean mixture = data == Data.mixture;
        nlist = nlist == 0 ? (mixture ? 1_024 : 256) : nlist;
        nprobe = nprobe.isEmpty() ? (mixture ? List.of(8, 32) : List.of(16, 32)) : nprobe;
        ks = ks.isEmpty() ? (mixture ? List.of(100) : List.of(10, 100)) : ks;
        check();
        Path home = Path.of(System.getProperty("roost.home", "."));
        Workload workload = workload(home);
        Path python = peer == Peer.none
                ? null
                : PeerPython.prepare(home.resolve("bench/target/peers/faiss"), PeerPython.FAISS);
        List<Map<String, Object>> results = new ArrayList<>();
        boolean int8 = element == Element.int8;
        try (IvfBench bench = new IvfBench(workload, TopologyReader.live().read(), nlist, int8, python)) {
            if (!json) {
                streams.out()
                        .println("%s, nlist %d; build %.1f s%s, FAISS %.1f s"
                                .formatted(
                                        workload.name(),
                                        nlist,
                                        bench.buildSeconds().getFirst(),
                                        int8
                                                ? ", int8 %.1f s"
                                                        .formatted(bench.buildSeconds()
                                                                .getLast())
                                                : "",
                                        bench.faissBuildSeconds()));
                streams.out()
                        .println(
                                "   k nprobe  engine in flight  recall  searches/s: median (least to most)   lone: p50 us"
                                        + "   p999 us");
            }
            for (int k : ks) {
                for (int probes : nprobe) {
                    for (Point point : bench.measure(k, probes, inFlight, rounds, Duration.ofMillis(sliceMillis))) {
                        print(k, probes, point);
                        results.add(Map.of("k", k, "nprobe", probes, "point", point));
                    }
                }
            }
        }
        if (json) {
            streams.out()
                    .println(new ObjectMapper()
                            .writerWithDefaultPrettyPrinter()
                            .writeValueAsString(
                                    Map.of("workload", workload.name(), "nlist", nlist, "points", results)));
        }
        return 0;
    }

    private void check() {
        BenchCommand.require("--rows", rows, 1_000, 10_000_000);
        BenchCommand.require("--nlist", nlist, 1, 131_072);
        nprobe.forEach(probes -> BenchCommand.require("--nprobe", probes, 1, nlist));
        ks.forEach(k -> BenchCommand.require("--k", k, 1, 10_000));
        inFlight.forEach(number -> BenchCommand.require("--in-flight", number, 1, 1_000_000));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
    }

    private Workload workload(Path home) throws IOException {
        if (data == Data.mixture) {
            return Workload.mixture(rows, QUERIES, 128, 1_000, 42);
        }
        DebianPackages packages = DebianPackages.read(home.resolve("examples/data/debian-packages"));
        float[][] queries = Stream.concat(packages.queries().stream(), packages.phrases().stream())
                .limit(QUERIES)
                .map(DebianPackages.Query::vector)
                .toArray(float[][]::new);
        String name = "%,d x %d Debian packages".formatted(packages.vectors().length, DebianPackages.DIMENSION);
        return new Workload(name, packages.vectors(), queries);
    }

    private void print(int k, int probes, Point point) {
        if (!json) {
            streams.out()
                    .println("%4d %6d %7s %9d  %6.3f  %10.0f (%.0f to %.0f)   %22.0f %9.0f"
                            .formatted(
                                    k,
                                    probes,
                                    point.engine(),
                                    point.inFlight(),
                                    point.recall(),
                                    point.perSecond().median(),
                                    point.perSecond().least(),
                                    point.perSecond().most(),
                                    point.loneP50().median(),
                                    point.loneP999().median()));
        }
    }
}
