package io.github.roost.topology.hwloc;

import io.github.roost.testkit.HeadersContract;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class LinuxSchedulerHeadersTest extends HeadersContract {
    private final NativeFunctions c = NativeFunctions.ofLinux();
    private final LinuxScheduler scheduler = new LinuxScheduler(c);

    /** The header of Linux declares once more what is already in the C library's. */
    @Override
    protected String source() {
        return """
                #define _GNU_SOURCE
                #include <errno.h>
                #include <sched.h>
                #include <sys/syscall.h>
                #include <unistd.h>
                #define sched_param sched_param_of_linux
                #include <linux/sched/types.h>
                """;
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() {
        return c.linked();
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>(constants(LinuxScheduler.class, name -> switch (name) {
            case "FIRST_MASK_BYTES", "LAST_MASK_BYTES" -> "";
            case "ATTRIBUTES_BYTES" -> "SCHED_ATTR_SIZE_VER0";
            case "POLICY_OFFSET" -> offset("struct sched_attr", "sched_policy");
            case "RUNTIME_OFFSET" -> offset("struct sched_attr", "sched_runtime");
            default -> name;
        }));
        if (scheduler.attributes != null) {
            values.put("SYS_sched_getattr", scheduler.attributes.get());
            values.put("SYS_sched_setattr", scheduler.attributes.set());
        }
        return values;
    }
}
