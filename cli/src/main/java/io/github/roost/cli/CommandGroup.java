package io.github.roost.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that only has subcommands. */
@Command
final class CommandGroup implements Callable<Integer> {
    private final String complaint;

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    private CommandGroup(String complaint) {
        this.complaint = complaint;
    }

    /**
     * Creates a group, to which subcommands are added.
     *
     * @param label of the subcommands in the synopsis
     * @param complaint said if no subcommand is given
     */
    static CommandLine of(String label, String description, String complaint) {
        CommandLine group = new CommandLine(new CommandGroup(complaint));
        group.getCommandSpec().usageMessage().description(description).synopsisSubcommandLabel(label);
        return group;
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), complaint);
    }
}
