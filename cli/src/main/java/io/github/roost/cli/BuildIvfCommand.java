package io.github.roost.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** {@code roost build ivf}. */
@Command(
        name = "ivf",
        description = "Builds and saves an IVF table. The id of a row is its number in the file, from 0.")
final class BuildIvfCommand implements Callable<Integer> {
    @ParentCommand
    private @SuppressWarnings("NullAway.Init") BuildCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final BuildOptions options = new BuildOptions();

    @Mixin
    private final IvfBuildOptions build = new IvfBuildOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        build.check();
        return options.run(
                parent.streams(),
                (orchestrator, name, metric, rows) ->
                        build.builder(name, metric, rows.size()).start(orchestrator, SearchOptions.ids(rows), rows));
    }
}
