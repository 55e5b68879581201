package io.github.roost.vector.kernel;

import io.github.roost.testkit.HeadersContract;
import java.util.HashMap;
import java.util.Map;

class InstructionSetHeadersTest extends HeadersContract {
    @Override
    protected String source() {
        return "#include \"isa.h\"\n";
    }

    @Override
    protected Map<String, Long> values() {
        Map<String, Long> values = new HashMap<>();
        for (InstructionSet set : InstructionSet.values()) {
            values.put(set.name(), (long) set.code());
        }
        return values;
    }
}
