package io.github.roost.cli;

import io.github.roost.bench.remote.PartitionCosts;
import io.github.roost.bench.remote.PoolAccess;
import io.github.roost.bench.remote.RemoteBench;
import io.github.roost.bench.remote.RemoteBench.Cached;
import io.github.roost.bench.remote.RemoteBench.Found;
import io.github.roost.bench.remote.RemoteBench.Results;
import io.github.roost.bench.remote.RemoteBench.Times;
import io.github.roost.simulator.measure.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench remote}: partitions fetched once per batch, compared with one read per query and partition. */
@Command(
        name = "remote",
        description = "Reads, times and recall of a table in shared memory; a batch fetches each partition once.")
final class RemoteBenchCommand implements Callable<Integer> {
    /** The ratios of network time in the paper's Table 1; a range, since they depend on how its times are divided. */
    private static final String PAPER = "149 to 171";

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--rows", paramLabel = "N", description = "Generated rows; default 200000.")
    private int rows = 200_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of the rows; default 128.")
    private int dimension = 128;

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions; default 160.")
    private int partitions = 160;

    @Option(names = "--batch", paramLabel = "N", description = "Queries per batch; default 5000.")
    private int batch = 5_000;

    @Option(names = "--visited", paramLabel = "N", description = "Partitions visited per query; default 5.")
    private int visited = 5;

    @Option(names = "--k", paramLabel = "N", description = "Neighbours per query; default 10.")
    private int k = 10;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 3.")
    private int rounds = 3;

    @Option(
            names = "--without-graph",
            description = "Leaves out the comparison with one graph of all rows, whose build takes longest.")
    private boolean withoutGraph;

    @Option(
            names = "--provider",
            paramLabel = "P",
            description = "mapped (default): the pool's file; ucx: a memory node in its own process, over UCX.")
    private String provider = "mapped";

