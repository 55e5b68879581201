package io.github.roost.bench.hnsw;

import io.github.roost.bench.Samples;
import io.github.roost.bench.plot.Axis;
import io.github.roost.bench.plot.Plot;
import io.github.roost.bench.plot.Series;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * What the bench found.
 *
 * @param workload its name
 * @param k neighbours searched for
 * @param tables how many of the engines are Roost's, which come first
 * @param curves one an engine
 */
public record HnswCurves(String workload, int k, int tables, List<Curve> curves) {
    /**
     * One engine's.
     *
     * @param engine its name
     * @param build how long its build took
     * @param points by ascending ef
     */
    public record Curve(String engine, Duration build, List<Point> points) {
        /**
         * Searches per second of one round at a recall, interpolated between the two points around it: logarithms of rates
         * lie nearly on a line over the logarithm of what is missed.
         *
         * @return NaN where no two points are around the recall
         */
        public double rateAt(double recall, int round) {
            TreeMap<Double, Double> rates = new TreeMap<>();
            for (Point point : points) {
                // Of widths that find the same the fastest counts.
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

        private static double missed(double recall) {
            return Math.log(Math.max(1 - recall, 1e-5));
        }
    }

    /**
     * One width of the search.
     *
     * @param recall share of true neighbours found, from 0 to 1
     * @param rates searches per second, one per round
     */
    public record Point(int ef, double recall, List<Double> rates) {
        /** The middle of the rounds. */
        public double median() {
            return Samples.of(rates).median();
        }

        private Series.Point drawn() {
            Samples samples = Samples.of(rates);
            return new Series.Point(recall, samples.median(), (samples.most() - samples.least()) / 2);
        }
    }

    /**
     * One engine's rates over another's.
     *
     * @param table Roost's
     * @param other what it is compared with
     * @param recall at which
     * @param ratios one per round
     */
    public record Comparison(Curve table, Curve other, double recall, List<Double> ratios) {}

    /** Each of Roost's tables beside the tables before it and every other engine. */
    public List<Comparison> comparisons(double recall) {
        return IntStream.range(0, tables)
                .boxed()
                .flatMap(table -> IntStream.range(0, curves.size())
                        .filter(other -> other < table || other >= tables)
                        .mapToObj(other -> compare(curves.get(table), curves.get(other), recall)))
                .toList();
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

    /** The curves as a picture: bars are as long as the range of the rounds. */
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
