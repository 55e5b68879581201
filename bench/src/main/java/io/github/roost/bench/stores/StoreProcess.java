package io.github.roost.bench.stores;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.simulator.measure.Samples;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The process of one store, so that its memory is its own and it can be killed. It opens the store, searches once, prints the milliseconds of both,
 * and then answers each line of its input by a line. What it measures, it measures itself.
 */
final class StoreProcess {
    /** Adds per second beside searches. */
    private static final int STEADY = 100;

    private static final long NANOS = 1_000_000_000L;
    private static final double NANOS_PER_MILLI = 1e6;

    private final TextStore store;
    private final TextData data;
    private final float[][] queries;

    private StoreProcess(TextStore store, TextData data, float[][] queries) {
        this.store = store;
        this.data = data;
        this.queries = queries;
    }

    /**
     * Runs the process until its input ends.
     *
     * @param arguments contender, folder, file of vectors, file of texts, file of words or nothing, stored texts
     */
    public static void main(String[] arguments) throws Exception {
        TextData data = new TextData(
                Path.of(arguments[2]), Path.of(arguments[3]), arguments[4], Integer.parseInt(arguments[5]));
        float[][] queries = data.queries();
        long began = System.nanoTime();
        TextStore store = Contender.valueOf(arguments[0]).open(Path.of(arguments[1]));
        store.search(queries[0], 0, Condition.ALL, store.efforts().getFirst());
        answer(millisSince(began));
        StoreProcess process = new StoreProcess(store, data, queries);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            process.obey(line.split(" ", -1));
            if (line.equals("close")) {
                System.exit(0);
            }
        }
        // The other process has ended: nothing must keep this one alive.
        Runtime.getRuntime().halt(1);
    }

    private void obey(String[] order) throws Exception {
        switch (order[0]) {
            case "add" -> answer(add(number(order[1]), number(order[2]), number(order[3])));
            case "find" -> answerIds(Condition.valueOf(order[1]), number(order[2]), number(order[3]));
            case "search" -> {
                ClosedLoop.Run run =
                        search(Condition.valueOf(order[1]), number(order[2]), number(order[3]), number(order[4]));
                answer(run.perSecond(), run.latencies().p99us() / 1e3);
            }
            case "beside" -> answer(searchBeside(number(order[1]), number(order[2]), number(order[3])));
            case "first" -> answer(firstSearches(number(order[1]), number(order[2]), number(order[3])));
            case "efforts" ->
                answer(store.efforts().stream()
                        .mapToDouble(Integer::doubleValue)
                        .toArray());
            case "memory" -> answer(heapMib(), residentMib());
            case "size" -> answer(store.size());
            case "close" -> {
                long began = System.nanoTime();
                store.close();
                answer(millisSince(began));
            }
            default -> throw new IllegalArgumentException("an order must be known, got " + order[0]);
        }
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private static void answer(double... numbers) {
        System.out.println(Arrays.stream(numbers)
                .mapToObj(number -> String.format(Locale.ROOT, "%.4f", number))
                .collect(Collectors.joining(" ")));
    }

    private static double millisSince(long began) {
        return (System.nanoTime() - began) / NANOS_PER_MILLI;
    }

    /** Adds texts; returns how many per second. Reading them is not measured. */
    private double add(int from, int to, int perCall) throws Exception {
        long nanos = 0;
        int next = from;
        while (next < to) {
            // Reading them one call at a time would skip the lines before them each time.
            List<StoredText> block = data.read(next, to);
            for (int first = 0; first < block.size(); first += perCall) {
                List<StoredText> some = block.subList(first, Math.min(block.size(), first + perCall));
                long began = System.nanoTime();
                store.add(some);
                nanos += System.nanoTime() - began;
            }
            next += block.size();
        }
        return (to - from) / (nanos / (double) NANOS);
    }

    private void answerIds(Condition condition, int effort, int count) throws Exception {
        List<String> all = new ArrayList<>();
        for (int query = 0; query < count; query++) {
            all.add(IntStream.of(store.search(queries[query], query, condition, effort))
                    .mapToObj(String::valueOf)
                    .collect(Collectors.joining(",")));
        }
        System.out.println(String.join(" ", all));
    }

    private ClosedLoop.Run search(Condition condition, int effort, int threads, int millis) throws Exception {
        return new ClientThreads(threads).run(Duration.ofMillis(millis), number -> {
            int query = number % queries.length;
            store.search(queries[query], query, condition, effort);
        });
    }

    /** Searches while texts are added one by one; returns the P99 in milliseconds, and how many were added per second. */
    private double[] searchBeside(int effort, int from, int millis) throws Exception {
        List<StoredText> texts = data.read(from, from + Math.max(1, millis * STEADY / 1_000));
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        long[] ended = new long[1];
        long began = System.nanoTime();
        Thread adding = Thread.ofPlatform().start(() -> {
            try {
                for (int i = 0; i < texts.size(); i++) {
                    long due = began + i * NANOS / STEADY;
                    while (System.nanoTime() < due) {
                        LockSupport.parkNanos(due - System.nanoTime());
                    }
                    store.add(texts.subList(i, i + 1));
                }
                ended[0] = System.nanoTime();
            } catch (Exception failed) {
                failure.set(failed);
            }
        });
        ClosedLoop.Run run = search(Condition.ALL, effort, 1, millis);
        adding.join();
        Exception failed = failure.get();
        if (failed != null) {
            throw failed;
        }
        return new double[] {run.latencies().p99us() / 1e3, texts.size() / ((ended[0] - began) / (double) NANOS)};
    }

    /** Adds texts and searches after each; returns the median time of a search in milliseconds. */
    private double firstSearches(int effort, int from, int count) throws Exception {
        List<Double> millis = new ArrayList<>();
        for (StoredText each : data.read(from, from + count)) {
            store.add(List.of(each));
            int query = each.number() % queries.length;
            long began = System.nanoTime();
            store.search(queries[query], query, Condition.ALL, effort);
            millis.add(millisSince(began));
        }
        return Samples.of(millis).median();
    }

    private static double heapMib() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return (runtime.totalMemory() - runtime.freeMemory()) / (double) (1 << 20);
    }

    private static double residentMib() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) / (1 << 10))
                .findFirst()
                .orElse(0);
    }
}
