package io.github.roost.bench.stores;

import io.github.roost.bench.peer.ChildJvm;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A store in a {@link StoreProcess}, which can be restarted. Not thread-safe. */
final class RunningStore implements AutoCloseable {
    /** Of each store; those in memory write all vectors as one text. */
    private static final String HEAP = "-Xmx5g";

    private static final int MAX_CLOSE_SECONDS = 60;

    private final Contender contender;
    private final Path folder;
    private final TextData data;
    private @Nullable Process process;
    private @Nullable BufferedReader answers;
    private @Nullable BufferedWriter orders;

    RunningStore(Contender contender, Path folder, TextData data) throws IOException {
        this.contender = contender;
        this.folder = Files.createDirectories(folder);
        this.data = data;
        start();
    }

    Contender contender() {
        return contender;
    }

    /** The folder of its files. */
    Path folder() {
        return folder;
    }

    /** Starts the process; returns the milliseconds in which it opens the store and searches once. */
    private double start() throws IOException {
        List<String> words = ChildJvm.command(StoreProcess.class);
        words.add(1, HEAP);
        words.addAll(List.of(
                contender.name(),
                folder.toString(),
                data.vectors().toString(),
                data.texts().toString(),
                data.words(),
                String.valueOf(data.stored())));
        Process started = new ProcessBuilder(words)
                .redirectError(folder.resolveSibling(contender.name() + ".log").toFile())
                .start();
        process = started;
        answers = new BufferedReader(new InputStreamReader(started.getInputStream(), StandardCharsets.UTF_8));
        orders = new BufferedWriter(new OutputStreamWriter(started.getOutputStream(), StandardCharsets.UTF_8));
        return numbers(answer())[0];
    }

    private String answer() throws IOException {
        String line = answers == null ? null : answers.readLine();
        if (line == null) {
            Path log = folder.resolveSibling(contender.name() + ".log");
            String why = Files.readAllLines(log).stream()
                    .filter(each -> each.contains("Exception") || each.contains("Error"))
                    .findFirst()
                    .orElse("no message");
            throw new CommandFailure("the process of " + Options.name(contender) + " ended: " + why);
        }
        return line;
    }

    private String order(Object... words) throws IOException {
        if (orders == null) {
            throw new IllegalStateException("the process must have been started");
        }
        orders.write(String.join(" ", Arrays.stream(words).map(String::valueOf).toList()));
        orders.newLine();
        orders.flush();
        return answer();
    }

    private static double[] numbers(String line) {
        return Arrays.stream(line.split(" ")).mapToDouble(Double::parseDouble).toArray();
    }

    /** Adds the texts of some numbers; returns texts per second. */
    double add(int from, int to, int perCall) throws IOException {
        return numbers(order("add", from, to, perCall))[0];
    }

    /** Runs the first queries; returns the numbers of the found texts. */
    int[][] find(Condition condition, int effort, int count) throws IOException {
        return Arrays.stream(order("find", condition, effort, count).split(" ", -1))
                .map(found -> found.isEmpty()
                        ? new int[0]
                        : Arrays.stream(found.split(","))
                                .mapToInt(Integer::parseInt)
                                .toArray())
                .toArray(int[][]::new);
    }

    /** Searches for a time; returns searches per second and the P99 in milliseconds. */
    double[] search(Condition condition, int effort, int threads, long millis) throws IOException {
        return numbers(order("search", condition, effort, threads, millis));
    }

    /** Searches while texts are added; returns the P99 in milliseconds, and how many were added per second. */
    double[] searchBeside(int effort, int from, long millis) throws IOException {
        return numbers(order("beside", effort, from, millis));
    }

    /** Adds texts and searches after each; returns the median time of a search in milliseconds. */
    double firstSearch(int effort, int from, int count) throws IOException {
        return numbers(order("first", effort, from, count))[0];
    }

    /** The store's default effort first, then others, ascending. */
    List<Integer> efforts() throws IOException {
        return Arrays.stream(numbers(order("efforts")))
                .mapToObj(each -> (int) each)
                .toList();
    }

    /** The heap after a collection, and the resident memory, in MiB. */
    double[] memory() throws IOException {
        return numbers(order("memory"));
    }

    int size() throws IOException {
        return (int) numbers(order("size"))[0];
    }

    /** Closes the store and opens it in a new process; returns the milliseconds of closing, and of opening and the first search. */
    double[] restart() throws IOException, InterruptedException {
        double closed = numbers(order("close"))[0];
        end();
        return new double[] {closed, start()};
    }

    /** Kills the process and opens the store in a new one; returns the milliseconds of opening and the first search. */
    double kill() throws IOException, InterruptedException {
        if (process != null) {
            process.destroyForcibly();
        }
        end();
        return start();
    }

    private void end() throws InterruptedException {
        if (process != null && !process.waitFor(MAX_CLOSE_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }

    @Override
    public void close() {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
    }
}
