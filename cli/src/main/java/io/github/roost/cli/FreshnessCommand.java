package io.github.roost.cli;

import io.github.roost.bench.ivf.FreshnessBench;
import io.github.roost.bench.ivf.FreshnessBench.Load;
import io.github.roost.bench.ivf.FreshnessBench.Result;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench freshness}: adds rows to an IVF table while it is searched. */
@Command(
        name = "freshness",
        description =
                "Time to add a row to an IVF table while searches saturate the workers, and the effect of adds on searches.")
final class FreshnessCommand implements Callable<Integer> {
    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final IvfDataOptions data = new IvfDataOptions();

    @Option(names = "--nprobe", paramLabel = "N", description = "Lists per search; default 8.")
    private int nprobe = 8;

    @Option(names = "--k", paramLabel = "N", description = "Neighbours per query; default 10.")
    private int k = 10;

    @Option(names = "--in-flight", paramLabel = "N", description = "Searches in flight; default 64.")
    private int inFlight = 64;

    @Option(names = "--adds-per-second", paramLabel = "N", description = "Rows added per second; default 1000.")
    private int addsPerSecond = 1_000;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds with and without adds; default 8.")
    private int rounds = 8;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per measurement and round; default 1000.")
    private int sliceMillis = 1_000;

    @Mixin
    private final JsonOption json;

    FreshnessCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        data.check();
        BenchCommand.require("--nprobe", nprobe, 1, data.nlist());
        BenchCommand.require("--k", k, 1, 10_000);
        BenchCommand.require("--in-flight", inFlight, 1, 1_000_000);
        BenchCommand.require("--adds-per-second", addsPerSecond, 1, 1_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        Workload workload = data.workload();
        try (FreshnessBench bench =
                new FreshnessBench(workload, TopologyReader.live().read(), data.nlist())) {
            Result result =
                    bench.measure(new Load(k, nprobe, inFlight, addsPerSecond), rounds, Duration.ofMillis(sliceMillis));
            json.line("%s, nlist %d, nprobe %d, k %d, %d searches in flight, %d adds/s"
                    .formatted(workload.name(), data.nlist(), nprobe, k, inFlight, addsPerSecond));
            json.line("%,d adds: P50 %.1f us, P99 %.1f us, P999 %.1f us"
                    .formatted(
                            result.adds(),
                            result.add().p50us(),
                            result.add().p99us(),
                            result.add().p999us()));
            json.line("searches' P99 us: without adds %s, with adds %s; medians (min to max) of rounds"
                    .formatted(spread(result.quietP99(), "%.0f"), spread(result.busyP99(), "%.0f")));
            json.line("with adds over without, round by round: P99 %s, searches/s %s"
                    .formatted(spread(result.p99Ratio(), "%.2f"), spread(result.rateRatio(), "%.2f")));
            json.print(Map.of("workload", workload.name(), "nlist", data.nlist(), "result", result));
        }
        return 0;
    }

    private static String spread(Samples samples, String format) {
        return (format + " (" + format + " to " + format + ")")
                .formatted(samples.median(), samples.least(), samples.most());
    }
}
