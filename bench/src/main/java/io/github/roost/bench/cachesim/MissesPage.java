package io.github.roost.bench.cachesim;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A page of runs in Markdown, with all counts in a file of JSON and pictures beside it. Stateless. */
final class MissesPage {
    private static final ObjectMapper JSON = new ObjectMapper();

    private MissesPage() {}

    /** The outcomes of a command. */
    record Run(String command, String machine, List<Outcome> outcomes) {}

    /** Adds a run to a page, in place of an earlier one of its command. */
    static void write(Path page, Run run) throws IOException {
        String name = String.valueOf(page.getFileName()).replaceFirst("\\.md$", "");
        Path counts = page.resolveSibling(name + ".json");
        List<Run> runs = new ArrayList<>(
                Files.exists(counts) ? JSON.readValue(counts.toFile(), new TypeReference<List<Run>>() {}) : List.of());
        runs.removeIf(earlier -> earlier.command().equals(run.command()));
        runs.add(run);
        Files.writeString(counts, JSON.writeValueAsString(runs));
        StringBuilder text = new StringBuilder("""
            # Cache misses, counted

            L3 misses of unmodified Roost on machines with several L3s, counted by an emulator that runs its JVM and models the caches
            beneath it. Scheduler, homes and kernels are the real ones; times are not: two cores take turns as all workers, and a miss takes no
            longer than a hit. So Roost does not measure what a task loses by crossing domains. The age of its gate is the default,
            times how many times as long a task takes here; the mapper's windows are of a twelfth of the warm-up. A
            range is of all runs; a number after it is the ratio to the first policy. Roost is told the first size of `--l3-kib`, and
            the second table of each load is of that size; there "cold" includes new heap memory.

            Every count is in `%s`.
            """.formatted(counts.getFileName()));
        int picture = 0;
        for (Run each : runs) {
            text.append("\n## `%s`\n\n%s\n".formatted(each.command(), each.machine()));
            for (Outcome outcome : each.outcomes()) {
                String file = "%s-%d.svg".formatted(name, ++picture);
                Files.writeString(page.resolveSibling(file), outcome.plot().svg());
                text.append("\n%s\n![misses per search](%s)\n".formatted(outcome.text(), file));
            }
        }
        Files.writeString(page, text);
    }
}
