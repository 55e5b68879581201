package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.runner.RunnerException;

@Tag("stress")
@Tag("nightly")
class MicrobenchmarksTest {
    @Test
    void everyMicrobenchmarkRuns() throws RunnerException {
        Set<String> ran = Microbenchmarks.run("Benchmark", true, null).stream()
                .map(result -> result.getParams().getBenchmark().replaceAll(".*\\.(\\w+)\\.\\w+$", "$1"))
                .collect(Collectors.toSet());
        assertThat(ran).contains("RemapBenchmark", "ThroughputBenchmark", "GraphSearchBenchmark", "ScanBenchmark");
    }
}
