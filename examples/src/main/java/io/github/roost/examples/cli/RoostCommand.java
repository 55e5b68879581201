package io.github.roost.examples.cli;

import io.github.roost.bench.SearchFailedException;
import io.github.roost.topology.TopologyException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code roost}: takes the command line apart, runs a subcommand and turns every failure into one line on
 * standard error and an exit status: 0 done, 1 failed, 2 wrong arguments.
 */
@Command(
        name = "roost",
        description = "Vector search on pinned workers, each table at home in one cache domain.",
        synopsisSubcommandLabel = "COMMAND")
public final class RoostCommand implements Callable<Integer> {
    /** Their logs are not slf4j's; held here, since a logger that nobody holds forgets its level. */
    private static final Logger JVECTOR_LOG = Logger.getLogger("io.github.jbellis.jvector");

    private static final Logger HELIDON_LOG = Logger.getLogger("io.helidon");

    private static final int FAILED = 1;
    private static final int WRONG_ARGUMENTS = 2;

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    @Mixin
    private final HelpOption help = new HelpOption();

    private RoostCommand() {}

    /** Runs the command line on the process's streams and ends the process. */
    public static void main(String[] args) {
        JVECTOR_LOG.setLevel(Level.SEVERE);
        HELIDON_LOG.setLevel(Level.OFF);
        boolean terminal = Boolean.getBoolean("roost.terminal");
        System.exit(run(args, new Streams(System.in, System.out, System.err, terminal)));
    }

    /** Runs the command line on the given streams; returns the exit status and never throws. */
    public static int run(String[] args, Streams streams) {
        int status;
        try {
            status = commandLine(streams).execute(args);
        } catch (OutOfMemoryError e) {
            streams.err()
                    .println("roost: out of memory: the JVM may use "
                            + (Runtime.getRuntime().maxMemory() >> 20) + " MiB");
            return FAILED;
        }
        if (streams.out().checkError() && status == 0) {
            streams.err().println("roost: cannot write to standard output");
            return FAILED;
        }
        return status;
    }

    static CommandLine commandLine(Streams streams) {
        CommandLine command = new CommandLine(new RoostCommand())
                .addSubcommand(new DemoCommand(streams))
                .addSubcommand(new TopologyCommand(streams))
                .addSubcommand(new MapCommand(streams))
                .addSubcommand(new BuildCommand(streams))
                .addSubcommand(new SearchCommand(streams))
                .addSubcommand(new MemoryNodeCommand(streams))
                .addSubcommand(new ServeCommand(streams))
                .addSubcommand(new OpenSearchCommand(streams))
                .addSubcommand(new SoakCommand(streams))
                .addSubcommand(new DocsCommand(streams))
                .addSubcommand(new SimCommand(streams))
                .addSubcommand(new TableServiceCommand(streams))
                .addSubcommand(new CommandLine(new BenchCommand())
                        .addSubcommand(new IvfBenchCommand(streams))
                        .addSubcommand(new FanOutCommand(streams))
                        .addSubcommand(new FreshnessCommand(streams))
                        .addSubcommand(new LocalityCommand(streams))
                        .addSubcommand(new HnswBenchCommand(streams))
                        .addSubcommand(new LiveBenchCommand(streams))
                        .addSubcommand(new FilterBenchCommand(streams))
                        .addSubcommand(new BuildBenchCommand(streams))
                        .addSubcommand(new LuceneBenchCommand(streams))
                        .addSubcommand(new FormatBenchCommand(streams))
                        .addSubcommand(new OpenSearchBenchCommand(streams))
                        .addSubcommand(new TableBenchCommand(streams))
                        .addSubcommand(new BatchBenchCommand(streams))
                        .addSubcommand(new VersionsCommand(streams))
                        .addSubcommand(new SchedulingCommand(streams))
                        .addSubcommand(new GateCommand(streams))
                        .addSubcommand(new ReplayCommand(streams))
                        .addSubcommand(new JmhCommand())
                        .addSubcommand(new AllCommand(streams))
                        .addSubcommand(new ServeBenchCommand(streams))
                        .addSubcommand(new RemapCommand(streams))
                        .addSubcommand(new IoCommand(streams))
                        .addSubcommand(new StallsCommand(streams))
                        .addSubcommand(new RemoteBenchCommand(streams)));
        return command.setOut(new PrintWriter(streams.out(), true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(streams.err(), true, StandardCharsets.UTF_8))
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF))
                .setUsageHelpWidth(100)
                .setOverwrittenOptionsAllowed(false)
                .setTrimQuotes(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((exception, arguments) -> reportWrongArguments(exception, streams))
                .setExecutionExceptionHandler((exception, ran, parsed) -> report(exception, streams));
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "no command given, see roost --help");
    }

    private static int reportWrongArguments(ParameterException exception, Streams streams) {
        streams.err().println("roost: " + oneLine(String.valueOf(exception.getMessage())));
        return WRONG_ARGUMENTS;
    }

    private static int report(Exception exception, Streams streams) {
        if (System.getenv("ROOST_DEBUG") != null) {
            exception.printStackTrace(streams.err());
        }
        if (exception instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        streams.err().println("roost: " + oneLine(message(exception)));
        return FAILED;
    }

    private static String message(Exception exception) {
        Throwable told = exception instanceof SearchFailedException && exception.getCause() != null
                ? exception.getCause()
                : exception;
        String message = told.getMessage();
        boolean meantForPeople = told instanceof CommandFailure
                || told instanceof TopologyException
                || told instanceof IllegalArgumentException
                || (told instanceof IOException && !(told instanceof FileSystemException));
        return meantForPeople && message != null ? message : told.toString();
    }

    private static String oneLine(String message) {
        return message.strip().replaceAll("\\s*\\R\\s*", " ");
    }
}
