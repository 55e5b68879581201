package io.github.roost.topology.hwloc;

import io.github.roost.testkit.HeadersContract;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Map;

class HwlocHeadersTest extends HeadersContract {
    @Override
    protected String source() {
        return """
                #include <hwloc.h>
                #include <hwloc/cpukinds.h>
                """;
    }

    @Override
    protected String library() {
        return "hwloc";
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() {
        return HwlocBindings.FUNCTIONS;
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>(constants(HwlocTopology.class, name -> switch (name) {
            case "NOT_FOUND", "MAX_BIT" -> "";
            case "INCLUDE_DISALLOWED" -> "HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED";
            case "MEMBIND_FLAGS" -> "HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_MIGRATE | HWLOC_MEMBIND_BYNODESET";
            default -> "HWLOC_" + name;
        }));
        for (HwlocObjectType type : HwlocObjectType.values()) {
            values.put("HWLOC_OBJ_" + type.name().replace("_CACHE", "CACHE").replace("_NODE", "NODE"), (long)
                    type.number());
        }
        values.put(offset("struct hwloc_obj", "os_index"), HwlocBindings.OS_INDEX);
        values.put(offset("struct hwloc_obj", "attr"), HwlocBindings.ATTR);
        values.put(offset("struct hwloc_obj", "cpuset"), HwlocBindings.CPUSET);
        values.put(offset("union hwloc_obj_attr_u", "cache.size"), HwlocBindings.ATTR_BYTES);
        values.put(offset("union hwloc_obj_attr_u", "numanode.local_memory"), HwlocBindings.ATTR_BYTES);
        return values;
    }
}
