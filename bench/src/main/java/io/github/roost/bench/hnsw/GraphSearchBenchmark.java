package io.github.roost.bench.hnsw;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.SearchResult;
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

/**
 * Question: how long does one search of an HNSW table take, from submission to result, on an otherwise idle
 * orchestrator?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the set-up
public class GraphSearchBenchmark {
    private static final int K = 10;

    @Param("5000")
    public int rows;

    @Param("128")
    public int dimension;

    @Param({"20", "100"})
    public int ef;

    private Orchestrator orchestrator;
    private HnswTable table;
    private float[][] queries;
    private int next;

    @Setup
    public void build() {
        Workload workload = Workload.mixture(rows, 256, dimension, 1 + rows / 100, 1);
        orchestrator = Orchestrator.builder().recallShare(0).build();
        table = HnswTable.builder().efConstruction(50).build(orchestrator, workload.rows());
        queries = workload.queries();
    }

    @TearDown
    public void close() {
        orchestrator.close();
    }

    @Benchmark
    public SearchResult search() {
        return table.search(queries[next++ & 255], K, ef).join();
    }
}
