package io.github.roost.simulator.plot;

import java.awt.Color;
import java.util.List;
import java.util.Locale;

/**
 * Colors that are distinguishable with and without color blindness, after Okabe and Ito (Color Universal Design, 2008), one set for light
 * backgrounds and one for dark. A plot is painted in placeholder colors, which are then replaced by CSS variables. Stateless.
 */
final class Palette {
    /** Number of colors. */
    static final int SIZE = 7;

    private static final List<String> LIGHT =
            List.of("#595959", "#0072b2", "#b34700", "#00805c", "#a64d79", "#8a6d00", "#4f46c4");
    private static final List<String> DARK =
            List.of("#b8b8b8", "#56b4e9", "#ff9a4d", "#2fc79a", "#e29cc4", "#f0e442", "#b3a8ff");
    private static final Color INK = new Color(1, 0, 0);
    private static final Color GRID = new Color(1, 0, 1);
    private static final int FIRST_SERIES = 2;

    private Palette() {}

    static Color ink() {
        return INK;
    }

    static Color grid() {
        return GRID;
    }

    /** The placeholder color of a series, by its look. */
    static Color series(int look) {
        return new Color(1, 0, FIRST_SERIES + look % SIZE);
    }

    /** Replaces placeholder colors in an SVG by CSS variables. */
    static String withVariables(String svg) {
        String text = svg.replace("rgb(1,0,0)", "var(--ink)").replace("rgb(1,0,1)", "var(--grid)");
        for (int look = 0; look < SIZE; look++) {
            text = text.replace("rgb(1,0,%d)".formatted(FIRST_SERIES + look), "var(--series-%d)".formatted(look));
        }
        return text;
    }

    /** CSS rules that assign colors to the variables, by the reader's preferred color scheme. */
    static String css() {
        return ":root { color-scheme: light dark; --paper: #ffffff; --ink: #1f1f1f; --grid: #d9d9d9;%s }\n"
                        .formatted(variables(LIGHT))
                + "@media (prefers-color-scheme: dark) {\n:root { --paper: #16181b; --ink: #e6e6e6; --grid: #43474d;%s }\n}\n"
                        .formatted(variables(DARK));
    }

    private static String variables(List<String> colors) {
        StringBuilder rules = new StringBuilder();
        for (int look = 0; look < SIZE; look++) {
            rules.append(String.format(Locale.ROOT, " --series-%d: %s;", look, colors.get(look)));
        }
        return rules.toString();
    }
}
