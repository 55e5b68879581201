package io.github.roost.bench.remote;

import io.github.roost.bench.remote.RemoteBench.Cached;
import io.github.roost.bench.remote.RemoteBench.Found;
import io.github.roost.bench.remote.RemoteBench.Times;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Prints the results of {@link RemoteBench}.
 *
 * @param options of the run
 * @param results of the run
 * @param output that receives the lines
 */
record RemoteReport(RemoteOptions options, RemoteBench.Results results, JsonOutput output) {
    /** The ratios of network time in the paper's Table 1; a range, since they depend on how its times are divided. */
    private static final String PAPER = "149 to 171";

    void print() {
        RemoteBench.Counts counts = results.counts();
        output.format(
                "%,d rows x %d in %d partitions of at most %.2f MiB, built in %.0f s",
                options.rows.value(),
                options.dimension.value(),
                options.partitions,
                results.pool().largestBytes() / 1048576.0,
                results.buildSeconds());
        output.format(
                "reads of a batch of %,d, %d partitions each: naive %,d, here %,d (the union has %,d) by %,d"
                        + " doorbells; ratio %.1f (paper: %s)",
                options.batch,
                options.visited,
                counts.naive(),
                counts.reads(),
                counts.union(),
                counts.doorbells(),
                counts.ratio(),
                PAPER);
        output.format("batch, empty cache        %s s", of(Times::seconds).spread("%.3f"));
        output.format("batch, all in the cache   %s s", of(Times::cachedSeconds).spread("%.3f"));
        output.format(
                "batch, naive              %s s, from the first queries",
                of(Times::naiveSeconds).spread("%.1f"));
        output.format(
                "naive over empty cache    %s",
                of(time -> time.naiveSeconds() / time.seconds()).spread("%.1f"));
        output.format("visited   recall@%d   queries/s, all in memory", options.k.value());
        for (Found found : results.found()) {
            output.format(
                    "%7s   %9.4f   %.0f",
                    found.visited() == 0 ? "1 graph" : Integer.toString(found.visited()),
                    found.recall(),
                    found.queriesPerSecond());
        }
        output.format(
                "by default a search visits %d partitions, in which the build found %.4f of its sample's neighbors",
                results.pool().visited(), results.pool().recall());
        output.line("cache   reads of a second batch   seconds");
        for (Cached cached : results.cached()) {
            output.format("%3.0f %%   %23d   %.3f", 100 * cached.share(), cached.reads(), cached.seconds());
        }
        PartitionCosts costs = results.costs();
        output.format(
                "a query of %,d rows in memory: %.1f us by graph search; by a scan for a group of %s",
                costs.rows(),
                costs.graphSearchMicros(),
                costs.scans().stream()
                        .map(scan -> "%d %.1f us".formatted(scan.queries(), scan.micros()))
                        .collect(Collectors.joining(", ")));
        RemoteBench.Modeled modeled = results.modeled();
        output.format(
                "modeled, 100 Gb/s: fetches %.1f ms, searches %.1f ms, both %.1f ms: %.1f %% of the fetches hidden",
                modeled.overlap().fetchNanos() / 1e6,
                modeled.overlap().searchNanos() / 1e6,
                modeled.overlap().bothNanos() / 1e6,
                100 * modeled.overlap().hidden());
        output.format(
                "modeled, 100 Gb/s: 200 pieces of 512 bytes %.0f us by one doorbell, %.0f us one by one; 16"
                        + " partitions %.0f and %.0f us",
                modeled.smallTogetherMicros(),
                modeled.smallSingleMicros(),
                modeled.imagesTogetherMicros(),
                modeled.imagesSingleMicros());
        RemoteBench.Shipping shipping = results.shipping();
        output.format(
                "a fetch moves %,d bytes, a query and its answer %,d: fetching moves fewer bytes from %.0f queries per"
                        + " partition on, here %.0f",
                shipping.partitionBytes(), shipping.queryBytes(), shipping.breakEven(), shipping.queriesPerPartition());
        output.format(
                "fetches of partitions: %s %.2f GB/s, requested over gRPC on this machine %.2f GB/s",
                options.provider, shipping.oneSidedGigabytes(), shipping.twoSidedGigabytes());
        List<RemoteBench.Inserting> inserting = results.inserting();
        if (inserting.isEmpty()) {
            return;
        }
        Samples ratios =
                Samples.of(inserting.stream().map(RemoteBench.Inserting::ratio).toList());
        output.format(
                "searches per second with %d rows or more inserted during a batch of %,d: %s of the rate without",
                inserting.stream()
                        .mapToInt(RemoteBench.Inserting::inserts)
                        .min()
                        .orElse(0),
                options.batch,
                ratios.spread("%.2f"));
    }

    private Samples of(ToDoubleFunction<RemoteBench.Times> value) {
        return Samples.of(results.times().stream().map(value::applyAsDouble).toList());
    }
}
