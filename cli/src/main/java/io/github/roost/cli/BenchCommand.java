package io.github.roost.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code roost bench}: benchmarks, each of which answers one question. */
@Command(
        name = "bench",
        description = "Benchmarks, each of which answers one question.",
        synopsisSubcommandLabel = "COMMAND")
final class BenchCommand implements Callable<Integer> {
    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "no benchmark given, see roost bench --help");
    }

    /** Throws unless the value of an option is within its range. */
    static void require(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new CommandFailure(option + " must be between " + min + " and " + max + ", got " + value);
        }
    }
}
