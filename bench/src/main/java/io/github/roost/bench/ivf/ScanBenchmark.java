package io.github.roost.bench.ivf;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Question: how long does a batch of searches of an IVF table take, by the number of queries that wait together? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the set-up
public class ScanBenchmark {
    private static final int K = 10;
    private static final int NPROBE = 8;

    @Param("20000")
    public int rows;

    @Param("128")
    public int dimension;

    @Param({"1", "16"})
    public int together;

    private Orchestrator orchestrator;
    private IvfTable table;
    private List<SearchRequest> queries;

    @Setup
    public void build() {
        Workload workload = Workload.mixture(rows, together, dimension, 1 + rows / 100, 1);
        orchestrator = Orchestrator.builder()
                .recallShare(0)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build();
        table = IvfTable.builder().nlist(64).build(orchestrator, workload.rows());
        queries = Arrays.stream(workload.queries())
                .map(query -> SearchRequest.of(query, K).effort(NPROBE))
                .toList();
    }

    @TearDown
    public void close() {
        orchestrator.close();
    }

    @Benchmark
    public SearchResult search() {
        List<CompletableFuture<SearchResult>> answers = table.searchAll(queries);
        answers.forEach(CompletableFuture::join);
        return answers.getFirst().join();
    }
}
