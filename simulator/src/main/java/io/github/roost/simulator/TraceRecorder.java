package io.github.roost.simulator;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.GraphVisits;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadSpec.Index;
import io.github.roost.simulator.workload.WorkloadTables;
import io.github.roost.topology.TopologyReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Builds a workload's tables and records the reads of their searches. Tables are built in parallel, each by one worker,
 * so that a table comes out the same every time.
 */
public final class TraceRecorder {
    /** The links per visited node that the paper's estimate of traffic counts, besides the vector: M. */
    private static final int LINKS = 16;

    static final int LINK_BYTES = LINKS * Integer.BYTES;

    private final WorkloadSpec spec;
    private final List<TableSpec> tables;
    private final IntConsumer recorded;

    /**
     * @param recorded receives the number of recorded tables after each one; called by the thread that calls
     *     {@link #record}
     */
    public TraceRecorder(WorkloadSpec spec, List<TableSpec> tables, IntConsumer recorded) {
        this.spec = spec;
        this.tables = tables;
        this.recorded = recorded;
    }

    /**
     * Builds and records the tables, on all CPUs.
     *
     * @throws InterruptedException if interrupted; then nothing is recorded
     */
    public Traces record() throws InterruptedException {
        ExecutorService builders =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Future<Traces.Table>> pending = new ArrayList<>();
            for (TableSpec table : tables) {
                pending.add(builders.submit(() -> record(table)));
            }
            List<Traces.Table> done = new ArrayList<>();
            for (Future<Traces.Table> table : pending) {
                done.add(table.get());
                recorded.accept(done.size());
            }
            return new Traces(spec, List.copyOf(done));
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a table could not be recorded: " + failed.getCause(), failed.getCause());
        } finally {
            builders.shutdownNow();
        }
    }

    private Traces.Table record(TableSpec table) {
        try (Orchestrator builder = Orchestrator.builder()
                .recallShare(0)
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            TableSpec.Vectors vectors = table.made().get();
            return spec.index() == Index.HNSW ? hnsw(table, vectors, builder) : ivf(table, vectors, builder);
        }
    }

    private Traces.Table hnsw(TableSpec table, TableSpec.Vectors vectors, Orchestrator builder) {
        try (HnswTable built = WorkloadTables.hnsw(builder, table, vectors.rows())) {
            return trace(table, built, vectors.targets());
        }
    }

    private Traces.Table ivf(TableSpec table, TableSpec.Vectors vectors, Orchestrator builder) {
        try (IvfTable built = WorkloadTables.ivf(builder, spec, table, vectors.rows())) {
            return trace(table, built, vectors.targets());
        }
    }

    /** Records the reads of the searches of a built table. */
    public Traces.Table trace(TableSpec table, HnswTable built, float[][] targets) {
        return trace(built, table.k(), WorkloadTables.ef(spec, table), targets);
    }

    /** Records the reads of searches for k neighbors. */
    public static Traces.Table trace(HnswTable built, int k, int ef, float[][] targets) {
        int[][] visits = Arrays.stream(targets)
                .map(target -> GraphVisits.of(built, target, k, ef))
                .toArray(int[][]::new);
        // A search that compares all rows reads no links.
        boolean whole = Traces.Table.isWhole(visits[0]);
        int rowBytes = built.dimension() * Float.BYTES + (whole ? 0 : LINK_BYTES);
        int rows = Math.toIntExact(built.stats().rows());
        return new Traces.Table(built.name(), rowBytes, rows, 1, k, ef, new int[0], visits);
    }

    /** Like {@link #trace(TableSpec, HnswTable, float[][])}. */
    public Traces.Table trace(TableSpec table, IvfTable built, float[][] targets) {
        int nprobe = Math.min(spec.nprobe(), built.nlist());
        int[][] visits = Arrays.stream(targets)
                .map(target -> built.probes(target, nprobe))
                .toArray(int[][]::new);
        int[] listRows = IntStream.range(0, built.nlist()).map(built::listSize).toArray();
        int rowBytes = table.dimension() * Float.BYTES;
        return new Traces.Table(table.name(), rowBytes, table.rowCount(), 1, table.k(), nprobe, listRows, visits);
    }
}
