package io.github.roost.simulator.orchestration;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.orchestration.Cell.Measure;
import io.github.roost.simulator.orchestration.Cell.Standing;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * The cells of a matrix as one table, the worst first, and as JSON.
 *
 * @param cells all cells
 */
public record MatrixReport(List<Cell> cells) {
    private static final JsonMapper JSON = new JsonMapper();

    public MatrixReport {
        cells = List.copyOf(cells);
    }

    /** The comparisons of all cells, the worst first. */
    public List<Standing> worstFirst() {
        return cells.stream()
                .flatMap(cell -> cell.standings().stream())
                .sorted(Comparator.comparingDouble(Standing::margin))
                .toList();
    }

    /**
     * Prints the table.
     *
     * @param max maximum rows; the worst are kept
     */
    public void print(Consumer<String> out, int max) {
        List<Standing> standings = worstFirst();
        out.accept("Each row compares Roost with the best of " + String.join(", ", Cell.RIVALS)
                + ". A ratio above 1 means that Roost is better; ratios of latencies are inverted. The bar is .99 for"
                + " throughput at saturation, .95 (5 % more) for latencies in an open loop.");
        out.accept("%-11s %7s %-6s %-6s %-11s %-10s %-10s %6s %4s %-9s %12s %12s"
                .formatted(
                        "machine", "domains", "index", "regime", "traffic", "load", "measure", "ratio", "wins", "best",
                        "best's", "roost's"));
        standings.stream().limit(max).forEach(standing -> out.accept(row(standing)));
        out.accept("");
        for (Measure measure : Measure.values()) {
            summarize(
                    standings.stream().filter(each -> each.measure() == measure).toList(), measure, out);
        }
    }

    private static void summarize(List<Standing> standings, Measure measure, Consumer<String> out) {
        if (standings.isEmpty()) {
            return;
        }
        long won = standings.stream().filter(Standing::wins).count();
        double logs = standings.stream()
                .mapToDouble(each -> Math.log(each.ratio()))
                .average()
                .orElse(0);
        out.accept(String.format(
                Locale.ROOT,
                "%s: %d of %d cells reach the bar; worst ratio %.2f, geometric mean %.2f",
                measure.name().toLowerCase(Locale.ROOT),
                won,
                standings.size(),
                standings.getFirst().ratio(),
                Math.exp(logs)));
    }

    private static String row(Standing standing) {
        Cell cell = standing.cell();
        return String.format(
                Locale.ROOT,
                "%-11s %7d %-6s %-6s %-11s %-10s %-10s %6.2f %4s %-9s %12.0f %12.0f",
                cell.machine(),
                cell.domains(),
                cell.kind().name().toLowerCase(Locale.ROOT),
                cell.regime(),
                cell.drifting() ? "drifting" : "stationary",
                cell.load(),
                standing.measure().name().toLowerCase(Locale.ROOT),
                standing.ratio(),
                standing.wins() ? "yes" : "no",
                standing.best().policy(),
                value(standing.measure(), standing.best()),
                value(standing.measure(), cell.result(Cell.SUBJECT)));
    }

    private static double value(Measure measure, SimResult result) {
        return switch (measure) {
            case THROUGHPUT -> result.perSecond();
            case P50 -> result.latencies().p50us();
            case P999 -> result.latencies().p999us();
        };
    }

    /** All cells with the results of every policy, and the comparisons, the worst first. */
    public String json() {
        record Row(
                String machine,
                int domains,
                String index,
                String regime,
                boolean drifting,
                double rate,
                List<Outcome> policies) {}
        List<Row> rows = cells.stream()
                .map(cell -> new Row(
                        cell.machine(),
                        cell.domains(),
                        cell.kind().name().toLowerCase(Locale.ROOT),
                        cell.regime(),
                        cell.drifting(),
                        cell.rate(),
                        cell.results().stream().map(Outcome::of).toList()))
                .toList();
        record Ranked(int cell, String measure, double ratio, boolean wins, String best) {}
        List<Ranked> ranked = worstFirst().stream()
                .map(standing -> new Ranked(
                        cells.indexOf(standing.cell()),
                        standing.measure().name().toLowerCase(Locale.ROOT),
                        standing.ratio(),
                        standing.wins(),
                        standing.best().policy()))
                .toList();
        record Whole(List<Ranked> worstFirst, List<Row> cells) {}
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(new Whole(ranked, rows));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The result of one policy: the compared figures and the ones that explain them. */
    private record Outcome(
            String policy,
            double searchesPerSecond,
            double p50us,
            double p999us,
            double busy,
            double l3MissRatio,
            double stallShare,
            double memoryGBs,
            double crossShare,
            long steals,
            long remaps) {
        static Outcome of(SimResult result) {
            return new Outcome(
                    result.policy(),
                    result.perSecond(),
                    result.latencies().p50us(),
                    result.latencies().p999us(),
                    result.utilization(),
                    result.l3MissRatio(),
                    result.stallShare(),
                    result.dramGBs(),
                    result.crossShare(),
                    result.intraSteals() + result.crossSteals(),
                    result.remaps());
        }
    }
}
