package io.github.roost.index.hnsw.walk;

import io.github.roost.testkit.HeadersContract;
import io.github.roost.vector.Vectors;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

class WalkHeadersTest extends HeadersContract {
    @Override
    protected String source() {
        return """
                #include "roost_hnsw.h"
                #include "tile.h"
                """;
    }

    @Override
    protected String library() {
        return kernels("roost_hnsw");
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() {
        NativeWalk.all();
        return NativeWalk.Library.LIBRARY.functions();
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>();
        values.putAll(constants(GraphImage.class, name -> name.equals("MAX_LEVELS") ? name : at("struct image", name)));
        values.putAll(constants(WalkScratch.class, name -> switch (name) {
            case "LANES", "CANDIDATES_PER_NODE" -> name;
            case "ESTIMATE_BYTES" -> "sizeof(struct estimate)";
            default -> at("struct progress", name);
        }));
        values.putAll(constants(NeighborCodes.class, name -> switch (name) {
            case "BLOCK", "PADDED_TO", "GROUP" -> name;
            case "GROUP_ENTRIES" -> "GROUP_BYTES";
            default -> "";
        }));
        values.putAll(constants(CodeTable.class, name -> name.equals("LANES") ? "CODE_LANES" : ""));
        for (GraphImage.Content content : GraphImage.Content.values()) {
            values.put(content.name(), (long) content.ordinal());
        }
        values.put("TILE", (long) GraphWalk.TILE);
        values.put("MAX_DIMENSIONS", (long) Vectors.MAX_DIMENSIONS);
        return values;
    }

    private static String at(String struct, String name) {
        return name.startsWith("AT_")
                ? offset(struct, name.substring("AT_".length()).toLowerCase(Locale.ROOT))
                : "";
    }
}
