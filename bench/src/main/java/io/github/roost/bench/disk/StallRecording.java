package io.github.roost.bench.disk;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * A recording of stalls, and of the maintenance steps that filled them: the input of {@link StallSplits}. Durations over half a millisecond are left
 * out.
 *
 * @param cycles of empty stalls, worker by worker
 * @param computedAfterFilled how long searches computed after a filled stall, in nanoseconds
 * @param stepNanos durations of steps whose target was 5 us
 * @param updateNanos time per update on workers
 */
public record StallRecording(List<Cycle> cycles, long[] computedAfterFilled, long[] stepNanos, double updateNanos) {
    private static final int MAX = 2_048;
    /** A longer stall or step lost its core to another thread, which no use of stalls affects. */
    private static final long LOST_CORE_NANOS = 500_000;

    /**
     * A stall and the computation after it.
     *
     * @param reads in flight when it began
     * @param stallNanos its length
     * @param computedNanos from its end to the next stall
     */
    public record Cycle(int reads, long stallNanos, long computedNanos) {}

    /** Throws an IllegalArgumentException if any of them is empty or not positive. */
    public StallRecording {
        if (cycles.isEmpty() || computedAfterFilled.length == 0 || stepNanos.length == 0 || !(updateNanos > 0)) {
            throw new IllegalArgumentException("a recording needs empty stalls, filled ones, steps and updates, got "
                    + cycles.size() + ", " + computedAfterFilled.length + ", " + stepNanos.length + " and "
                    + updateNanos
                    + " ns per update");
        }
    }

    /** Reads a recording of JDK Flight Recorder; keeps about two thousand values of each kind. */
    static StallRecording of(Path file, double updateNanos) throws IOException {
        List<Cycle> cycles = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        List<Long> steps = new ArrayList<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            switch (event.getEventType().getName()) {
                case "io.github.roost.Stall" -> {
                    long computed = event.getLong("computed");
                    if (Math.max(computed, event.getLong("length")) > LOST_CORE_NANOS) {
                        break;
                    }
                    if (event.getBoolean("isEmpty")) {
                        cycles.add(new Cycle(event.getInt("readsUnderWay"), event.getLong("length"), computed));
                    } else if (event.getLong("filled") > 0) {
                        after.add(computed);
                    }
                }
                case "io.github.roost.StallStep" -> {
                    if (event.getLong("took") <= LOST_CORE_NANOS) {
                        steps.add(event.getLong("took"));
                    }
                }
                default -> {
                    // An event of the JVM itself.
                }
            }
        }
        return new StallRecording(
                List.copyOf(cycles.subList(0, Math.min(MAX, cycles.size()))), some(after), some(steps), updateNanos);
    }

    private static long[] some(List<Long> all) {
        int every = Math.max(1, all.size() / MAX);
        return IntStream.range(0, Math.min(MAX, all.size()))
                .mapToLong(i -> all.get(i * every))
                .toArray();
    }

    /** The recording as text, readable by {@link #read}. */
    public String text() {
        StringBuilder text = new StringBuilder();
        text.append("update ").append(Math.round(updateNanos)).append('\n');
        for (Cycle cycle : cycles) {
            text.append("empty ")
                    .append(cycle.reads)
                    .append(' ')
                    .append(cycle.stallNanos)
                    .append(' ')
                    .append(cycle.computedNanos)
                    .append('\n');
        }
        for (long nanos : computedAfterFilled) {
            text.append("filled ").append(nanos).append('\n');
        }
        for (long nanos : stepNanos) {
            text.append("step ").append(nanos).append('\n');
        }
        return text.toString();
    }

    /** Parses {@link #text}. */
    public static StallRecording read(BufferedReader lines) throws IOException {
        List<Cycle> cycles = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        List<Long> steps = new ArrayList<>();
        double update = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "update" -> update = Long.parseLong(words[1]);
                case "empty" ->
                    cycles.add(
                            new Cycle(Integer.parseInt(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3])));
                case "filled" -> after.add(Long.parseLong(words[1]));
                case "step" -> steps.add(Long.parseLong(words[1]));
                default ->
                    throw new IOException(
                            "a line of a recording must begin with update, empty, filled or step, got " + line);
            }
        }
        return new StallRecording(
                cycles,
                after.stream().mapToLong(Long::longValue).toArray(),
                steps.stream().mapToLong(Long::longValue).toArray(),
                update);
    }

    /** The file name of a recording. */
    public static String fileName(UpdateWorkersBench.Kind kind) {
        return kind == UpdateWorkersBench.Kind.INSERTS ? "stalls-inserts.txt" : "stalls-deletes.txt";
    }

    /** Returns a built-in recording; the folder of the resource describes how it was made. */
    public static StallRecording kept(UpdateWorkersBench.Kind kind) {
        String name = fileName(kind);
        try (InputStream file = StallRecording.class.getResourceAsStream(name)) {
            if (file == null) {
                throw new IllegalStateException(name + " is not among the resources");
            }
            return read(new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8)));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
