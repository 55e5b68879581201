package io.github.roost.cli;

import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.roost.bench.Provenance;
import io.github.roost.bench.report.Evidence;
import io.github.roost.bench.report.Parts;
import io.github.roost.bench.report.Results;
import io.github.roost.bench.report.Run;
import io.github.roost.bench.report.RunPart;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.testkit.PeerPython;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.lucene.search.IndexSearcher;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.runner.Runner;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code roost bench all}: every benchmark and simulation, one after another, as one page and as JSON. */
@Command(
        name = "all",
        description = {
            "Runs every benchmark and simulation; writes one page with plots, and JSON. Half an hour on two cores.",
            "Each part is saved when it is done: an interrupted run continues where it stopped."
        })
final class AllCommand implements Callable<Integer> {
    private final Streams streams;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            required = true,
            description = "Folder for index.html, results.json and the parts.")
    private Path out = Path.of("");

    @Option(names = "--quick", description = "Small workloads, some minutes: checks that everything works.")
    private boolean quick;

    @Option(names = "--only", paramLabel = "TEXT", description = "Only parts whose name contains this.")
    private String only = "";

    @Option(
            names = "--peer",
            paramLabel = "all|none",
            description = "none leaves out libraries that need Python; default all.")
    private Peer peer = Peer.all;

    @Option(
            names = "--from",
            paramLabel = "FILE",
            description = "Run nothing: make the documents from an earlier run's results.json.")
    private @Nullable Path from;

    @Option(
            names = "--evidence",
            paramLabel = "FILE.md",
            description = "Also write Markdown, and the results as FILE.json next to it.")
    private @Nullable Path evidence;

    /** Compared libraries. */
    enum Peer {
        all,
        none
    }

    AllCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (evidence != null && !evidence.toString().endsWith(".md")) {
            throw new CommandFailure("--evidence must name a file that ends in .md, got " + evidence);
        }
        Files.createDirectories(out);
        Results results = from == null ? run() : Results.read(from);
        writePage(results);
        if (evidence != null) {
            Path json =
                    evidence.resolveSibling(evidence.getFileName().toString().replaceFirst("\\.md$", ".json"));
            results.write(json);
            Files.writeString(evidence, Evidence.markdown(results, String.valueOf(json.getFileName())));
        }
        streams.out().println(out.resolve("index.html"));
        List<String> failed = results.parts().stream()
                .filter(part -> part.failure() != null)
                .map(part -> part.name() + " (" + part.failure() + ")")
                .toList();
        if (!failed.isEmpty()) {
            throw new CommandFailure("failed, run the same command again to retry: " + String.join("; ", failed));
        }
        return 0;
    }

    private Results run() throws IOException, InterruptedException {
        List<RunPart> parts = Parts.of(quick, peer == Peer.all).stream()
                .filter(part -> part.name().contains(only))
                .toList();
        if (parts.isEmpty()) {
            throw new CommandFailure("--only must be in the name of a part: "
                    + Parts.of(quick, true).stream().map(RunPart::name).toList() + "; got " + only);
        }
        return new Run(out, provenance(), quick, new RoostProcess(streams.err())::run, streams.err()::println)
                .all(parts, this::writePage);
    }

    private void writePage(Results results) throws IOException {
        Files.writeString(out.resolve("index.html"), Evidence.page(results));
    }

    private Provenance provenance() {
        Topology topology = TopologyReader.live().read();
        Map<String, String> versions = new TreeMap<>();
        versions.put("Roost", Provenance.versionOf(RunPart.class));
        versions.put("jvector", Provenance.versionOf(GraphSearcher.class));
        versions.put("Lucene", Provenance.versionOf(IndexSearcher.class));
        versions.put("JMH", Provenance.versionOf(Runner.class));
        versions.put("gcc", Provenance.firstLineOf(Path.of("."), "cc", "-dumpfullversion"));
        if (peer == Peer.all) {
            versions.putAll(Provenance.pinned(Stream.concat(Stream.of(PeerPython.FAISS), PeerPython.RIVALS.stream())
                    .toList()));
            versions.put(
                    "Python",
                    Provenance.firstLineOf(Path.of("."), "python3", "--version").replace("Python ", ""));
        }
        return Provenance.here(RoostHome.folder(""), topology, versions);
    }
}
