package io.github.roost.cli;

import io.github.roost.index.remote.RemoteTable;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** {@code roost build remote}. */
@Command(
        name = "remote",
        description = "Builds and saves a pool of partitions. The id of a row is its number in the file, from 0.")
final class BuildRemoteCommand implements Callable<Integer> {
    @ParentCommand
    private @SuppressWarnings("NullAway.Init") BuildCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final BuildOptions options = new BuildOptions();

    @Mixin
    private final RemoteBuildOptions build = new RemoteBuildOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        build.check();
        return options.run(
                parent.streams(),
                (orchestrator, name, metric, rows) -> build.start(orchestrator, metric, rows, RemoteTable.builder()));
    }
}
