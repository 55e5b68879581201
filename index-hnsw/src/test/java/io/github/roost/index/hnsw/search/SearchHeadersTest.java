package io.github.roost.index.hnsw.search;

import io.github.roost.testkit.HeadersContract;
import io.github.roost.vector.Vectors;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

class SearchHeadersTest extends HeadersContract {
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
        NativeSearch.all();
        return NativeSearch.Library.LIBRARY.functions();
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>();
        values.putAll(constants(GraphImage.class, name -> name.equals("MAX_LEVELS") ? name : at("struct image", name)));
        values.putAll(constants(SearchScratch.class, name -> switch (name) {
            case "LANES" -> name;
            default -> at("struct progress", name);
        }));
        values.putAll(layout("struct search", SearchArguments.LAYOUT));
        values.putAll(layout("struct group", GroupScratch.LAYOUT));
        values.putAll(layout("struct insert", InsertScratch.LAYOUT));
        values.putAll(layout("struct build", GraphInsertion.LAYOUT));
        for (GraphImage.Content content : GraphImage.Content.values()) {
            values.put(content.name(), (long) content.ordinal());
        }
        values.put("MAX_STARTS", (long) JavaSearch.MAX_STARTS);
        values.put("TILE", (long) GraphSearcher.TILE);
        values.put("MAX_DIMENSIONS", (long) Vectors.MAX_DIMENSIONS);
        return values;
    }

    private static String at(String struct, String name) {
        return name.startsWith("AT_")
                ? offset(struct, name.substring("AT_".length()).toLowerCase(Locale.ROOT))
                : "";
    }
}
