package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.bench.remote.FetchOverlap;
import io.github.roost.simulator.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Views of the benchmarks of key-value tables, tables on disk, block I/O and remote memory. Stateless. */
final class StoreViews {
    private StoreViews() {}

    /** Cache lines per lookup, and lookups per second compared with other maps. */
    static Block table(JsonNode json) {
        MarkdownTable lines = new MarkdownTable("placement, slots", "cache lines per lookup", "the paper");
        for (JsonNode count : json.path("counts")) {
            lines.row(
                    "%s, 2^%d"
                            .formatted(
                                    count.path("placement").asText(),
                                    count.path("slotBits").asInt()),
                    Numbers.decimals(3, count.path("lines").asDouble()),
                    Numbers.ratio(count.path("paper").asDouble()));
        }
        MarkdownTable lookups = new MarkdownTable(
                "map, slots", "million lookups/s (min to max)", "ratio of NeighborHashMap (min to max)");
        for (JsonNode lookup : json.path("lookups")) {
            Samples rates = Numbers.samples(lookup.path("lookups"));
            lookups.row(
                    "%s, 2^%d"
                            .formatted(
                                    lookup.path("name").asText(),
                                    lookup.path("slotBits").asInt()),
                    "%s (%s to %s)"
                            .formatted(
                                    Numbers.decimals(1, rates.median()),
                                    Numbers.decimals(1, rates.least()),
                                    Numbers.decimals(1, rates.most())),
                    Numbers.ratios(Numbers.samples(lookup.path("ratio"))));
        }
        return Block.of(lines + "\n\n" + lookups);
    }

    /** Microseconds per batch, for each store. */
    static Block batch(JsonNode json) {
        JsonNode report = json.path("batches");
        MarkdownTable table =
                new MarkdownTable("keys, store", "us per batch (min to max)", "ratio to Table (min to max)");
        for (JsonNode result : report.path("results")) {
            Samples micros = Numbers.samples(result.path("micros"));
            table.row(
                    "%d, %s"
                            .formatted(
                                    result.path("batch").asInt(),
                                    result.path("name").asText()),
                    "%s (%s to %s)"
                            .formatted(
                                    Numbers.decimals(1, micros.median()),
                                    Numbers.decimals(1, micros.least()),
                                    Numbers.decimals(1, micros.most())),
                    Numbers.ratios(Numbers.samples(result.path("ratio"))));
        }
        String size = "%s values of 1 KB%s."
                .formatted(
                        Numbers.whole(report.path("rows").asDouble()),
                        report.path("hasRedis").asBoolean() ? "" : "; Redis is not installed, and left out");
        return Block.of(size + "\n\n" + table);
    }

    /** Searches of a table on disk with concurrent updates, for each way of running the updates. */
    static Block stalls(JsonNode json) {
        JsonNode none = json.at("/results/none");
        MarkdownTable table = new MarkdownTable(
                "updates",
                "searches/s (min to max)",
                "searches/s over searches/s without updates",
                "P50 us",
                "P99 us",
                "updates/s (min to max)");
        for (Map.Entry<String, JsonNode> way : json.path("results").properties()) {
            JsonNode rounds = way.getValue();
            table.row(
                    way.getKey(),
                    Numbers.spread(each(rounds, "searchesPerSecond")),
                    Numbers.ratios(
                            Numbers.over(values(rounds, "searchesPerSecond"), values(none, "searchesPerSecond"))),
                    Numbers.whole(each(rounds, "p50us").median()),
                    Numbers.whole(each(rounds, "p99us").median()),
                    Numbers.spread(each(rounds, "updatesPerSecond")));
        }
        return Block.of(table.toString());
    }

    private static Samples each(JsonNode rounds, String figure) {
        return Samples.of(values(rounds, figure));
    }

    private static List<Double> values(JsonNode rounds, String figure) {
        List<Double> values = new ArrayList<>();
        rounds.forEach(round -> values.add(round.path(figure).asDouble(Double.NaN)));
        return values;
    }

    /** Random reads by each way of reading. */
    static Block io(JsonNode json) {
        MarkdownTable table = new MarkdownTable(
                "reads in flight, by",
                "reads/s (min to max)",
                "ratio to the channel (min to max)",
                "CPU us per read",
                "ratio to the channel (min to max)");
        for (JsonNode result : json.path("results")) {
            JsonNode outcome = result.path("outcome");
            table.row(
                    "%d, %s"
                            .formatted(
                                    outcome.path("depth").asInt(),
                                    outcome.path("way").asText().toLowerCase(Locale.ROOT)),
                    Numbers.spread(Samples.of(Numbers.numbers(outcome.path("readsPerSecond")))),
                    Numbers.ratios(Numbers.samples(result.path("readsBesideChannel"))),
                    Numbers.decimals(
                            1,
                            Samples.of(Numbers.numbers(outcome.path("cpuMicrosPerRead")))
                                    .median()),
                    Numbers.ratios(Numbers.samples(result.path("cpuBesideChannel"))));
        }
        return Block.of(table.toString());
    }

