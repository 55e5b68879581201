package io.github.roost.bench;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** The JMH benchmarks of this module: every class whose name ends in {@code Benchmark}. Stateless. */
public final class Microbenchmarks {
    private static final TimeValue MOMENT = TimeValue.milliseconds(50);

    private Microbenchmarks() {}

    /**
     * Runs the benchmarks whose names match; JMH prints its usual output.
     *
     * @param regex matches part of the name, as in JMH
     * @param quick one short iteration in this JVM instead of each benchmark's own settings: a smoke test
     * @param json file for the results, in addition to the output, or null
     * @throws RunnerException if none matches or one fails
     */
    public static Collection<RunResult> run(String regex, boolean quick, @Nullable String json) throws RunnerException {
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
