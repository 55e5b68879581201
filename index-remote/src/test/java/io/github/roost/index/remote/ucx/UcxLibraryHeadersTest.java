package io.github.roost.index.remote.ucx;

import io.github.roost.testkit.HeadersContract;
import java.lang.foreign.FunctionDescriptor;
import java.util.Map;

class UcxLibraryHeadersTest extends HeadersContract {
    @Override
    protected String source() {
        return "#include <stdlib.h>\n";
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() {
        return Map.of("setenv", UcxLibrary.SETENV);
    }
}
