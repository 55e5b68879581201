package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.MadeUp;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code roost} in a checkout that it need not build, with the classes of this test. */
@Tag("program")
class LauncherTest {
    /** A folder and two files whose names are not in ASCII; written for the shell, because this JVM may run in the C locale too. */
    private static final String FOLDER = "$'d\\xc3\\xa9'";

    private static final String VECTORS = FOLDER + "/$'\\xc3\\xbc.fvecs'";
    private static final String TABLE = FOLDER + "/$'\\xe2\\x82\\xac.hnsw'";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path checkout;

    @BeforeEach
    void prepare() throws IOException {
        Files.copy(Path.of("../roost"), checkout.resolve("roost"));
        Files.createFile(checkout.resolve("pom.xml"));
        Path target = Files.createDirectories(checkout.resolve("cli/target"));
        Files.createDirectories(checkout.resolve("cli/src/main"));
        Files.createFile(checkout.resolve("cli/pom.xml"));
        Path jar = Files.createDirectory(target.resolve("lib")).resolve("classes.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, classPath());
        try (OutputStream out = Files.newOutputStream(jar)) {
            new JarOutputStream(out, manifest).close();
        }
        Files.writeString(target.resolve("roost.built"), "x86_64 aarch64");
        Files.createFile(target.resolve("aot.log"));
        FloatVectors.write(checkout.resolve("ascii.fvecs"), MadeUp.gaussian(50, 4, new Random(1)));
    }

    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(entry -> Path.of(entry).toUri().toString())
                .collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"LC_ALL=C", "LC_ALL=POSIX", "LANG="})
    void filesWhoseNamesAreNotInAsciiAreFoundInEveryLocale(String locale) throws Exception {
        String script = "mkdir " + FOLDER + " && cp ascii.fvecs " + VECTORS
                + " && env -u LC_ALL -u LC_CTYPE -u LANG " + locale + " bash roost build hnsw --base " + VECTORS
                + " --out " + TABLE + " && test -s " + TABLE + " && ls " + FOLDER + " | wc -l";
        Process process = new ProcessBuilder(List.of("bash", "-c", script))
                .directory(checkout.toFile())
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).describedAs(printed).isZero();
        assertThat(printed.strip()).endsWith("\n2");
    }
}
