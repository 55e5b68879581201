package io.github.roost.bench.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.bench.Provenance;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Runs parts one after the other and saves each result at once in its own file, so that an interrupted run can
 * continue: a part with a result of the same command on the same commit is not run again. A failed part is reported and
 * retried by the next run. Not thread-safe.
 */
public final class Run {
    private final Path folder;
    private final Provenance provenance;
    private final boolean quick;
    private final Command runner;
    private final Consumer<String> progress;

    /** Runs a part's command. */
    @FunctionalInterface
    public interface Command {
        /**
         * Runs the command to its end.
         *
         * @param part the command
         * @param json file for its JSON
         * @return an error message, empty on success
         */
        String run(RunPart part, Path json) throws IOException, InterruptedException;
    }

    /**
     * @param folder for the files; created if it does not exist
     * @param progress receives a message when a part begins and when it is done
     */
    public Run(Path folder, Provenance provenance, boolean quick, Command runner, Consumer<String> progress) {
        this.folder = folder;
        this.provenance = provenance;
        this.quick = quick;
        this.runner = runner;
        this.progress = progress;
    }

    /**
     * Runs all parts that have no result yet.
     *
     * @param each receives the results so far after every part
     */
    public Results all(List<RunPart> parts, Kept each) throws IOException, InterruptedException {
        Files.createDirectories(folder.resolve("parts"));
        List<PartResult> done = new ArrayList<>();
        Results results = results(done);
        for (int number = 0; number < parts.size(); number++) {
            RunPart part = parts.get(number);
            double left = parts.subList(number, parts.size()).stream()
                    .mapToDouble(RunPart::minutes)
                    .sum();
            progress.accept(String.format(
                    Locale.ROOT,
                    "[%d/%d, about %.0f min left] %s",
                    number + 1,
                    parts.size(),
                    Math.ceil(left),
                    part.line()));
            done.add(kept(part));
            results = results(done);
            results.write(folder.resolve("results.json"));
            each.keep(results);
        }
        return results;
    }

    /** Writes documents made from the results so far. */
    @FunctionalInterface
    public interface Kept {
        /** Writes the documents. */
        void keep(Results results) throws IOException;
    }

    private Results results(List<PartResult> done) {
        return new Results(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), quick, provenance, done);
    }

    private PartResult kept(RunPart part) throws IOException, InterruptedException {
        Path file = folder.resolve("parts").resolve(part.name() + ".json");
        if (Files.exists(file)) {
            PartResult before = read(file);
            if (before.answers(part, provenance.commit())) {
                progress.accept("  is there already, from this commit");
                return before;
            }
        }
        PartResult result = run(part);
        progress.accept(
                result.failure() == null
                        ? String.format(Locale.ROOT, "  done in %.0f s", result.seconds())
                        : "  failed: " + result.failure());
        WholeFile.replace(
                file,
                channel -> WholeFile.writeAll(
                        channel, StandardCharsets.UTF_8.encode(Results.JSON.writeValueAsString(result))));
        return result;
    }

    private static PartResult read(Path file) throws IOException {
        try {
            return Results.JSON.readValue(Files.readString(file), PartResult.class);
        } catch (JsonProcessingException broken) {
            return new PartResult("", "", "", 0, "not readable", null);
        }
    }

    private PartResult run(RunPart part) throws IOException, InterruptedException {
        Path json = folder.resolve("parts").resolve(part.name() + ".raw.json");
        Files.deleteIfExists(json);
        Instant began = Instant.now();
        String failure = runner.run(part, json);
        double seconds = Duration.between(began, Instant.now()).toMillis() / 1e3;
        JsonNode result = null;
        if (failure.isEmpty()) {
            try {
                result = Condensed.of(Results.JSON.readTree(Files.readString(json)));
            } catch (IOException noJson) {
                failure = "it left no JSON: " + noJson.getMessage();
            } catch (RuntimeException otherJson) {
                failure = "it left other JSON: " + otherJson;
            }
        }
        return new PartResult(
                part.name(), part.line(), provenance.commit(), seconds, failure.isEmpty() ? null : failure, result);
    }
}
