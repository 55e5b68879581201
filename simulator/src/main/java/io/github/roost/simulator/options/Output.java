package io.github.roost.simulator.options;

import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints a benchmark's results on the standard output of its command line, and its progress on standard error. */
@Command
public class Output {
    @Spec(Spec.Target.MIXEE)
    private @SuppressWarnings("NullAway.Init") CommandSpec command;

    /** Prints a line of the results. */
    public void line(String text) {
        printed(text);
    }

    /** Prints a line of the results, formatted. */
    @SuppressWarnings("AnnotateFormatMethod")
    public final void format(String format, Object... values) {
        line(String.format(Locale.ROOT, format, values));
    }

    /** Reports on standard error what the benchmark does next. */
    public final void progress(String what) {
        command.commandLine().getErr().println("... " + what);
    }

    final void printed(String text) {
        command.commandLine().getOut().println(text);
    }
}
