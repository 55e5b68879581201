package io.github.roost.topology;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Counts the PUs that an hwloc synthetic description asks for, before hwloc builds them. */
final class SyntheticSize {
    private static final Pattern ATTRIBUTES = Pattern.compile("\\([^)]*\\)|\\[[^\\]]*\\]");
    private static final Pattern LEVEL = Pattern.compile("(?:[^:]*:)?(\\d{1,18})");

    private SyntheticSize() {}

    /**
     * The product of all levels' counts, rounded if it exceeds 2^53. Tokens that are no level are ignored: hwloc refuses them
     * anyway.
     */
    static long pus(String description) {
        long pus = 1;
        for (String level :
                ATTRIBUTES.matcher(description).replaceAll(" ").strip().split("\\s+", -1)) {
            Matcher count = LEVEL.matcher(level);
            if (count.matches()) {
                pus = (long) ((double) pus * Long.parseLong(count.group(1)));
            }
        }
        return pus;
    }
}
