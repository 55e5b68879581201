package io.github.roost.testkit;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds the functions, offsets and numbers that Java knows of C's headers, all written by hand, against what jextract and a C
 * compiler read there. A test skips itself, and says so, where its program or one of the system's headers is not installed.
 */
@Tag("program")
public abstract class HeadersContract {
    private static final Pattern SYSTEM_HEADER = Pattern.compile("#include <(.+)>");
    private static final List<String> INCLUDES = List.of(
            "/usr/include",
            "/usr/include/x86_64-linux-gnu",
            "/usr/include/aarch64-linux-gnu",
            "/usr/include/riscv64-linux-gnu");

    /** Where headers lie besides the system's; a module without kernels has no such folder. The second are shared by all kernels. */
    private static final List<String> KERNEL_HEADERS = List.of("-I", "src/main/c", "-I", "../vector/src/main/c");

    @TempDir
    private Path directory;

    /** C that includes the headers. */
    protected abstract String source();

    /** The library of the functions, as jextract's option {@code --library} takes it; empty for the C library. */
    protected String library() {
        return "";
    }

    /** The option for a library of kernels that the module builds. */
    protected static String kernels(String name) {
        String machine = System.getProperty("os.arch").replace("amd64", "x86_64");
        Path built = Path.of("target", "classes", "native", "linux-" + machine, "lib" + name + ".so");
        return ":" + built.toAbsolutePath();
    }

    /** What is linked, by name. */
    protected Map<String, FunctionDescriptor> functions() throws Exception {
        return Map.of();
    }

    /** Java's values of expressions in C. Those that jextract knows are constants, offsets, sizes of structs and of their fields, and several joined by {@code |}. */
    protected Map<String, Long> values() throws Exception {
        return Map.of();
    }

    /**
     * The numbers among the constants of a class. All are asked for, so that a new one cannot be forgotten.
     *
     * @param toC the expression in C for the constant of a name; empty where C has none
     */
    protected static Map<String, Long> constants(Class<?> owner, UnaryOperator<String> toC)
            throws IllegalAccessException {
        Map<String, Long> values = new TreeMap<>();
        for (Field field : owner.getDeclaredFields()) {
            boolean isNumber = field.getType() == int.class || field.getType() == long.class;
            String expression = Modifier.isStatic(field.getModifiers()) && isNumber ? toC.apply(field.getName()) : "";
            if (!expression.isEmpty()) {
                field.setAccessible(true);
                values.put(expression, ((Number) field.get(null)).longValue());
            }
        }
        assertThat(values).as("constants of " + owner).isNotEmpty();
        return values;
    }

    /** The expression for where a field of a struct lies. */
    protected static String offset(String struct, String field) {
        return "offsetof(" + struct + ", " + field + ")";
    }

    /** The offsets and sizes of all fields of a struct, and its size. */
    protected static Map<String, Long> layout(String struct, StructLayout layout) {
        Map<String, Long> values = new TreeMap<>();
        values.put("sizeof(" + struct + ")", layout.byteSize());
        for (MemoryLayout member : layout.memberLayouts()) {
            member.name().ifPresent(name -> {
                values.put(offset(struct, name), layout.byteOffset(PathElement.groupElement(name)));
                values.put("sizeof(((" + struct + " *)0)->" + name + ")", member.byteSize());
            });
        }
        return values;
    }

    @BeforeEach
    void needsHeaders() {
        SYSTEM_HEADER
                .matcher(source())
                .results()
                .map(header -> header.group(1))
                .forEach(header -> assumeTrue(
                        INCLUDES.stream().anyMatch(folder -> Files.isReadable(Path.of(folder, header))),
                        "the header " + header + " is not installed"));
        if (library().startsWith(":")) {
            assumeTrue(Files.isReadable(Path.of(library().substring(1))), library() + " is not built");
        }
    }