    /** Remote reads of a batch, their time, the recall, the effect of the cache, and the costs of a network. */
    static Block remote(JsonNode json) {
        JsonNode results = json.path("results");
        JsonNode counts = results.path("counts");
        String reads = "A batch reads %s partitions by %s doorbells, where each query by itself would read %s."
                .formatted(
                        Numbers.whole(counts.path("reads").asDouble()),
                        Numbers.whole(counts.path("doorbells").asDouble()),
                        Numbers.whole(counts.path("naive").asDouble()));
        MarkdownTable times = new MarkdownTable("batch", "ms (min to max)", "ratio to an empty cache");
        List<Double> empty = values(results.path("times"), "seconds");
        time(times, "empty cache", empty, empty);
        time(times, "all in the cache", values(results.path("times"), "cachedSeconds"), empty);
        time(
                times,
                "each query by itself, from the first queries",
                values(results.path("times"), "naiveSeconds"),
                empty);
        MarkdownTable found = new MarkdownTable("partitions visited", "recall", "queries/s, all in memory");
        for (JsonNode one : results.path("found")) {
            int visited = one.path("visited").asInt();
            found.row(
                    visited == 0 ? "one graph of all rows" : String.valueOf(visited),
                    Numbers.decimals(4, one.path("recall").asDouble()),
                    Numbers.whole(one.path("queriesPerSecond").asDouble()));
        }
        MarkdownTable cached = new MarkdownTable("cache, share of the partitions", "reads of a second batch", "ms");
        for (JsonNode one : results.path("cached")) {
            cached.row(
                    Numbers.percent(one.path("share").asDouble()),
                    Numbers.whole(one.path("reads").asDouble()),
                    Numbers.whole(1e3 * one.path("seconds").asDouble()));
        }
        return Block.of(String.join(
                "\n\n",
                reads,
                times.toString(),
                found.toString(),
                cached.toString(),
                modeled(results.path("modeled")),
                shipping(results.path("shipping")),
                inserting(results.path("inserting"))));
    }

    /** Modeled times of a network, marked as such. */
    private static String modeled(JsonNode modeled) {
        JsonNode overlap = modeled.path("overlap");
        FetchOverlap computed = new FetchOverlap(
                overlap.path("fetchNanos").asLong(),
                overlap.path("searchNanos").asLong(),
                overlap.path("bothNanos").asLong());
        return """
                Modeled at 100 Gb/s, not measured: fetches take %s ms, searches %s ms, both %s ms: %s of the fetch time is hidden.
                200 pieces of 512 bytes take %s us with one doorbell and %s us one by one; 16 partitions %s and %s us.""".formatted(
                        Numbers.decimals(1, computed.fetchNanos() / 1e6),
                        Numbers.decimals(1, computed.searchNanos() / 1e6),
                        Numbers.decimals(1, computed.bothNanos() / 1e6),
                        Numbers.percent(computed.hidden()),
                        Numbers.whole(modeled.path("smallTogetherMicros").asDouble()),
                        Numbers.whole(modeled.path("smallSingleMicros").asDouble()),
                        Numbers.whole(modeled.path("imagesTogetherMicros").asDouble()),
                        Numbers.whole(modeled.path("imagesSingleMicros").asDouble()));
    }

    /** The bytes of fetches compared with those of shipped queries, and the rates of two ways to fetch. */
    private static String shipping(JsonNode shipping) {
        return """
                A fetch moves %s bytes, a query and its answer %s.
                Fetching moves fewer bytes than shipping the queries from %s queries per partition on, here there are %s.
                Partitions are read at %s GB/s, and arrive at %s GB/s if requested over gRPC.""".formatted(
                        Numbers.whole(shipping.path("partitionBytes").asDouble()),
                        Numbers.whole(shipping.path("queryBytes").asDouble()),
                        Numbers.whole(shipping.path("breakEven").asDouble()),
                        Numbers.whole(shipping.path("queriesPerPartition").asDouble()),
                        Numbers.ratio(shipping.path("oneSidedGigabytes").asDouble()),
                        Numbers.ratio(shipping.path("twoSidedGigabytes").asDouble()));
    }

    /** Searches during insertions; none if the pool cannot be written. */
    private static String inserting(JsonNode rounds) {
        return rounds.isEmpty()
                ? "No rows were inserted: the pool is read-only."
                : "Searches per second with %s rows inserted during a batch, over those without: %s."
                        .formatted(
                                Numbers.spread(Samples.of(values(rounds, "inserts"))),
                                Numbers.ratios(Numbers.over(
                                        values(rounds, "readOnlySeconds"), values(rounds, "insertingSeconds"))));
    }

    private static void time(MarkdownTable table, String name, List<Double> seconds, List<Double> empty) {
        table.row(
                name,
                Numbers.spread(
                        Samples.of(seconds.stream().map(each -> each * 1e3).toList())),
                Numbers.ratios(Numbers.over(seconds, empty)));
    }
}
