package io.github.roost.simulator.plot;

import java.util.List;

/**
 * One curve of a plot.
 *
 * @param name in the legend
 * @param look index of its color, marker and line style, from 0; they repeat after {@link #LOOKS}
 * @param points in order
 * @param drawing its drawing style
 */
public record Series(String name, int look, List<Point> points, Drawing drawing) {
    /** Number of looks. */
    public static final int LOOKS = Palette.SIZE;

    /** The drawing style of a curve. */
    public enum Drawing {
        /** A line with a marker at each point. */
        MARKED_LINE,
        /** A line without markers, for many points. */
        LINE,
        /** Markers without a line. */
        MARKS
    }

    public Series {
        if (look < 0) {
            throw new IllegalArgumentException("look must be at least 0, got " + look);
        }
        points = List.copyOf(points);
    }

    /**
     * One point.
     *
     * @param spread half the length of its error bar, 0 for none
     */
    public record Point(double x, double y, double spread) {
        /** A point without a spread. */
        public static Point of(double x, double y) {
            return new Point(x, y, 0);
        }
    }

    /** Creates a line with a marker at each point. */
    public static Series marked(String name, int look, List<Point> points) {
        return new Series(name, look, points, Drawing.MARKED_LINE);
    }

    /** The part of the curve that a logarithmic axis can show: positive values, and error bars that stay above 0. */
    Series positive() {
        List<Point> shown = points.stream()
                .filter(point -> point.y > 0)
                .map(point -> point.y > point.spread ? point : Point.of(point.x, point.y))
                .toList();
        return new Series(name, look, shown, drawing);
    }

    double[] xs() {
        return points.stream().mapToDouble(Point::x).toArray();
    }

    double[] ys() {
        return points.stream().mapToDouble(Point::y).toArray();
    }

    double[] spreads() {
        return points.stream().mapToDouble(Point::spread).toArray();
    }

    boolean hasSpreads() {
        return points.stream().anyMatch(point -> point.spread > 0);
    }
}
