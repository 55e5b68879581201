package io.github.roost.io.linux;

import io.github.roost.testkit.HeadersContract;
import java.lang.foreign.FunctionDescriptor;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

class LinuxHeadersTest extends HeadersContract {
    @Override
    protected String source() {
        return """
                #define _GNU_SOURCE
                #include <errno.h>
                #include <fcntl.h>
                #include <sys/eventfd.h>
                #include <sys/mman.h>
                #include <sys/syscall.h>
                #include <sys/uio.h>
                #include <unistd.h>
                #include <linux/io_uring.h>
                """;
    }

    @Override
    protected Map<String, FunctionDescriptor> functions() throws Exception {
        return LinuxCalls.get().linked;
    }

    @Override
    protected Map<String, Long> values() throws Exception {
        Map<String, Long> values = new HashMap<>(constants(UringLayout.class, LinuxHeadersTest::ofRing));
        values.putAll(constants(Errno.class, name -> name));
        values.putAll(constants(DirectFile.class, name -> name));
        values.put("O_DIRECT", (long) DirectFile.direct());
        values.putAll(constants(LinuxCalls.class, name -> switch (name) {
            case "PROT_READ_WRITE" -> "PROT_READ | PROT_WRITE";
            case "MAP_SHARED_POPULATE" -> "MAP_SHARED | MAP_POPULATE";
            default -> name;
        }));
        return values;
    }

    /** What a constant stands for in C, by its name. */
    private static String ofRing(String name) {
        String rest = name.substring(name.indexOf('_') + 1);
        return switch (name) {
            case "SETUP_CALL", "ENTER_CALL", "REGISTER_CALL" ->
                "SYS_io_uring_" + name.substring(0, name.indexOf('_')).toLowerCase(Locale.ROOT);
            case "FEATURE_SINGLE_MMAP", "FEATURE_NATIVE_WORKERS" -> "IORING_FEAT_" + rest;
            case "MAP_RINGS" -> "IORING_OFF_SQ_RING";
            case "MAP_ENTRIES" -> "IORING_OFF_SQES";
            case "EVENTFD_DISABLED" -> "IORING_CQ_EVENTFD_DISABLED";
            case "PARAMS_BYTES" -> "sizeof(struct io_uring_params)";
            case "SQE_BYTES" -> "sizeof(struct io_uring_sqe)";
            case "CQE_BYTES" -> "sizeof(struct io_uring_cqe)";
            case "FILES_UPDATE_BYTES" -> "sizeof(struct io_uring_files_update)";
            case "FILES_UPDATE_FDS" -> offset("struct io_uring_files_update", "fds");
            case "FIXED_FILE" -> "IOSQE_FIXED_FILE";
            case "IOVEC_BYTES" -> "sizeof(struct iovec)";
            case "SQ_MASK", "CQ_MASK" -> ofRings(name, "ring_mask");
            case "SQE_OFFSET" -> offset("struct io_uring_sqe", "off");
            case "SQE_ADDRESS" -> offset("struct io_uring_sqe", "addr");
            case "SQE_LENGTH" -> offset("struct io_uring_sqe", "len");
            case "SQE_BUFFER_INDEX" -> offset("struct io_uring_sqe", "buf_index");
            case "CQE_RESULT" -> offset("struct io_uring_cqe", "res");
            default -> {
                String field = rest.toLowerCase(Locale.ROOT);
                yield switch (name.substring(0, name.indexOf('_'))) {
                    case "PARAMS" -> offset("struct io_uring_params", field);
                    case "SQ", "CQ" -> ofRings(name, field);
                    case "SQE" -> offset("struct io_uring_sqe", field);
                    case "CQE" -> offset("struct io_uring_cqe", field);
                    default -> "IORING_" + name;
                };
            }
        };
    }

    private static String ofRings(String name, String field) {
        return offset("struct io_uring_params", (name.startsWith("SQ") ? "sq_off." : "cq_off.") + field);
    }
}