    @Test
    void calledFunctionsAreThoseThatGraalvmIsTold() throws Exception {
        NativeImageMetadata told = NativeImageMetadata.ofThisModule();
        Set<String> called = NativeImageMetadata.typesOf(functions().values());
        assertThat(told.downcalls()).containsAll(called);
        if (library().startsWith(":")) {
            assertThat(called).containsAll(told.downcalls());
            String glob = "native/*/" + Path.of(library()).getFileName();
            assertThat(told.hasResource(glob) && told.hasResource(glob + ".sha256"))
                    .as(glob)
                    .isTrue();
        }
    }

    @Test
    void functionsAndValuesAreThoseThatJextractReads() throws Exception {
        boolean isThere = isOnPath("jextract");
        assertThat(isThere || !"required".equals(System.getProperty("roost.test.jextract")))
                .as("the profile jextract needs jextract on the PATH")
                .isTrue();
        assumeTrue(isThere, "there is no jextract on the PATH");
        Path header = Files.writeString(directory.resolve("all.h"), source());
        List<String> options = new ArrayList<>(KERNEL_HEADERS);
        if (!library().isEmpty()) {
            options.addAll(List.of("--library", library()));
        }
        try (Jextracted c = Jextracted.of(directory, header, options)) {
            Map<String, FunctionDescriptor> written = new TreeMap<>();
            Map<String, FunctionDescriptor> read = new TreeMap<>();
            for (var function : functions().entrySet()) {
                FunctionDescriptor declared = c.descriptor(function.getKey());
                read.put(function.getKey(), plain(declared, declared));
                written.put(
                        function.getKey(),
                        plain(function.getValue(), c.isVariadic(function.getKey()) ? declared : function.getValue()));
            }
            assertThat(written).isEqualTo(read);
            Map<String, Long> values = new TreeMap<>();
            for (String expression : values().keySet()) {
                values.put(expression, c.value(expression));
            }
            assertThat(values()).isEqualTo(values);
        }
    }

    @Test
    void valuesAreThoseThatACompilerReads() throws Exception {
        String compiler = Stream.of("cc", "gcc", "clang")
                .filter(HeadersContract::isOnPath)
                .findFirst()
                .orElse("");
        assumeTrue(!compiler.isEmpty(), "there is no C compiler");
        List<String> expressions = List.copyOf(values().keySet());
        assumeTrue(!expressions.isEmpty(), "of these headers Java knows functions alone");
        String program = source() + "#include <stddef.h>\n#include <stdio.h>\n"
                + expressions.stream()
                        .map(expression -> "    printf(\"%lld\\n\", (long long)(" + expression + "));\n")
                        .collect(joining("", "int main(void) {\n", "    return 0;\n}\n"));
        Path file = Files.writeString(directory.resolve("values.c"), program);
        Path executable = directory.resolve("values");
        List<String> command = new ArrayList<>(
                List.of(compiler, "-std=gnu11", "-w", "-o", executable.toString(), file.toString()));
        command.addAll(KERNEL_HEADERS);
        run(command);
        List<String> printed = run(List.of(executable.toString()));
        Map<String, Long> values = new TreeMap<>();
        for (int i = 0; i < expressions.size(); i++) {
            values.put(expressions.get(i), Long.valueOf(printed.get(i)));
        }
        assertThat(values()).isEqualTo(values);
    }

    /** Names, and what a pointer points to, are no part of how a function is called; nor are arguments beyond those declared. */
    private static FunctionDescriptor plain(FunctionDescriptor descriptor, FunctionDescriptor declared) {
        MemoryLayout[] arguments = descriptor.argumentLayouts().stream()
                .limit(declared.argumentLayouts().size())
                .map(HeadersContract::plain)
                .toArray(MemoryLayout[]::new);
        return descriptor
                .returnLayout()
                .map(result -> FunctionDescriptor.of(plain(result), arguments))
                .orElseGet(() -> FunctionDescriptor.ofVoid(arguments));
    }

    private static MemoryLayout plain(MemoryLayout layout) {
        MemoryLayout unnamed = layout.withoutName();
        return unnamed instanceof AddressLayout address ? address.withoutTargetLayout() : unnamed;
    }

    private static boolean isOnPath(String program) {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** What a program prints, which must end well. */
    static List<String> run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor())
                .as(() -> String.join(" ", command) + "\n" + String.join("\n", lines))
                .isZero();
        return lines;
    }
}
