package io.github.roost.cli;

import io.github.roost.bench.Microbenchmarks;
import io.github.roost.bench.cachesim.CachesimBench;
import io.github.roost.bench.disk.DiskBench;
import io.github.roost.bench.disk.StallsBench;
import io.github.roost.bench.hnsw.BuildBench;
import io.github.roost.bench.hnsw.FilterBench;
import io.github.roost.bench.hnsw.FirstSecondsBench;
import io.github.roost.bench.io.IoBench;
import io.github.roost.bench.ivf.FanOutBench;
import io.github.roost.bench.ivf.FreshnessBench;
import io.github.roost.bench.ivf.IvfBench;
import io.github.roost.bench.jvector.JvectorBench;
import io.github.roost.bench.live.LiveLoad;
import io.github.roost.bench.locality.GateBench;
import io.github.roost.bench.locality.LocalityBench;
import io.github.roost.bench.locality.RemapTail;
import io.github.roost.bench.lucene.LuceneBench;
import io.github.roost.bench.lucene.LuceneFormatsBench;
import io.github.roost.bench.lucene.RefreshBench;
import io.github.roost.bench.opensearch.OpenSearchBench;
import io.github.roost.bench.remote.RemoteBench;
import io.github.roost.bench.rivals.HnswBench;
import io.github.roost.bench.rivals.RivalsBench;
import io.github.roost.bench.scheduling.SchedulingBench;
import io.github.roost.bench.stores.StoresBench;
import io.github.roost.bench.table.BatchBench;
import io.github.roost.bench.table.LookupBench;
import io.github.roost.bench.table.ServiceBench;
import io.github.roost.server.ServeBench;
import io.github.roost.simulator.replay.ReplayBench;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command {@code roost}: parses the command line, runs a subcommand, and turns every failure into one line on standard error and an exit
 * status: 0 success, 1 failure, 2 invalid arguments.
 */
@Command(
        name = "roost",
        description = "Vector search on pinned workers, each table at home in one cache domain.",
        synopsisSubcommandLabel = "COMMAND")
public final class RoostCommand implements Callable<Integer> {
    /** These libraries do not log by slf4j. Strong references, since an unreferenced logger loses its level. */
    private static final Logger JVECTOR_LOG = Logger.getLogger("io.github.jbellis.jvector");

    private static final Logger HELIDON_LOG = Logger.getLogger("io.helidon");

    private static final String BENCH = "bench";
    private static final int FAILED = 1;
    private static final int WRONG_ARGUMENTS = 2;

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help.")
    private boolean help;

    private RoostCommand() {}

    /** Runs the command line on the process's streams and exits the process. */
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
            status = commandLine(streams, args).execute(args);
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

    /** The commands by name, in the order of the help. */
    private static final Map<String, Function<Streams, Object>> COMMANDS = commands();

    private static final Map<String, Function<Streams, Object>> BENCHES = benches();

    private static Map<String, Function<Streams, Object>> commands() {
        Map<String, Function<Streams, Object>> commands = new LinkedHashMap<>();
        commands.put("demo", DemoCommand::new);
        commands.put("topology", TopologyCommand::new);
        commands.put("map", MapCommand::new);
        commands.put("build", RoostCommand::build);
        commands.put("search", RoostCommand::search);
        commands.put("memory-node", MemoryNodeCommand::new);
        commands.put("serve", ServeCommand::new);
        commands.put("opensearch", OpenSearchCommand::new);
        commands.put("docs", DocsCommand::new);
        commands.put("sim", SimCommand::new);
        commands.put(
                "table-service",
                streams -> new CommandLine(new TableServiceCommand())
                        .addSubcommand(new TableNodeCommand(streams))
                        .addSubcommand(new TableRollCommand(streams))
                        .addSubcommand(new TableFetchCommand(streams)));
        commands.put("rehearse", streams -> new RehearseCommand());
        commands.put(
                BENCH,
                streams -> CommandGroup.of(
                        "COMMAND",
                        "Benchmarks, each of which answers one question. On a laptop begin with hnsw or ivf.",
                        "no benchmark given, see roost bench --help"));
        return commands;
    }

    private static CommandLine build(Streams streams) {
        return CommandGroup.of(
                        "hnsw|ivf|disk|remote",
                        "Builds a table from a vector file and saves it, for roost search --table and for programs.",
                        "no index given, say build hnsw, build ivf, build disk or build remote")
                .addSubcommand("hnsw", new BuildTableCommand(streams, new HnswBuildOptions()))
                .addSubcommand("ivf", new BuildTableCommand(streams, new IvfBuildOptions()))
                .addSubcommand("disk", new BuildTableCommand(streams, new DiskBuildOptions()), "--on-disk")
                .addSubcommand("remote", new BuildTableCommand(streams, new RemoteBuildOptions()));
    }

