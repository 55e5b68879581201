package io.github.roost.bench.report;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;

/**
 * A part's JSON reduced to what reports show: windows are kept only if the results are no sweep over domains, and
 * become arrays of their numbers; tables are kept only in a sweep, at its max domains; numbers are rounded to five
 * digits. Stateless.
 */
final class Condensed {
    private static final MathContext DIGITS = new MathContext(5);
    private static final String RESULTS = "results";
    private static final String DOMAINS = "domains";
    private static final String WINDOWS = "windows";
    private static final List<String> OF_A_VARIANT =
            List.of("policy", DOMAINS, "cores", "searches", "seconds", "utilization", "l3MissRatio", "stallShare");

    private Condensed() {}

    static JsonNode of(JsonNode found) {
        JsonNode kept = found.deepCopy();
        int max = max(kept.path(RESULTS));
        boolean sweep = min(kept.path(RESULTS)) < max;
        for (JsonNode result : kept.path(RESULTS)) {
            if (result instanceof ObjectNode simulated && simulated.has(WINDOWS)) {
                shorten(simulated, !sweep, sweep && simulated.path(DOMAINS).asInt() == max);
            }
        }
        for (JsonNode variant : kept.path("sensitivity")) {
            variant.path(RESULTS).forEach(simulated -> ((ObjectNode) simulated).retain(OF_A_VARIANT));
        }
        shortenPredicted(kept);
        kept.path("loads").forEach(Condensed::shortenPredicted);
        return rounded(kept);
    }

    private static void shortenPredicted(JsonNode replayed) {
        for (JsonNode predicted : replayed.path("predicted")) {
            if (predicted.isObject()) {
                shorten((ObjectNode) predicted, false, false);
            }
        }
    }

    private static int max(JsonNode results) {
        int max = 0;
        for (JsonNode result : results) {
            max = Math.max(max, result.path(DOMAINS).asInt());
        }
        return max;
    }

    private static int min(JsonNode results) {
        int min = Integer.MAX_VALUE;
        for (JsonNode result : results) {
            min = Math.min(min, result.path(DOMAINS).asInt());
        }
        return min;
    }

    private static void shorten(ObjectNode simulated, boolean windows, boolean tables) {
        ArrayNode columns = array();
        for (JsonNode window : simulated.path(WINDOWS)) {
            columns.add(
                    array().addAll(List.of(window.path("perSecond"), window.path("imbalance"), window.path("remaps"))));
        }
        simulated.set(WINDOWS, windows ? columns : array());
        if (!tables) {
            simulated.putArray("tables");
        }
    }

    /** The form in which {@link Results} reads windows: arrays of numbers, since there are thousands of windows. */
    @JsonFormat(shape = JsonFormat.Shape.ARRAY)
    @JsonPropertyOrder({"perSecond", "imbalance", "remaps", "l3MissRatio", "meanMicros"})
    interface ShortWindow {}

    private static JsonNode rounded(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.properties().forEach(entry -> entry.setValue(rounded(entry.getValue())));
        } else if (node instanceof ArrayNode array) {
            for (int i = 0; i < array.size(); i++) {
                array.set(i, rounded(array.get(i)));
            }
        } else if (node.isFloatingPointNumber() && Double.isFinite(node.doubleValue())) {
            return array().numberNode(BigDecimal.valueOf(node.doubleValue())
                    .round(DIGITS)
                    .stripTrailingZeros()
                    .doubleValue());
        }
        return node;
    }

    private static ArrayNode array() {
        return Results.JSON.createArrayNode();
    }
}
