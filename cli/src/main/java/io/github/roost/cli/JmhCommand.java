package io.github.roost.cli;

import io.github.roost.bench.Microbenchmarks;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code roost bench jmh}: the microbenchmarks. */
@Command(name = "jmh", description = "The JMH microbenchmarks: every class of bench whose name ends in Benchmark.")
final class JmhCommand implements Callable<Integer> {
    @Mixin
    private final HelpOption help = new HelpOption();

    @Parameters(arity = "0..1", paramLabel = "REGEX", description = "Benchmarks whose names contain this; default all.")
    private String regex = "Benchmark";

    @Option(
            names = "--quick",
            description = "Run each briefly in this JVM, to check that it works; the figures are meaningless.")
    private boolean quick;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write JMH's results as JSON.")
    private @Nullable Path json;

    @Override
    public Integer call() throws Exception {
        var results = Microbenchmarks.run(regex, quick, json == null ? null : json.toString());
        if (results.isEmpty()) {
            throw new CommandFailure("REGEX must match a benchmark, got " + regex);
        }
        return 0;
    }
}
