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
 * What stalls and the steps that filled them were like in a run: what {@link StallSplits} is fed with. Half a millisecond is the most of
 * each.
 *
 * @param cycles of stalls that were left empty, in the order of one worker after the other
 * @param computedAfterFilled how long a search computed after a stall that was filled, in nanoseconds
 * @param stepNanos how long steps took that were to take 5 us
 * @param updateNanos that an update took on workers
 */
public record StallRecording(List<Cycle> cycles, long[] computedAfterFilled, long[] stepNanos, double updateNanos) {
    private static final int MOST = 2_048;
    /** Who takes longer has lost its core to another thread meanwhile, which no use of stalls changes. */
    private static final long LOST_CORE_NANOS = 500_000;

    /**
     * A stall and what came after it.
     *
     * @param reads under way as it began
     * @param stallNanos its length
     * @param computedNanos from its end to the next stall
     */
    public record Cycle(int reads, long stallNanos, long computedNanos) {}

    /** Requires some of each. */
    public StallRecording {
        if (cycles.isEmpty() || computedAfterFilled.length == 0 || stepNanos.length == 0 || !(updateNanos > 0)) {
            throw new IllegalArgumentException("a recording needs empty stalls, filled ones, steps and updates, got "
                    + cycles.size() + ", " + computedAfterFilled.length + ", " + stepNanos.length + " and "
                    + updateNanos
                    + " ns an update");
        }
    }

    /** What a recording of the JVM's has of these; the first some thousand. */
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
                    // Of the JVM's own.
                }
            }
        }
        return new StallRecording(
                List.copyOf(cycles.subList(0, Math.min(MOST, cycles.size()))), some(after), some(steps), updateNanos);
    }

    private static long[] some(List<Long> all) {
        int every = Math.max(1, all.size() / MOST);
        return IntStream.range(0, Math.min(MOST, all.size()))
                .mapToLong(i -> all.get(i * every))
                .toArray();
    }

    /** As {@link #read} takes it. */
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

    /** Reads {@link #text}. */
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

    /** The name of the file of a recording. */
    public static String fileName(UpdateWorkersBench.Kind kind) {
        return kind == UpdateWorkersBench.Kind.INSERTS ? "stalls-inserts.txt" : "stalls-deletes.txt";
    }

    /** One that is kept with the program: see its folder for how and where it was made. */
    public static StallRecording kept(UpdateWorkersBench.Kind kind) {
        String name = fileName(kind);
        try (InputStream file = StallRecording.class.getResourceAsStream(name)) {
            if (file == null) {
                throw new IllegalStateException(name + " is not in the program");
            }
            return read(new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8)));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
