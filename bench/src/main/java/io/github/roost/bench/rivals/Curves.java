package io.github.roost.bench.rivals;

import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.plot.Axis;
import io.github.roost.simulator.plot.Plot;
import io.github.roost.simulator.plot.Series;
import java.time.Duration;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The results of the benchmark.
 *
 * @param workload its name
 * @param k neighbors per search
 * @param tables number of Roost's engines, which come first
 * @param curves one per engine
 */
public record Curves(String workload, int k, int tables, List<Curve> curves) {
    /**
     * The curve of one engine.
     *
     * @param engine its name
     * @param build its build time
     * @param points by ascending ef
     */
    public record Curve(String engine, Duration build, List<Point> points) {
        /**
         * Searches per second of one round at a recall, interpolated between the two adjacent points: the logarithm of the rate is nearly linear in
         * the logarithm of 1 - recall.
         *
         * @return NaN if the recall is not between two points
         */
        public double rateAt(double recall, int round) {
            TreeMap<Double, Double> rates = new TreeMap<>();
            for (Point point : points) {
                // Among several ef with the same recall the fastest counts.
                rates.merge(missed(point.recall()), Math.log(point.rates().get(round)), Math::max);
            }
            double at = missed(recall);
            Map.Entry<Double, Double> below = rates.floorEntry(at);
            Map.Entry<Double, Double> above = rates.ceilingEntry(at);
            if (below == null || above == null) {
                return Double.NaN;
            }
            double width = above.getKey() - below.getKey();
            double share = width == 0 ? 0 : (at - below.getKey()) / width;
            return Math.exp(below.getValue() + share * (above.getValue() - below.getValue()));
        }

        /** The {@linkplain #rateAt rates} of all rounds. */
        public List<Double> ratesAt(double recall) {
            return IntStream.range(0, points.getFirst().rates().size())
                    .mapToObj(round -> rateAt(recall, round))
                    .toList();
        }

        /** The rates at a recall in words; where every ef finds more, or less, than that, how much it finds. */
        public String at(double recall) {
            Samples rates = Samples.of(ratesAt(recall));
            if (!Double.isNaN(rates.median())) {
                return rates.spread("%,.0f");
            }
            DoubleSummaryStatistics reached =
                    points.stream().mapToDouble(Point::recall).summaryStatistics();
            return recall < reached.getMin()
                    ? String.format(Locale.ROOT, "at least %.3f", reached.getMin())
                    : String.format(Locale.ROOT, "at most %.3f", reached.getMax());
        }

        private static double missed(double recall) {
            return Math.log(Math.max(1 - recall, 1e-5));
        }
    }

    /**
     * One ef.
     *
     * @param recall share of true neighbors found, from 0 to 1
     * @param rates searches per second, one per round
     */
    public record Point(int ef, double recall, List<Double> rates) {
        private Series.Point drawn() {
            Samples samples = Samples.of(rates);
            return new Series.Point(recall, samples.median(), (samples.most() - samples.least()) / 2);
        }
    }

    /**
     * The rates of one engine over another's.
     *
     * @param table Roost's
     * @param other the engine it is compared with
     * @param recall at which the rates are compared
     * @param ratios one per round
     */
    public record Comparison(Curve table, Curve other, double recall, List<Double> ratios) {
        /** The comparison in words. */
        @Override
        public String toString() {
            String at = String.format(Locale.ROOT, "at recall %.2f: ", recall);
            return Double.isNaN(Samples.of(ratios).median())
                    ? at + other.engine() + " or " + table.engine() + " has no points on both sides of it"
                    : at + table.engine() + " is " + Samples.of(ratios).spread("%.2f") + " times " + other.engine();
        }
    }

    /** Compares each of Roost's tables with the tables before it and with every other engine. */
    public List<Comparison> comparisons(double recall) {
        return IntStream.range(0, tables)
                .boxed()
                .flatMap(table -> IntStream.range(0, curves.size())
                        .filter(other -> other < table || other >= tables)
                        .mapToObj(other -> compare(curves.get(table), curves.get(other), recall)))
                .toList();
    }

    /**
     * Compares one of Roost's tables with the fastest other engine at a recall.
     *
     * @return empty if no other engine, or not the table, has points on both sides of the recall
     */
    public Optional<Comparison> againstTheBest(Curve table, double recall) {
        return curves.stream()
                .skip(tables)
                .filter(other -> !Double.isNaN(median(other, recall)))
                .max(Comparator.comparingDouble(other -> median(other, recall)))
                .filter(best -> !Double.isNaN(median(table, recall)))
                .map(best -> compare(table, best, recall));
    }

    private static double median(Curve curve, double recall) {
        return Samples.of(curve.ratesAt(recall)).median();
    }

    private static Comparison compare(Curve table, Curve other, double recall) {
        return new Comparison(
                table,
                other,
                recall,
                IntStream.range(0, table.points().getFirst().rates().size())
                        .mapToObj(round -> table.rateAt(recall, round) / other.rateAt(recall, round))
                        .toList());
    }

    /** Plots the curves; each bar spans the range of the rounds. */
    public Plot plot() {
        List<Series> series = IntStream.range(0, curves.size())
                .mapToObj(number -> Series.marked(
                        curves.get(number).engine(),
                        number,
                        curves.get(number).points().stream().map(Point::drawn).toList()))
                .toList();
        return new Plot(workload + ", k=" + k, Axis.missing("recall"), Axis.logarithmic("searches/s"), series);
    }
}
