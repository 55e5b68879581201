package io.github.roost.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code roost search}: the parent of {@code hnsw}, {@code ivf}, {@code disk} and {@code remote}. */
@Command(
        name = "search",
        description = "Answers queries from a file by a saved table, or by a table built in memory.",
        synopsisSubcommandLabel = "hnsw|ivf|disk|remote",
        subcommands = {
            SearchHnswCommand.class,
            SearchIvfCommand.class,
            SearchDiskCommand.class,
            SearchRemoteCommand.class
        })
final class SearchCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    SearchCommand(Streams streams) {
        this.streams = streams;
    }

    Streams streams() {
        return streams;
    }

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(), "no index given, say search hnsw, search ivf, search disk or search remote");
    }
}
