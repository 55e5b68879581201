package io.github.roost.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a main class of the tests in a JVM of its own, to be killed. */
public final class OtherJvm {
    private OtherJvm() {}

    /** Starts it; what it says on its standard error is thrown away. */
    public static Process start(Class<?> main, String... arguments) throws IOException {
        String here = System.getProperty("jdk.module.path", "")
                + System.getProperty("path.separator")
                + System.getProperty("java.class.path")
                + System.getProperty("path.separator")
                + Path.of("target", "test-classes").toAbsolutePath();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules=jdk.incubator.vector",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                here,
                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
