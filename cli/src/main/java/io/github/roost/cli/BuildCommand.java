package io.github.roost.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code roost build}: the parent of {@code hnsw}, {@code ivf}, {@code disk} and {@code remote}. */
@Command(
        name = "build",
        description = "Builds a table from a vector file and saves it, for roost search --table and for programs.",
        synopsisSubcommandLabel = "hnsw|ivf|disk|remote",
        subcommands = {BuildHnswCommand.class, BuildIvfCommand.class, BuildDiskCommand.class, BuildRemoteCommand.class})
final class BuildCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    BuildCommand(Streams streams) {
        this.streams = streams;
    }

    Streams streams() {
        return streams;
    }

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(), "no index given, say build hnsw, build ivf, build disk or build remote");
    }
}
