package io.github.roost.bench.report;

import java.util.Map;

/** Assigns styles, so that a policy or engine looks the same in every plot. Stateless. */
public final class PlotStyles {
    private static final Map<String, Integer> KNOWN = Map.ofEntries(
            Map.entry("v0", 0),
            Map.entry("v2", 1),
            Map.entry("jvector", 1),
            Map.entry("roost", 2),
            Map.entry("v1", 3),
            Map.entry("v2-gated", 4),
            Map.entry("forkjoin", 5),
            Map.entry("fixed", 6));

    private PlotStyles() {}

    /** The style of a name; {@code place} for an unknown name. */
    public static int of(String name, int place) {
        return KNOWN.getOrDefault(name, place);
    }
}
