package io.github.roost.neighborhash.kernel;

import io.github.roost.testkit.HeadersContract;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Map;

class TableHeadersTest extends HeadersContract {
    @Override
    protected String source() {
        return "#include \"roost_table.h\"\n";
    }

    @Override
    protected String library() {
        return kernels("roost_table");
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() {
        NativeLookup.all();
        return NativeLookup.Library.LIBRARY.functions();
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>(constants(Slots.class, name -> switch (name) {
            case "LINE_SLOTS", "STEP_SHIFT", "STEP_BIAS", "PAYLOAD_BITS", "NEXT_BITS", "REMOVED", "ABSENT" -> name;
            case "SLOT_BYTES" -> "sizeof(struct slot)";
            default -> "";
        }));
        values.putAll(constants(KeyHash.class, name -> name.startsWith("SHARD_") ? "" : name));
        return values;
    }
}
