package io.github.roost.bench.hnsw;

import java.util.List;
import java.util.Locale;

/** Curves as an SVG picture: searches a second over the share of neighbours missed, both logarithmic. Stateless. */
public final class CurvePicture {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 420;
    private static final int LEFT = 70;
    private static final int BOTTOM = 50;
    private static final int TOP = 40;
    private static final int RIGHT = 20;
    private static final List<String> COLORS = List.of("#1b6ca8", "#c4572e", "#4d8b31", "#7a4fa3");
    private static final double[] RECALLS = {.5, .7, .8, .9, .95, .98, .99, .995, .998, .999};

    private CurvePicture() {}

    /** The picture's source. */
    public static String svg(HnswCurves curves) {
        double leastRate = Double.MAX_VALUE;
        double mostRate = 0;
        double leastMissed = 1;
        double mostMissed = 0;
        for (HnswCurves.Curve curve : curves.curves()) {
            for (HnswCurves.Point point : curve.points()) {
                leastRate = Math.min(leastRate, point.median());
                mostRate = Math.max(mostRate, point.median());
                leastMissed = Math.min(leastMissed, missed(point));
                mostMissed = Math.max(mostMissed, missed(point));
            }
        }
        Axis across = new Axis(mostMissed, leastMissed, LEFT, WIDTH - RIGHT);
        Axis up = new Axis(leastRate, mostRate, HEIGHT - BOTTOM, TOP);
        StringBuilder svg = new StringBuilder();
        line(
                svg,
                "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12'>",
                WIDTH,
                HEIGHT);
        line(svg, "<rect width='%d' height='%d' fill='white'/>", WIDTH, HEIGHT);
        line(svg, "<text x='%d' y='20' font-size='14'>%s, k=%d</text>", LEFT, curves.workload(), curves.k());
        grid(svg, across, up, leastMissed, mostMissed, leastRate, mostRate);
        for (int i = 0; i < curves.curves().size(); i++) {
            curve(svg, curves.curves().get(i), COLORS.get(i % COLORS.size()), i, across, up);
        }
        return svg.append("</svg>\n").toString();
    }

    /** A logarithmic scale from one value at one place to another at another. */
    private record Axis(double from, double to, double fromAt, double toAt) {
        double at(double value) {
            double span = Math.log(to) - Math.log(from);
            return span == 0 ? fromAt : fromAt + (toAt - fromAt) * (Math.log(value) - Math.log(from)) / span;
        }
    }

    private static double missed(HnswCurves.Point point) {
        return Math.max(1 - point.recall(), 1e-4);
    }

    private static void grid(
            StringBuilder svg, Axis across, Axis up, double leastMissed, double mostMissed, double least, double most) {
        for (double recall : RECALLS) {
            if (1 - recall >= leastMissed && 1 - recall <= mostMissed) {
                double x = across.at(1 - recall);
                line(svg, "<path d='M%.1f %d V%d' stroke='#ddd'/>", x, TOP, HEIGHT - BOTTOM);
                line(
                        svg,
                        "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>",
                        x,
                        HEIGHT - BOTTOM + 18,
                        String.valueOf(recall));
            }
        }
        for (double decade = 1; decade <= most; decade *= 10) {
            for (double rate : new double[] {decade, 2 * decade, 5 * decade}) {
                if (rate >= least && rate <= most) {
                    double y = up.at(rate);
                    line(svg, "<path d='M%d %.1f H%d' stroke='#ddd'/>", LEFT, y, WIDTH - RIGHT);
                    line(svg, "<text x='%d' y='%.1f' text-anchor='end'>%,.0f</text>", LEFT - 6, y + 4, rate);
                }
            }
        }
        line(svg, "<text x='%d' y='%d' text-anchor='middle'>recall</text>", (LEFT + WIDTH) / 2, HEIGHT - 10);
        line(svg, "<text transform='translate(14 %d) rotate(-90)' text-anchor='middle'>searches/s</text>", HEIGHT / 2);
    }

    private static void curve(
            StringBuilder svg, HnswCurves.Curve curve, String color, int number, Axis across, Axis up) {
        StringBuilder path = new StringBuilder();
        for (HnswCurves.Point point : curve.points()) {
            path.append(String.format(
                    Locale.ROOT,
                    "%s%.1f %.1f",
                    path.isEmpty() ? "M" : " L",
                    across.at(missed(point)),
                    up.at(point.median())));
        }
        line(svg, "<path d='%s' fill='none' stroke='%s' stroke-width='2'/>", path, color);
        for (HnswCurves.Point point : curve.points()) {
            line(
                    svg,
                    "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'/>",
                    across.at(missed(point)),
                    up.at(point.median()),
                    color);
        }
        line(
                svg,
                "<text x='%d' y='%d' fill='%s'>%s</text>",
                LEFT + 10,
                HEIGHT - BOTTOM - 10 - 16 * number,
                color,
                curve.engine());
    }

    private static void line(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
