package io.github.roost.bench.table;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Chronicle Map in its own JVM, since it needs opened packages of the JDK. The process measures its turns itself, with keys from the same seed: one
 * line with a batch size per command, one line with microseconds per answer. Not thread-safe.
 */
final class ChroniclePeer implements AutoCloseable {
    /** The options that Chronicle's README requires. */
    private static final List<String> OPENED = List.of(
            "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
            "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
            "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
            "--add-opens=java.base/java.io=ALL-UNNAMED",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/java.util=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    /** The prefix of answers: libraries also write to standard output. */
    private static final String ANSWER = "answer ";

    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter orders;
    private final long memoryBytes;

    /** Starts the process, and waits until its map is filled and checked. */
    ChroniclePeer(int rows, int maxKeys) throws IOException {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(OPENED);
        words.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dchronicle.analytics.disable=true",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
        // The same max heap as this JVM, if one was set.
        Stream.of(ManagementFactory.getRuntimeMXBean().getInputArguments().toArray(String[]::new))
                .filter(argument -> argument.startsWith("-Xmx"))
                .forEach(words::add);
        words.addAll(List.of(
                "-cp",
                ManagementFactory.getRuntimeMXBean().getClassPath(),
                ChroniclePeer.class.getName(),
                Integer.toString(rows),
                Integer.toString(maxKeys)));
        this.process = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.orders = process.outputWriter(StandardCharsets.UTF_8);
        boolean done = false;
        try {
            this.memoryBytes = (long) answer();
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    String name() {
        return "Chronicle Map, off-heap";
    }

    long memoryBytes() {
        return memoryBytes;
    }

    /** Runs one turn in the process; nothing may be measured here at the same time. */
    double medianMicros(int batch) throws IOException {
        orders.write(batch + "\n");
        orders.flush();
        return answer();
    }

    private double answer() throws IOException {
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.startsWith(ANSWER)) {
                return Double.parseDouble(line.substring(ANSWER.length()));
            }
        }
        throw new IOException("the JVM of Chronicle Map ended, see its message above");
    }

    @Override
    public void close() {
        process.destroy();
    }

    /** The entry point of the process. */
    public static void main(String[] args) throws IOException {
        BatchWorkload workload = BatchWorkload.of(Integer.parseInt(args[0]));
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (ChronicleStore store =
                new ChronicleStore(workload.keys(), BatchWorkload.VALUE_BYTES, Integer.parseInt(args[1]))) {
            workload.require(store);
            out.println(ANSWER + store.memoryBytes());
            for (String order = in.readLine(); order != null; order = in.readLine()) {
                out.println(ANSWER + workload.medianMicros(store, Integer.parseInt(order)));
            }
        }
    }
}
