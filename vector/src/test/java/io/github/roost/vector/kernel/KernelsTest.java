package io.github.roost.vector.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KernelsTest {
    private static final String PROPERTY = "roost.test.kernel";

    private final Kernels<String> kernels = new Kernels<>(PROPERTY, List.of("fast", "java"), Function.identity());

    @AfterEach
    void clear() {
        System.clearProperty(PROPERTY);
    }

    @Test
    void theFirstIsPreferredUnlessThePropertyNamesAnother() {
        assertThat(kernels.preferred()).isEqualTo("fast");
        System.setProperty(PROPERTY, "java");
        assertThat(kernels.preferred()).isEqualTo("java");
    }

    @Test
    void aNameThatThereIsNotIsRefusedWithThoseThatThereAre() {
        System.setProperty(PROPERTY, "faster");
        assertThatThrownBy(kernels::preferred)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("roost.test.kernel must be one of [fast, java], got faster");
    }

    @Test
    void aLibraryThatCannotBeLoadedIsNoKernel() {
        assertThat(Kernels.orNone("tested without", () -> {
                    throw new UnsatisfiedLinkError("no library");
                }))
                .isEmpty();
        assertThat(Kernels.orNone("tested with", () -> List.of("one"))).containsExactly("one");
    }

    @Test
    void deniedNativeAccessIsReportedWithTheArgumentThatAllowsIt() {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            assertThat(Kernels.orNone("tested without", () -> {
                        throw new ExceptionInInitializerError(new IllegalCallerException("denied"));
                    }))
                    .isEmpty();
        } finally {
            System.setErr(before);
        }
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("tested without: native access is denied to Roost's core module; to allow it:"
                        + " --enable-native-access=");
    }
}
