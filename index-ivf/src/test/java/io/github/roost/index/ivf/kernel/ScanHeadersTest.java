package io.github.roost.index.ivf.kernel;

import io.github.roost.testkit.HeadersContract;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Map;

class ScanHeadersTest extends HeadersContract {
    @Override
    protected String source() {
        return "#include \"roost_ivf.h\"\n";
    }

    @Override
    protected String library() {
        return kernels("roost_ivf");
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() {
        NativeScan.all();
        return NativeScan.Library.LIBRARY.functions();
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>(constants(RowRun.class, name -> name));
        values.putAll(constants(CodeRun.class, name -> name));
        values.putAll(constants(NativeScan.class, name -> name.equals("MAX_ORDERED") ? name : ""));
        values.putAll(constants(JavaScan.class, name -> name));
        values.putAll(layout("struct scan", QueryGroup.LAYOUT));
        values.putAll(layout("struct codes", CodeGroup.LAYOUT));
        values.putAll(layout("struct picks", RowPicks.LAYOUT));
        return values;
    }
}
