package io.github.roost.bench;

import io.github.roost.simulator.options.CommandFailure;
import java.nio.file.Path;
import java.util.Collection;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The JMH benchmarks of this module: every class whose name ends in {@code Benchmark}. Stateless. */
@Command(name = "jmh", description = "The JMH microbenchmarks: every class of bench whose name ends in Benchmark.")
public final class Microbenchmarks implements Callable<Integer> {
    private static final TimeValue MOMENT = TimeValue.milliseconds(50);

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
        var results = run(regex, quick, json == null ? null : json.toString());
        if (results.isEmpty()) {
            throw new CommandFailure("REGEX must match a benchmark, got " + regex);
        }
        return 0;
    }

    /**
     * Runs the benchmarks whose names match; JMH prints its usual output.
     *
     * @param regex matches part of the name, as in JMH
     * @param quick one short iteration in this JVM instead of each benchmark's own settings: a smoke test
     * @param json file for the results, in addition to the output, or null
     * @throws RunnerException if none matches or one fails
     */
    static Collection<RunResult> run(String regex, boolean quick, @Nullable String json) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder().include(regex).shouldFailOnError(true);
        if (quick) {
            options.forks(0).warmupIterations(0).measurementIterations(1).measurementTime(MOMENT);
        } else {
            options.forks(1);
        }
        if (json != null) {
            options.resultFormat(ResultFormatType.JSON).result(json);
        }
        return new Runner(options.build()).run();
    }
}
