package io.github.roost.cli;

import io.github.roost.bench.opensearch.PackageNode;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.testkit.packages.DebianPackages;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost opensearch}: an OpenSearch node with Roost's plugin and the Debian packages. */
@Command(
        name = "opensearch",
        description = {
            "Starts an OpenSearch node with Roost's plugin, on the loopback address, and indexes the Debian packages.",
            "Prints how to search them. SIGTERM or Ctrl-C stops the node and deletes its files."
        })
final class OpenSearchCommand implements Callable<Integer> {
    private static final int MAX_SECTIONS = 58;

    private final Streams streams;

    @Option(names = "--port", paramLabel = "N", description = "Port to listen on, 0 for any free one; default 9200.")
    private int port = 9_200;

    @Option(names = "--sections", paramLabel = "N", description = "Debian's N largest sections; default all 58.")
    private int sections = MAX_SECTIONS;

    @Mixin
    private final ReserveCoresOption reserved = new ReserveCoresOption();

    OpenSearchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        Options.require("--port", port, 0, 65_535);
        Options.require("--sections", sections, 1, MAX_SECTIONS);
        // The node inherits the CPUs of this process.
        reserved.reserve(null);
        DebianPackages packages = DebianPackages.read(RoostHome.packages()).largestSections(sections);
        streams.err().println("starting OpenSearch");
        try (PackageNode node = PackageNode.start(RoostHome.checkout(), port)) {
            int count = packages.packages().size();
            try (JobProgress progress = new JobProgress(streams, "writing %,d packages".formatted(count), count)) {
                node.load(packages, progress::steps);
            }
            DebianPackages.Query phrase = packages.phrases().getFirst();
            streams.out().println("\"" + phrase.text() + "\":");
            streams.out().println(node.curl(phrase));
            streams.out().flush();
            streams.err()
                    .println(
                            "a search for another text needs its vector; docs/guide/opensearch.md begins an index of your own");
            streams.err().println("OpenSearch is on " + node.address() + "; Ctrl-C stops it");
            node.awaitEnd();
        }
        return 0;
    }
}