    private static CommandLine search(Streams streams) {
        return CommandGroup.of(
                        "hnsw|ivf|disk|remote",
                        "Answers queries from a file by a saved table, or by a table built in memory.",
                        "no index given, say search hnsw, search ivf, search disk or search remote")
                .addSubcommand("hnsw", new SearchTableCommand(streams, new HnswPlan()))
                .addSubcommand("ivf", new SearchTableCommand(streams, new IvfPlan()))
                .addSubcommand("disk", new SearchTableCommand(streams, new DiskPlan()))
                .addSubcommand("remote", new SearchTableCommand(streams, new RemotePlan()));
    }

    private static Map<String, Function<Streams, Object>> benches() {
        Map<String, Function<Streams, Object>> commands = new LinkedHashMap<>();
        commands.put("ivf", streams -> new IvfBench());
        commands.put("fan-out", streams -> new FanOutBench());
        commands.put("freshness", streams -> new FreshnessBench());
        commands.put("locality", streams -> new LocalityBench());
        commands.put("cachesim", streams -> new CachesimBench());
        commands.put("hnsw", streams -> new HnswBench());
        commands.put("rivals", streams -> new RivalsBench());
        commands.put("jvector", streams -> new JvectorBench());
        commands.put("live", streams -> new LiveLoad());
        commands.put("filters", streams -> new FilterBench());
        commands.put("build", streams -> new BuildBench());
        commands.put("first-seconds", streams -> new FirstSecondsBench());
        commands.put("lucene", streams -> new LuceneBench());
        commands.put("lucene-formats", streams -> new LuceneFormatsBench());
        commands.put("refresh", streams -> new RefreshBench());
        commands.put("opensearch", streams -> new OpenSearchBench());
        commands.put("stores", streams -> new StoresBench());
        commands.put("table", streams -> new LookupBench());
        commands.put("batch", streams -> new BatchBench());
        commands.put("service", streams -> new ServiceBench());
        commands.put("scheduling", streams -> new SchedulingBench());
        commands.put("gate", streams -> new GateBench());
        commands.put("replay", streams -> new ReplayBench());
        commands.put("jmh", streams -> new Microbenchmarks());
        commands.put("all", AllCommand::new);
        commands.put("serve", streams -> new ServeBench());
        commands.put("remap", streams -> new RemapTail());
        commands.put("io", streams -> new IoBench());
        commands.put("stalls", streams -> new StallsBench());
        commands.put("disk", streams -> new DiskBench());
        commands.put("remote", streams -> new RemoteBench());
        return commands;
    }

    /** Every command. */
    static CommandLine commandLine(Streams streams) {
        return commandLine(streams, COMMANDS, BENCHES);
    }

    /** The command named by the arguments, or all commands: describing all of them takes a good part of a second. */
    private static CommandLine commandLine(Streams streams, String[] args) {
        Map<String, Function<Streams, Object>> named = named(COMMANDS, args, 0);
        return commandLine(streams, named, named.containsKey(BENCH) ? named(BENCHES, args, 1) : BENCHES);
    }

    private static Map<String, Function<Streams, Object>> named(
            Map<String, Function<Streams, Object>> commands, String[] args, int position) {
        Function<Streams, Object> command = args.length > position ? commands.get(args[position]) : null;
        return command == null ? commands : Map.of(args[position], command);
    }

    private static CommandLine commandLine(
            Streams streams,
            Map<String, Function<Streams, Object>> commands,
            Map<String, Function<Streams, Object>> benches) {
        CommandLine command = new CommandLine(new RoostCommand());
        commands.forEach((name, made) -> command.addSubcommand(name, made.apply(streams)));
        CommandLine bench = command.getSubcommands().get(BENCH);
        if (bench != null) {
            benches.forEach((name, made) -> bench.addSubcommand(name, made.apply(streams)));
        }
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
        spec.commandLine().usage(spec.commandLine().getErr());
        return WRONG_ARGUMENTS;
    }

    private static int reportWrongArguments(ParameterException exception, Streams streams) {
        streams.err().println("roost: " + oneLine(String.valueOf(exception.getMessage())) + hint(exception));
        return WRONG_ARGUMENTS;
    }

    /** For mistyped arguments: the most similar names, and where to find the full list. */
    private static String hint(ParameterException exception) {
        if (!(exception instanceof UnmatchedArgumentException unmatched)) {
            return "";
        }
        List<String> alike = unmatched.getSuggestions();
        String question = alike.isEmpty() ? "; see " : "; did you mean " + alike.getFirst() + "? See ";
        return question + exception.getCommandLine().getCommandSpec().qualifiedName(" ") + " --help";
    }

    private static int report(Exception exception, Streams streams) {
        if (System.getenv("ROOST_DEBUG") != null) {
            exception.printStackTrace(streams.err());
        }
        if (exception instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        streams.err().println("roost: " + oneLine(Complaint.of(exception)));
        return FAILED;
    }

    private static String oneLine(String message) {
        return message.strip().replaceAll("\\s*\\R\\s*", " ");
    }
}
