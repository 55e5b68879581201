package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.simulator.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Views of the benchmarks of scheduling, homes, Lucene and the service. Stateless. */
final class BenchViews {
    private BenchViews() {}

    /** Tasks per second, compared with the JDK's pools. */
    static Block scheduling(JsonNode json) {
        MarkdownTable starts = new MarkdownTable("submission to start, workers asleep", "P50 us", "P99 us");
        json.path("idleStart")
                .properties()
                .forEach(entry -> starts.row(
                        entry.getKey(),
                        Numbers.decimals(1, entry.getValue().path("p50us").asDouble()),
                        Numbers.decimals(1, entry.getValue().path("p99us").asDouble())));
        MarkdownTable table = new MarkdownTable(
                "task us, submitters",
                "roost, tasks/s (min to max)",
                "ratio to fork_join",
                "ratio to fixed",
                "bytes per task: roost, fork_join, fixed");
        for (JsonNode point : json.path("throughput")) {
            List<Double> roost = rates(point, "roost");
            table.row(
                    "%d, %d"
                            .formatted(
                                    point.path("taskMicros").asInt(),
                                    point.path("submitters").asInt()),
                    Numbers.spread(Samples.of(roost)),
                    Numbers.ratios(Numbers.over(roost, rates(point, "fork_join"))),
                    Numbers.ratios(Numbers.over(roost, rates(point, "fixed"))),
                    "%s, %s, %s".formatted(bytes(point, "roost"), bytes(point, "fork_join"), bytes(point, "fixed")));
        }
        String idle =
                "Idle workers use %s of a core. Tasks that report traffic reach %s of the throughput of tasks that do not."
                        .formatted(
                                Numbers.percent(json.path("idleShareOfACore").asDouble()),
                                Numbers.ratios(Numbers.numbers(json.path("monitorRatios"))));
        return Block.of(starts + "\n\n" + table + "\n\n" + idle);
    }

    private static List<Double> rates(JsonNode point, String contender) {
        return Numbers.numbers(point.path(contender).path("tasksPerSecond"));
    }

    private static String bytes(JsonNode point, String contender) {
        return Numbers.whole(Samples.of(Numbers.numbers(point.path(contender).path("bytesPerTask")))
                .median());
    }

    /** Searches per second of each scheduling if one table fits a domain's cache and two do not. */
    static Block locality(JsonNode json) {
        JsonNode rates = json.path("searchesPerSecond");
        String baseline =
                rates.propertyStream().map(Map.Entry::getKey).findFirst().orElse("");
        List<Double> first = Numbers.numbers(rates.path(baseline));
        MarkdownTable table =
                new MarkdownTable("scheduling", "searches/s (min to max)", "ratio to " + baseline + ", same round");
        rates.properties().forEach(entry -> {
            List<Double> these = Numbers.numbers(entry.getValue());
            table.row(entry.getKey(), Numbers.spread(Samples.of(these)), Numbers.ratios(Numbers.over(these, first)));
        });
        return Block.of(table.toString());
    }

    /** Results of each gate under bursts and under a flood. */
    static Block gate(JsonNode json) {
        MarkdownTable table =
                new MarkdownTable("age us", "bursts: P99 us (min to max)", "crossed", "flood: searches/s (min to max)");
        for (JsonNode gate : json.path("gates")) {
            table.row(
                    Numbers.whole(gate.path("gate").path("ageNanos").asDouble() / 1e3),
                    Numbers.spread(Samples.of(Numbers.numbers(gate.path("burstP99Micros")))),
                    Numbers.percent(Samples.of(Numbers.numbers(gate.path("burstCrossShare")))
                            .median()),
                    Numbers.spread(Samples.of(Numbers.numbers(gate.path("floodPerSecond")))));
        }
        return Block.of(table + floods(json.path("floods")) + staying(json.path("staying")));
    }

    /** Floods on made-up machines with several workers per domain; empty if the run has none. */
    private static String floods(JsonNode floods) {
        MarkdownTable table = new MarkdownTable(
                "domains x workers, state before the flood",
                "workers at once, of free workers",
                "took ms",
                "work-conserving ms",
                "crossed");
        for (JsonNode flood : floods) {
            table.row(
                    "%s, %s"
                            .formatted(
                                    machine(flood),
                                    flood.path("before").asText().toLowerCase(Locale.ROOT)),
                    "%d of %d"
                            .formatted(
                                    flood.path("atOnce").asInt(),
                                    flood.path("free").asInt()),
                    Numbers.whole(flood.path("tookMillis").asDouble()),
                    Numbers.whole(flood.path("idealMillis").asDouble()),
                    Numbers.whole(flood.path("crossed").asDouble()));
        }
        return floods.isEmpty() ? "" : "\n\n" + table;
    }

