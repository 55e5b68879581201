package io.github.roost.bench.cachesim;

import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.OrchestratorStats.TaskCounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** The program under the emulator: searches saved tables in a closed loop. Each search starts the next from the worker that ran it. */
final class Guest {
    private final GuestTables tables;
    private final SavedTables.Search[] searches;
    private final AtomicInteger next = new AtomicInteger();

    private Guest(GuestTables tables, SavedTables.Search[] searches) {
        this.tables = tables;
        this.searches = searches;
    }

    /** Takes the words of a {@link GuestRun}, then the number of tables and the file for {@link Scheduled}. */
    public static void main(String[] words) throws IOException {
        GuestRun run = GuestRun.of(words);
        int count = Integer.parseInt(words[words.length - 2]);
        SavedTables.Search[] searches = new SavedTables(run.folder(), count).searches(run.warmUp() + run.searches());
        try (GuestTables tables = new GuestTables(run, count)) {
            Guest guest = new Guest(tables, searches);
            mark("model-on");
            guest.run(run.warmUp(), run.inFlight());
            OrchestratorStats before = tables.stats();
            long began = System.nanoTime();
            mark("count-on");
            guest.run(run.warmUp() + run.searches(), run.inFlight());
            mark("count-off");
            long micros = (System.nanoTime() - began) / 1_000;
            Scheduled scheduled = Scheduled.between(before, tables.stats(), micros);
            Files.writeString(Path.of(words[words.length - 1]), scheduled.words());
        }
    }

    /** The plugin sees the names of threads. */
    private static void mark(String name) {
        Thread.currentThread().setName(name);
    }

    private void run(int end, int inFlight) {
        List<CompletableFuture<Void>> chains = new ArrayList<>();
        for (int chain = 0; chain < inFlight; chain++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            chains.add(done);
            step(end, done);
        }
        chains.forEach(CompletableFuture::join);
    }

    private void step(int end, CompletableFuture<Void> done) {
        int number = next.getAndUpdate(last -> Math.min(last + 1, end));
        if (number >= end) {
            done.complete(null);
            return;
        }
        var _ = tables.search(searches[number]).whenComplete((found, failure) -> {
            if (failure != null) {
                done.completeExceptionally(failure);
            } else {
                step(end, done);
            }
        });
    }

    /**
     * What the scheduler did while the plugin counted.
     *
     * @param tasks that ended; for IVF, several per search
     * @param atHome tasks that ran on another worker of their domain
     * @param across tasks that ran in another domain
     * @param remaps published mappings
     * @param micros duration
     */
    record Scheduled(long tasks, long atHome, long across, long remaps, long micros) {
        static Scheduled between(OrchestratorStats before, OrchestratorStats after, long micros) {
            TaskCounts old = before.tasks();
            TaskCounts now = after.tasks();
            return new Scheduled(
                    now.completed() - old.completed(),
                    now.intraSteals() - old.intraSteals(),
                    now.crossSteals() - old.crossSteals(),
                    after.remaps() - before.remaps(),
                    micros);
        }

        String words() {
            return tasks + " " + atHome + " " + across + " " + remaps + " " + micros;
        }

        static Scheduled of(String words) {
            String[] each = words.split(" ", -1);
            return new Scheduled(
                    Long.parseLong(each[0]),
                    Long.parseLong(each[1]),
                    Long.parseLong(each[2]),
                    Long.parseLong(each[3]),
                    Long.parseLong(each[4]));
        }
    }
}
