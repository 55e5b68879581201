package io.github.roost.cli;

import io.github.roost.bench.ivf.FanOutBench;
import io.github.roost.bench.ivf.FanOutBench.Result;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench fan-out}: the overhead of probing many lists, beyond the scans themselves. */
@Command(
        name = "fan-out",
        description = "Time of a single search of many lists on one worker, relative to the sum of its scans.")
final class FanOutCommand implements Callable<Integer> {
    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final IvfDataOptions data = new IvfDataOptions();

    @Option(names = "--nprobe", paramLabel = "N", split = ",", description = "Lists per search; default 8,32,128.")
    private List<Integer> nprobe = List.of(8, 32, 128);

    @Option(names = "--k", paramLabel = "N", description = "Neighbours per query; default 10.")
    private int k = 10;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of both tables; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per table and round; default 500.")
    private int sliceMillis = 500;

    @Mixin
    private final JsonOption json;

    FanOutCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        data.check();
        nprobe.forEach(probes -> BenchCommand.require("--nprobe", probes, 1, data.nlist()));
        BenchCommand.require("--k", k, 1, 10_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        Workload workload = data.workload();
        List<Result> results = new ArrayList<>();
        try (FanOutBench bench = new FanOutBench(workload, TopologyReader.live().read(), data.nlist())) {
            json.line("%s, nlist %d, k %d, one worker".formatted(workload.name(), data.nlist(), k));
            json.line("nprobe     rows  search us: median (min to max)     sum of its scans us                 ratio");
            for (int probes : nprobe) {
                Result result = bench.measure(k, probes, rounds, Duration.ofMillis(sliceMillis));
                results.add(result);
                json.line("%6d %8.0f  %27s %26s %21s"
                        .formatted(
                                probes,
                                result.rows(),
                                spread(result.searchUs(), "%.0f (%.0f to %.0f)"),
                                spread(result.scansUs(), "%.0f (%.0f to %.0f)"),
                                spread(result.ratio(), "%.2f (%.2f to %.2f)")));
            }
        }
        json.print(Map.of("workload", workload.name(), "nlist", data.nlist(), "k", k, "results", results));
        return 0;
    }

    private static String spread(Samples samples, String format) {
        return format.formatted(samples.median(), samples.least(), samples.most());
    }
}
