package io.github.roost.bench.report;

import java.util.Map;

/** The same policy or engine looks the same in every plot. Stateless. */
final class Looks {
    private static final Map<String, Integer> KNOWN = Map.ofEntries(
            Map.entry("v0", 0),
            Map.entry("v2", 1),
            Map.entry("jvector", 1),
            Map.entry("roost", 2),
            Map.entry("v1", 3),
            Map.entry("v2-gated", 4),
            Map.entry("forkjoin", 5),
            Map.entry("fixed", 6));

    private Looks() {}

    /** Of a name; of one that is not known, by its place. */
    static int of(String name, int place) {
        return KNOWN.getOrDefault(name, place);
    }
}
