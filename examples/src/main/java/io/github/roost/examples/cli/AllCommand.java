package io.github.roost.examples.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code roost bench all}: every benchmark, one after the other, as one page. What each prints is kept as soon as it is
 * done, so a run that is interrupted goes on where it was.
 */
@Command(
        name = "all",
        description = {
            "Every benchmark, and the simulations, as one page and as JSON. A run that was interrupted goes on where it",
            "was: a part whose output lies in the folder is not run again."
        })
final class AllCommand implements Callable<Integer> {
    private static final List<List<String>> PARTS = List.of(
            List.of("bench", "scheduling", "--rounds", "2"),
            List.of("bench", "locality"),
            List.of("bench", "gate"),
            List.of("bench", "remap"),
            List.of("bench", "hnsw"),
            List.of("bench", "ivf"),
            List.of("bench", "ivf", "--element", "int8", "--peer", "none"),
            List.of("bench", "lucene"),
            List.of("bench", "serve"),
            List.of("bench", "replay", "--workload", "packages-hnsw", "--baseline", "forkjoin"),
            List.of("bench", "replay", "--workload", "hnsw", "--level", "L2", "--predict"),
            List.of("bench", "replay", "--workload", "ivf", "--level", "L2", "--predict"),
            List.of("sim", "--workload", "hnsw", "--ccds", "1..12", "--policy", "v0,v1,v2,v2-homes,v2-staying,roost"),
            List.of("sim", "--workload", "ivf", "--ccds", "1..12", "--policy", "v0,v1,v2,v2-mailboxes,roost"),
            List.of("sim", "--workload", "hnsw", "--machine", "rome"),
            List.of(
                    "sim",
                    "--workload",
                    "hnsw",
                    "--machine",
                    "genoa-2s",
                    "--in-flight",
                    "768",
                    "--policy",
                    "v0,v2,roost"),
            List.of("sim", "--workload", "hnsw", "--searches", "5000", "--policy", "v0,v2,roost", "--sensitivity"));

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--out", paramLabel = "FOLDER", required = true, description = "Where the page and its parts go.")
    private Path out = Path.of("");

    @Option(names = "--only", paramLabel = "TEXT", description = "Only commands that contain this.")
    private String only = "";

    AllCommand(Streams streams) {
        this.streams = streams;
    }

    /** One benchmark and what it printed. */
    private record Part(String command, String output) {}

    @Override
    public Integer call() throws IOException {
        Files.createDirectories(out);
        List<Part> done = new ArrayList<>();
        int failed = 0;
        for (List<String> command : PARTS) {
            String line = String.join(" ", command);
            if (!line.contains(only)) {
                continue;
            }
            Path file = out.resolve(line.replaceAll("[^A-Za-z0-9.]+", "-") + ".txt");
            if (!Files.exists(file)) {
                streams.err().println("roost " + line);
                failed += run(command, file) ? 0 : 1;
            }
            if (Files.exists(file)) {
                done.add(new Part("./roost " + line, Files.readString(file)));
            }
            write(done);
        }
        streams.out().println(out.resolve("index.html"));
        return failed == 0 ? 0 : 1;
    }

    /** Runs a command; its output is in place only once it has succeeded. */
    private boolean run(List<String> command, Path file) throws IOException {
        Path draft = Files.createTempFile(out, "part", ".txt");
        try (PrintStream output = new PrintStream(Files.newOutputStream(draft), false, StandardCharsets.UTF_8)) {
            Streams captured = new Streams(streams.in(), output, streams.err(), false);
            if (RoostCommand.run(command.toArray(String[]::new), captured) != 0) {
                return false;
            }
            output.flush();
            Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
            return true;
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    private void write(List<Part> parts) throws IOException {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("written", Instant.now().toString());
        report.put("commit", commit());
        report.put("machine", machine());
        report.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        report.put("parts", parts);
        Files.writeString(
                out.resolve("results.json"),
                JsonMapper.builder().build().writerWithDefaultPrettyPrinter().writeValueAsString(report));
        Files.writeString(out.resolve("index.html"), page(report, parts));
    }

    private static String page(Map<String, Object> report, List<Part> parts) {
        StringBuilder page = new StringBuilder();
        page.append("""
                <!doctype html>
                <html lang="en">
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <title>Roost: benchmarks</title>
                <style>
                :root { color-scheme: light dark; font-family: sans-serif; }
                body { margin: 1rem auto; max-width: 80rem; padding: 0 1rem; }
                pre { overflow-x: auto; padding: .5rem; border: 1px solid; }
                </style>
                <h1>Roost: benchmarks</h1>
                <dl>
                """);
        report.forEach((name, value) -> {
            if (!name.equals("parts")) {
                page.append("<dt>%s<dd>%s\n".formatted(name, escaped(String.valueOf(value))));
            }
        });
        page.append("</dl>\n");
        for (Part part : parts) {
            page.append("<h2><code>%s</code></h2>\n<pre tabindex=\"0\">%s</pre>\n"
                    .formatted(escaped(part.command), escaped(part.output)));
        }
        return page.append("</html>\n").toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String machine() throws IOException {
        Path cpuinfo = Path.of("/proc/cpuinfo");
        String cpu = Files.isReadable(cpuinfo)
                ? Files.readAllLines(cpuinfo).stream()
                        .filter(line -> line.startsWith("model name"))
                        .map(line -> line.replaceFirst(".*: *", ""))
                        .findFirst()
                        .orElse("")
                : "";
        return "%d CPUs, %s %s, %s"
                .formatted(
                        Runtime.getRuntime().availableProcessors(),
                        System.getProperty("os.name"),
                        System.getProperty("os.arch"),
                        cpu);
    }

    /** The commit of the checkout, or that there is none. */
    private static String commit() throws IOException {
        try {
            Process git = new ProcessBuilder("git", "rev-parse", "HEAD")
                    .directory(RoostHome.folder("").toAbsolutePath().toFile())
                    .redirectErrorStream(true)
                    .start();
            String hash = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor(5, TimeUnit.SECONDS) && git.exitValue() == 0 ? hash : "unknown: no git checkout";
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return "unknown: interrupted";
        }
    }
}
