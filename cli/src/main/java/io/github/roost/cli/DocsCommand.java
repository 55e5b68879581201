package io.github.roost.cli;

import io.github.roost.cli.site.Site;
import io.github.roost.simulator.options.RoostHome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code roost docs}: the guides and the Javadoc as a web site. */
@Command(
        name = "docs",
        description = "Writes the guides and the Javadoc of all modules as HTML pages, and prints their location.")
final class DocsCommand implements Callable<Integer> {
    private final Streams streams;

    @Option(names = "--out", paramLabel = "FOLDER", description = "Output folder; default cli/target/site.")
    private Path out = RoostHome.checkout().resolve(Path.of("cli", "target", "site"));

    @Option(names = "--guides", description = "Only the guides, which takes a second.")
    private boolean guides;

    DocsCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException {
        new Site(RoostHome.checkout(), out, streams.err()).build(!guides);
        return 0;
    }
}
