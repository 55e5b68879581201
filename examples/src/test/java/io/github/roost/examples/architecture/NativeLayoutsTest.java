package io.github.roost.examples.architecture;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.core.kernel.InstructionSet;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds the numbers and offsets that Java knows of C's headers against what a C compiler makes of these headers. Every constant
 * of the Java class is compared, so that a new one cannot be forgotten.
 */
@Tag("program")
class NativeLayoutsTest {
    private static final Path SYSTEM = Path.of("/usr/include");

    @TempDir
    private Path directory;

    @Test
    void theHeadOfAGraphInMemoryIsTheStructOfTheWalk() throws Exception {
        Map<String, Long> java =
                constants("io.github.roost.index.hnsw.walk.GraphImage", name -> name.startsWith("AT_"));
        assertThat(java).hasSizeGreaterThan(20);
        assertThat(java).isEqualTo(walk(java, name -> offset("struct image", name.substring("AT_".length()))));
    }

    @Test
    void instructionSetsHaveTheNumbersOfTheHeader() throws Exception {
        Map<String, Long> java = new TreeMap<>();
        for (InstructionSet set : InstructionSet.values()) {
            java.put(set.name(), (long) set.code());
        }
        Path sources = Programs.ROOT.resolve("core/src/main/c");
        assertThat(java).isEqualTo(compiled(java, List.of("isa.h"), sources, UnaryOperator.identity()));
    }

    @Test
    void theProgressOfAWalkStandsWhereJavaReadsIt() throws Exception {
        Map<String, Long> java =
                constants("io.github.roost.index.hnsw.walk.WalkScratch", name -> name.startsWith("AT_"));
        assertThat(java).isNotEmpty();
        assertThat(java).isEqualTo(walk(java, name -> offset("struct progress", name.substring("AT_".length()))));
    }

    @Test
    void whatIsKnownOfTheRingOfTheKernelIsWhatItsHeaderSays() throws Exception {
        Path header = Path.of("/usr/include/linux/io_uring.h");
        assumeTrue(Files.isReadable(header), "the kernel's headers are not installed (linux-libc-dev)");
        Map<String, Long> java = constants("io.github.roost.core.io.linux.UringLayout", name -> true);
        assertThat(java).hasSizeGreaterThan(30);
        Map<String, Long> c = compiled(
                java, List.of("linux/io_uring.h", "sys/syscall.h", "sys/uio.h"), SYSTEM, NativeLayoutsTest::ofRing);
        assertThat(java).isEqualTo(c);
    }

    @Test
    void numbersOfErrorsAreThoseOfTheHeader() throws Exception {
        Map<String, Long> java = constants("io.github.roost.core.io.linux.Errno", name -> name.startsWith("E"));
        assertThat(java).isNotEmpty();
        assertThat(java).isEqualTo(compiled(java, List.of("errno.h"), SYSTEM, UnaryOperator.identity()));
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
            case "IOVEC_BYTES" -> "sizeof(struct iovec)";
            case "SQ_MASK", "CQ_MASK" -> ofRings(name, "ring_mask");
            case "SQE_OFFSET" -> offset("struct io_uring_sqe", "off");
            case "SQE_ADDRESS" -> offset("struct io_uring_sqe", "addr");
            case "SQE_LENGTH" -> offset("struct io_uring_sqe", "len");
            case "SQE_BUFFER_INDEX" -> offset("struct io_uring_sqe", "buf_index");
            case "CQE_RESULT" -> offset("struct io_uring_cqe", "res");
            default ->
                switch (name.substring(0, name.indexOf('_'))) {
                    case "PARAMS" -> offset("struct io_uring_params", rest);
                    case "SQ", "CQ" -> ofRings(name, rest);
                    case "SQE" -> offset("struct io_uring_sqe", rest);
                    case "CQE" -> offset("struct io_uring_cqe", rest);
                    default -> "IORING_" + name;
                };
        };
    }

    private static String ofRings(String name, String field) {
        return offset(
                "struct io_uring_params",
                (name.startsWith("SQ") ? "sq_off." : "cq_off.") + field.toLowerCase(Locale.ROOT));
    }

    private static String offset(String struct, String field) {
        return "offsetof(" + struct + ", " + field.toLowerCase(Locale.ROOT) + ")";
    }

    private Map<String, Long> walk(Map<String, Long> names, UnaryOperator<String> toC) throws Exception {
        return compiled(names, List.of("walk.h"), Programs.ROOT.resolve("index-hnsw/src/main/c"), toC);
    }

    private static Map<String, Long> constants(String className, Predicate<String> wanted) throws Exception {
        Map<String, Long> values = new TreeMap<>();
        for (Field field : Class.forName(className).getDeclaredFields()) {
            boolean isNumber = field.getType() == int.class || field.getType() == long.class;
            if (Modifier.isStatic(field.getModifiers()) && isNumber && wanted.test(field.getName())) {
                field.setAccessible(true);
                values.put(field.getName(), ((Number) field.get(null)).longValue());
            }
        }
        return values;
    }

    /** The same names with the values of their C expressions. */
    private Map<String, Long> compiled(
            Map<String, Long> names, List<String> headers, Path includes, UnaryOperator<String> toC) throws Exception {
        String compiler = Stream.of("cc", "gcc", "clang")
                .filter(Programs::isOnPath)
                .findFirst()
                .orElse("");
        assumeTrue(!compiler.isEmpty(), "there is no C compiler");
        List<String> inOrder = List.copyOf(names.keySet());
        String source = Stream.concat(Stream.of("stddef.h", "stdint.h", "stdio.h"), headers.stream())
                        .map(header -> "#include <" + header + ">\n")
                        .collect(joining())
                + inOrder.stream()
                        .map(name -> "    printf(\"%lld\\n\", (long long)(" + toC.apply(name) + "));\n")
                        .collect(joining("", "int main(void) {\n", "    return 0;\n}\n"));
        Path program = directory.resolve("layouts");
        Path file = Files.writeString(directory.resolve("layouts.c"), source);
        Stream<String> command = Stream.of(compiler, "-std=gnu11", "-w", "-o", program.toString(), file.toString());
        Programs.run(Stream.concat(command, Stream.of("-idirafter", includes.toString()))
                .toList());
        List<String> values = Programs.run(List.of(program.toString()));
        Map<String, Long> result = new LinkedHashMap<>();
        for (int i = 0; i < inOrder.size(); i++) {
            result.put(inOrder.get(i), Long.valueOf(values.get(i)));
        }
        return result;
    }
}
