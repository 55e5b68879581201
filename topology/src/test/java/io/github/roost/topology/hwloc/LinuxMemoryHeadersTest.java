package io.github.roost.topology.hwloc;

import io.github.roost.testkit.HeadersContract;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class LinuxMemoryHeadersTest extends HeadersContract {
    private final NativeFunctions c = NativeFunctions.ofLinux();
    private final LinuxMemory memory = new LinuxMemory(c);

    @Override
    protected String source() {
        return """
                #define _GNU_SOURCE
                #include <errno.h>
                #include <sys/mman.h>
                #include <sys/syscall.h>
                #include <unistd.h>
                #include <linux/mempolicy.h>
                #include <linux/mman.h>
                """;
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() {
        return c.linked();
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>(constants(LinuxMemory.class, name -> switch (name) {
            case "NO_FILE", "THIS_PROCESS", "HUGE_PAGE", "UNUSED_SHARE", "PAGE", "PAGES_PER_CALL" -> "";
            case "PROT_READ_WRITE" -> "PROT_READ | PROT_WRITE";
            case "MAP_PRIVATE_ANONYMOUS" -> "MAP_PRIVATE | MAP_ANONYMOUS";
            default -> name;
        }));
        if (memory.movePages != null) {
            values.put("SYS_move_pages", memory.movePages.number());
        }
        return values;
    }
}
