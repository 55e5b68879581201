package io.github.roost.bench.report;

import java.util.Map;

/** The same policy or engine looks the same in every plot. Stateless. */
final class Looks {
    private static final Map<String, Integer> KNOWN = Map.of(
            "v0", 0, "v2", 1, "roost", 2, "v1", 3, "v2-homes", 4, "v2-staying", 5, "v2-mailboxes", 5, "jvector", 1);

    private Looks() {}

    /** Of a name; of one that is not known, by its place. */
    static int of(String name, int place) {
        return KNOWN.getOrDefault(name, place);
    }
}
