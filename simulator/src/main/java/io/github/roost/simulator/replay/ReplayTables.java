package io.github.roost.simulator.replay;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.TraceRecorder;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadSpec.Index;
import io.github.roost.simulator.workload.WorkloadTables;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * A workload's tables, built once for all contenders, saved to a private folder, and opened by each contender's
 * orchestrator, so that all map the same pages. Thread-safe.
 */
final class ReplayTables implements AutoCloseable {
    private final WorkloadSpec workload;
    private final List<TableSpec> specs;
    private final List<TableSpec.Vectors> vectors = new ArrayList<>();
    private final List<SearchFunction<float[], SearchResult>> searches = new ArrayList<>();
    private final List<Path> files = new ArrayList<>();
    private final Orchestrator builder;
    private final TemporaryFolder folder;

    /** @param built receives the number of built tables after each one */
    ReplayTables(WorkloadSpec workload, List<TableSpec> specs, Topology topology, IntConsumer built)
            throws IOException {
        this.workload = workload;
        this.specs = specs;
        this.folder = new TemporaryFolder("roost-replay");
        this.builder = Orchestrator.builder().recallShare(0).topology(topology).build();
        for (int table = 0; table < specs.size(); table++) {
            build(specs.get(table));
            built.accept(table + 1);
        }
    }

    private void build(TableSpec spec) throws IOException {
        TableSpec.Vectors made = spec.made().get();
        vectors.add(made);
        Path file = folder.resolve("table-" + files.size());
        try (VectorTable table = isIvf()
                ? WorkloadTables.ivf(builder, workload, spec, made.rows())
                : WorkloadTables.hnsw(builder, spec, made.rows())) {
            table.save(file);
        }
        files.add(file);
    }

    boolean isIvf() {
        return workload.index() == Index.IVF;
    }

    int count() {
        return specs.size();
    }

    TableSpec spec(int table) {
        return specs.get(table);
    }

    float[] target(int table, int target) {
        return vectors.get(table).targets()[target];
    }

    /** A whole search as one function, which any thread can run. */
    SearchFunction<float[], SearchResult> searchFunction(int table) {
        return searches.get(table);
    }

    /** Opens the tables for {@link #searchFunction}. */
    void openForSearchFunctions() throws IOException {
        for (int table = searches.size(); table < count(); table++) {
            if (isIvf()) {
                IvfTable opened = openIvf(table, builder);
                searches.add(opened.searchFunction(spec(table).k(), opened.nprobe()));
            } else {
                searches.add(openHnsw(table, builder)
                        .searchFunction(spec(table).k(), WorkloadTables.ef(workload, spec(table))));
            }
        }
    }

    IvfTable openIvf(int table, Orchestrator orchestrator) throws IOException {
        return IvfTable.open(orchestrator, specs.get(table).name(), files.get(table));
    }

    HnswTable openHnsw(int table, Orchestrator orchestrator) throws IOException {
        return HnswTable.open(orchestrator, specs.get(table).name(), files.get(table));
    }

    /** The share of the true neighbors in an answer. */
    double recall(int table, int target, SearchResult found) {
        int k = specs.get(table).k();
        SearchResult truth = new ExactSearch(vectors.get(table).rows()).search(target(table, target), k);
        long[] ids = found.ids().clone();
        Arrays.sort(ids);
        long hits = Arrays.stream(truth.ids())
                .filter(id -> Arrays.binarySearch(ids, id) >= 0)
                .count();
        return (double) hits / truth.size();
    }

    /** Records the reads of the searches of these tables. */
    Traces traces() throws IOException {
        TraceRecorder recorder = new TraceRecorder(workload, specs, done -> {});
        List<Traces.Table> traced = new ArrayList<>();
        for (int table = 0; table < specs.size(); table++) {
            float[][] targets = vectors.get(table).targets();
            if (isIvf()) {
                try (IvfTable opened = openIvf(table, builder)) {
                    traced.add(recorder.trace(specs.get(table), opened, targets));
                }
            } else {
                try (HnswTable opened = openHnsw(table, builder)) {
                    traced.add(recorder.trace(specs.get(table), opened, targets));
                }
            }
        }
        return new Traces(workload, List.copyOf(traced));
    }

    @Override
    public void close() throws IOException {
        builder.close();
        folder.close();
    }

    /** The numbers of all tables. */
    IntStream all() {
        return IntStream.range(0, count());
    }
}