    /** Loads that should stay at home on such machines; empty if the run has none. */
    private static String staying(JsonNode loads) {
        MarkdownTable table = new MarkdownTable("domains x workers, load", "tasks", "crossed", "workers busy");
        loads.properties().forEach(load -> {
            double tasks = load.getValue().path("tasks").asDouble();
            table.row(
                    "%s, %s".formatted(machine(load.getValue()), load.getKey()),
                    Numbers.whole(tasks),
                    Numbers.percent(load.getValue().path("crossed").asDouble() / tasks),
                    Numbers.percent(load.getValue().path("busy").asDouble()));
        });
        return loads.isEmpty() ? "" : "\n\n" + table;
    }

    private static String machine(JsonNode of) {
        return "%dx%d"
                .formatted(
                        of.at("/machine/domains").asInt(),
                        of.at("/machine/workersPerDomain").asInt());
    }

    /** Latencies in windows that begin with a remap, compared with other windows. */
    static Block remap(JsonNode json) {
        MarkdownTable table = new MarkdownTable("windows", "number", "P50 us", "P99 us", "P999 us");
        latencies(table, "that begin with a remap", json.path("remaps"), json.path("withRemap"));
        latencies(table, "that do not", json.path("others"), json.path("without"));
        return Block.of(table.toString());
    }

    private static void latencies(MarkdownTable table, String name, JsonNode count, JsonNode latencies) {
        table.row(
                name,
                Numbers.whole(count.asDouble()),
                Numbers.whole(latencies.path("p50us").asDouble()),
                Numbers.whole(latencies.path("p99us").asDouble()),
                Numbers.whole(latencies.path("p999us").asDouble()));
    }

    /** Lucene's searches by the pool that runs them. */
    static Block lucene(JsonNode json) {
        MarkdownTable table = new MarkdownTable(
                "query, run by",
                "searches/s (min to max)",
                "ratio to fork_join, same round",
                "P50 us (min to max)",
                "P99 us (min to max)");
        List<JsonNode> outcomes = new ArrayList<>();
        json.path("outcomes").forEach(outcomes::add);
        for (JsonNode outcome : outcomes) {
            List<Double> rates = Numbers.numbers(outcome.path("perSecond"));
            String workload = outcome.path("workload").asText();
            List<Double> forkJoin = outcomes.stream()
                    .filter(other -> other.path("workload").asText().equals(workload)
                            && other.path("contender").asText().equals("FORK_JOIN"))
                    .findFirst()
                    .map(other -> Numbers.numbers(other.path("perSecond")))
                    .orElse(List.of());
            table.row(
                    "%s, %s"
                            .formatted(workload, outcome.path("contender").asText())
                            .toLowerCase(Locale.ROOT),
                    Numbers.spread(Samples.of(rates)),
                    forkJoin.isEmpty() ? "" : Numbers.ratios(Numbers.over(rates, forkJoin)),
                    Numbers.spread(Samples.of(Numbers.numbers(outcome.path("p50us")))),
                    Numbers.spread(Samples.of(Numbers.numbers(outcome.path("p99us")))));
        }
        return Block.of(table.toString());
    }

    /** Answered and shed requests of the service at loads below and above its capacity. */
    static Block serve(JsonNode json) {
        MarkdownTable table = new MarkdownTable(
                "load over capacity",
                "capacity, answers/s (min to max)",
                "answers over capacity (min to max)",
                "shed/s (min to max)",
                "other outcomes/s",
                "P50 ms",
                "P99 ms");
        for (JsonNode load : json.path("loads")) {
            List<Double> capacity = each(load, "/capacity");
            table.row(
                    Numbers.decimals(1, load.path("timesCapacity").asDouble()),
                    Numbers.spread(Samples.of(capacity)),
                    Numbers.ratios(Numbers.over(each(load, "/goodput"), capacity)),
                    Numbers.spread(Samples.of(each(load, "/shed"))),
                    Numbers.whole(Samples.of(each(load, "/otherwise")).median()),
                    Numbers.decimals(
                            1, Samples.of(each(load, "/latencies/p50us")).median() / 1e3),
                    Numbers.decimals(
                            1, Samples.of(each(load, "/latencies/p99us")).median() / 1e3));
        }
        return Block.of(table.toString());
    }

    private static List<Double> each(JsonNode load, String pointer) {
        List<Double> values = new ArrayList<>();
        load.path("rounds").forEach(round -> values.add(round.at(pointer).asDouble()));
        return values;
    }
}
