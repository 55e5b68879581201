package io.github.roost.bench.plot;

import java.util.List;

/**
 * One curve of a plot.
 *
 * @param name in the legend
 * @param look which colour, mark and kind of line it has, from 0 on; after {@link #LOOKS} they come again
 * @param points in order
 * @param drawing how it is drawn
 */
public record Series(String name, int look, List<Point> points, Drawing drawing) {
    /** How many looks there are. */
    public static final int LOOKS = Palette.SIZE;

    /** How a curve is drawn. */
    public enum Drawing {
        /** A line with a mark at each point. */
        MARKED_LINE,
        /** A line alone, for many points. */
        LINE,
        /** Marks alone. */
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
     * @param spread how far measurements reach above and below, 0 for none
     */
    public record Point(double x, double y, double spread) {
        /** A point without a spread. */
        public static Point of(double x, double y) {
            return new Point(x, y, 0);
        }
    }

    /** A line with a mark at each point. */
    public static Series marked(String name, int look, List<Point> points) {
        return new Series(name, look, points, Drawing.MARKED_LINE);
    }

    /** What of it a logarithmic axis can show. */
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
