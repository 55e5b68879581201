package io.github.roost.topology.hwloc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds the hand-written bindings against those that jextract has generated ({@code mvn -Pjextract verify}). */
@Tag("program")
class JextractBindingsTest {
    private static final Path GENERATED = Path.of("target", "jextract");

    @TempDir
    private Path classes;

    @BeforeEach
    void needsGeneratedBindings() {
        assumeTrue(
                Files.isDirectory(GENERATED),
                "there are no generated bindings: run with -Pjextract and a jextract on the PATH");
    }

    @Test
    void everyFunctionHasTheDescriptorThatTheHeaderGives() throws Exception {
        try (URLClassLoader loader = compile()) {
            Class<?> header = loader.loadClass("hwloc.generated.Hwloc");
            for (var function : HwlocBindings.FUNCTIONS.entrySet()) {
                var generated = (FunctionDescriptor)
                        header.getMethod(function.getKey() + "$descriptor").invoke(null);
                assertThat(plain(function.getValue())).as(function.getKey()).isEqualTo(plain(generated));
            }
        }
    }

    @Test
    void everyFieldStandsWhereTheHeaderPutsIt() throws Exception {
        try (URLClassLoader loader = compile()) {
            Class<?> object = loader.loadClass("hwloc.generated.hwloc_obj");
            assertThat(offset(object, "os_index")).isEqualTo(HwlocBindings.OS_INDEX);
            assertThat(offset(object, "attr")).isEqualTo(HwlocBindings.ATTR);
            assertThat(offset(object, "cpuset")).isEqualTo(HwlocBindings.CPUSET);
        }
    }

    private static long offset(Class<?> struct, String field) throws ReflectiveOperationException {
        return (long) struct.getMethod(field + "$offset").invoke(null);
    }

    /** Names, and what a pointer points to, are no part of how a function is called. */
    private static FunctionDescriptor plain(FunctionDescriptor descriptor) {
        MemoryLayout[] arguments = descriptor.argumentLayouts().stream()
                .map(JextractBindingsTest::plain)
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

    private URLClassLoader compile() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-nowarn", "-d", classes.toString()));
        try (Stream<Path> sources = Files.walk(GENERATED)) {
            sources.map(Path::toString).filter(path -> path.endsWith(".java")).forEach(arguments::add);
        }
        StringWriter messages = new StringWriter();
        PrintWriter output = new PrintWriter(messages);
        int result =
                ToolProvider.findFirst("javac").orElseThrow().run(output, output, arguments.toArray(String[]::new));
        assertThat(result).as(messages.toString()).isZero();
        return new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());
    }
}
