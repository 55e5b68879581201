package io.github.roost.bench.peer;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Other JVMs like this one. Stateless. */
public final class ChildJvm {
    private ChildJvm() {}

    /** The command line of this JVM, with another main class and without arguments for it. */
    public static List<String> command(Class<?> main) {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        words.add("-Droost.terminal=false");
        words.add("-cp");
        words.add(ManagementFactory.getRuntimeMXBean().getClassPath());
        words.add(main.getName());
        return words;
    }

    /** Removes the hook that would end a process, unless this JVM is already shutting down. */
    public static void removeHook(Thread ender) {
        try {
            Runtime.getRuntime().removeShutdownHook(ender);
        } catch (IllegalStateException shuttingDown) {
            // Then the hook runs too and finds no process.
        }
    }

    /** Ends a process, by force after a timeout. */
    public static void end(Process process, Duration timeout) {
        process.destroy();
        try {
            if (!process.waitFor(timeout)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