    @Option(
            names = "--transports",
            paramLabel = "T",
            description = "With --provider ucx: tcp (default), posix or another transport of UCX.")
    private @Nullable String transports;

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description = "Folder for the pool; default /dev/shm, or the temporary folder if that does not exist.")
    private Path folder = Files.isDirectory(Path.of("/dev/shm"))
            ? Path.of("/dev/shm")
            : Path.of(System.getProperty("java.io.tmpdir"));

    @Mixin
    private final JsonOption json;

    RemoteBenchCommand(Streams streams) {
        this.streams = streams;
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws IOException {
        BenchCommand.require("--rows", rows, 1_000, 100_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--partitions", partitions, 1, Math.min(10_000, rows));
        BenchCommand.require("--batch", batch, 1, 1_000_000);
        BenchCommand.require("--visited", visited, 1, partitions);
        BenchCommand.require("--k", k, 1, 1_000);
        BenchCommand.require("--rounds", rounds, 1, 1_000);
        if (!provider.equals("mapped") && !provider.equals("ucx")) {
            throw new CommandFailure("--provider must be mapped or ucx, got " + provider);
        }
        if (transports != null && provider.equals("mapped")) {
            throw new CommandFailure("--transports must be left out without --provider ucx, got " + transports);
        }
        Results results = new RemoteBench(
                        new RemoteBench.Options(
                                rows,
                                dimension,
                                partitions,
                                batch,
                                visited,
                                k,
                                rounds,
                                Math.min(100, batch),
                                !withoutGraph,
                                folder),
                        this::reach,
                        text -> streams.err().println(text))
                .run();
        print(results);
        json.print(Map.of("results", results));
        return 0;
    }

    private PoolAccess reach(Path file) throws IOException {
        return provider.equals("ucx")
                ? UcxNodeProcess.expose(file, transports == null ? "tcp" : transports)
                : PoolAccess.mapped(file);
    }

    private void print(Results results) {
        RemoteBench.Counts counts = results.counts();
        json.line("%,d rows x %d in %d partitions of at most %.2f MiB, built in %.0f s"
                .formatted(
                        rows,
                        dimension,
                        partitions,
                        results.pool().largestBytes() / 1048576.0,
                        results.buildSeconds()));
        json.line(
                "reads of a batch of %,d, %d partitions each: naive %,d, here %,d (the union has %,d) by %,d doorbells; ratio %.1f (paper: %s)"
                        .formatted(
                                batch,
                                visited,
                                counts.naive(),
                                counts.reads(),
                                counts.union(),
                                counts.doorbells(),
                                counts.ratio(),
                                PAPER));
        List<Times> times = results.times();
        json.line("batch, empty cache        %s s".formatted(spread(times, Times::seconds, "%.3f")));
        json.line("batch, all in the cache   %s s".formatted(spread(times, Times::cachedSeconds, "%.3f")));
        json.line("batch, naive              %s s, from the first queries"
                .formatted(spread(times, Times::naiveSeconds, "%.1f")));
        json.line("naive over empty cache    %s"
                .formatted(spread(times, time -> time.naiveSeconds() / time.seconds(), "%.1f")));
        json.line("visited   recall@%d   queries/s, all in memory".formatted(k));
        for (Found found : results.found()) {
            json.line("%7s   %9.4f   %.0f"
                    .formatted(
                            found.visited() == 0 ? "1 graph" : Integer.toString(found.visited()),
                            found.recall(),
                            found.queriesPerSecond()));
        }
        json.line("by default a search visits %d partitions, in which the build found %.4f of its sample's neighbours"
                .formatted(results.pool().visited(), results.pool().recall()));
        json.line("cache   reads of a second batch   seconds");
        for (Cached cached : results.cached()) {
            json.line("%3.0f %%   %23d   %.3f".formatted(100 * cached.share(), cached.reads(), cached.seconds()));
        }
        PartitionCosts costs = results.costs();
        json.line("a query of %,d rows in memory: %.1f us by graph search; by a scan for a group of %s"
                .formatted(
                        costs.rows(),
                        costs.walkMicros(),
                        costs.scans().stream()
                                .map(scan -> "%d %.1f us".formatted(scan.queries(), scan.micros()))
                                .collect(Collectors.joining(", "))));
        RemoteBench.Modelled modelled = results.modelled();
        json.line("modelled, 100 Gb/s: fetches %.1f ms, searches %.1f ms, both %.1f ms: %.1f %% of the fetches hidden"
                .formatted(
                        modelled.overlap().fetchNanos() / 1e6,
                        modelled.overlap().searchNanos() / 1e6,
                        modelled.overlap().bothNanos() / 1e6,
                        100 * modelled.overlap().hidden()));
        json.line(
                "modelled, 100 Gb/s: 200 pieces of 512 bytes %.0f us by one doorbell, %.0f us one by one; 16 partitions %.0f and %.0f us"
                        .formatted(
                                modelled.smallTogetherMicros(),
                                modelled.smallSingleMicros(),
                                modelled.imagesTogetherMicros(),
                                modelled.imagesSingleMicros()));
        RemoteBench.Shipping shipping = results.shipping();
        json.line(
                "a fetch moves %,d bytes, a query and its answer %,d: fetching moves fewer bytes from %.0f queries per partition on, here %.0f"
                        .formatted(
                                shipping.partitionBytes(),
                                shipping.queryBytes(),
                                shipping.breakEven(),
                                shipping.queriesPerPartition()));
        json.line("fetches of partitions: %s %.2f GB/s, requested over gRPC on this machine %.2f GB/s"
                .formatted(provider, shipping.oneSidedGigabytes(), shipping.twoSidedGigabytes()));
        List<RemoteBench.Inserting> inserting = results.inserting();
        if (inserting.isEmpty()) {
            return;
        }
        Samples ratios =
                Samples.of(inserting.stream().map(RemoteBench.Inserting::ratio).toList());
        json.line(
                "searches per second with %d rows or more inserted during a batch of %,d: %.2f (%.2f to %.2f) of the rate without"
                        .formatted(
                                inserting.stream()
                                        .mapToInt(RemoteBench.Inserting::inserts)
                                        .min()
                                        .orElse(0),
                                batch,
                                ratios.median(),
                                ratios.least(),
                                ratios.most()));
    }

    private static String spread(List<Times> times, ToDoubleFunction<Times> value, String format) {
        Samples samples = Samples.of(times.stream().map(value::applyAsDouble).toList());
        return (format + " (" + format + " to " + format + ")")
                .formatted(samples.median(), samples.least(), samples.most());
    }
}
