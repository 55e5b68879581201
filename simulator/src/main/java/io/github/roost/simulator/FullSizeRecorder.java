package io.github.roost.simulator;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.GraphVisits;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadSpec.FullSize;
import io.github.roost.simulator.workload.WorkloadSpec.Index;
import io.github.roost.topology.TopologyReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Records searches of tables that are too large to build: it records smaller tables, and a table of full size is modeled as copies of one of them
 * side by side. For HNSW one graph is built per dimension; tables of that dimension search it with their own targets and k. The ef or nprobe is
 * chosen by measurement, for the recall of the workload. The lists and nodes near a query depend on the density of rows there, not on the number of
 * rows elsewhere; so lists have as many rows as at full size, and a search stays in one copy. The model omits that the path from the entry point
 * grows with the logarithm of the rows.
 */
public final class FullSizeRecorder {
    /** Nodes that at least this share of the searches visit are near the entry point, and are shared by all copies. */
    private static final double SHARED_BY = .5;
    /** The paper's M; the paper's estimate of traffic counts this number of links per node. */
    private static final int LINKS = 32;
    /** The paper builds with 500, which takes five times as long; searches visit as many nodes, because their ef is measured. */
    private static final int EF_CONSTRUCTION = 100;

    private static final int RECALL_SAMPLE = 40;
    /** Several times the max k, so that a search's neighbors are only a part of a cluster. */
    private static final int ROWS_PER_CENTER = 2_000;

    private final WorkloadSpec spec;
    private final FullSize size;
    private final IntConsumer recorded;

    /**
     * @param spec a workload of full size
     * @param recorded receives the number of recorded tables after each step; called by the thread that calls {@link #record}
     */
    public FullSizeRecorder(WorkloadSpec spec, IntConsumer recorded) {
        this.spec = spec;
        this.size = Objects.requireNonNull(spec.fullSize(), "the workload must be of full size");
        this.recorded = recorded;
    }

    /** One table of full size: its name, rows, dimension, k and seed. */
    private record Wanted(String name, int rows, int dimension, int k, long seed) {}

    private List<Wanted> wanted() {
        SplittableRandom random = new SplittableRandom(spec.seed());
        double span = (double) size.mostRows() / size.leastRows();
        List<Wanted> tables = new ArrayList<>();
        for (int table = 0; table < spec.tables(); table++) {
            int rows = (int) Math.round(size.leastRows() * Math.pow(span, random.nextDouble()));
            int k = Math.min(rows, spec.leastK() + random.nextInt(spec.mostK() - spec.leastK() + 1));
            int dimension = spec.dimensions().get(table % spec.dimensions().size());
            tables.add(new Wanted("table-" + table, rows, dimension, k, random.nextLong()));
        }
        return tables;
    }

    /**
     * Builds and records the tables, on all CPUs.
     *
     * @throws InterruptedException if interrupted; then nothing is recorded
     */
    public Traces record() throws InterruptedException {
        List<Wanted> wanted = wanted();
        List<Callable<List<Traces.Table>>> work = new ArrayList<>();
        if (spec.index() == Index.HNSW) {
            for (int dimension : spec.dimensions()) {
                List<Wanted> alike = wanted.stream()
                        .filter(table -> table.dimension == dimension)
                        .toList();
                work.add(() -> graphSearches(alike, dimension));
            }
        } else {
            wanted.forEach(table -> work.add(() -> List.of(scans(table))));
        }
        List<Traces.Table> tables = all(work);
        List<String> names = wanted.stream().map(Wanted::name).toList();
        tables.sort((a, b) -> Integer.compare(names.indexOf(a.name()), names.indexOf(b.name())));
        return new Traces(spec, tables);
    }

    private List<Traces.Table> all(List<Callable<List<Traces.Table>>> work) throws InterruptedException {
        ExecutorService builders =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Future<List<Traces.Table>>> pending =
                    work.stream().map(builders::submit).toList();
            List<Traces.Table> done = new ArrayList<>();
            for (Future<List<Traces.Table>> tables : pending) {
                done.addAll(tables.get());
                recorded.accept(done.size());
            }
            return done;
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a table could not be recorded: " + failed.getCause(), failed.getCause());
        } finally {
            builders.shutdownNow();
        }
    }

    private static Orchestrator builder() {
        return Orchestrator.builder()
                .recallShare(0)
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build();
    }

    private List<Traces.Table> graphSearches(List<Wanted> tables, int dimension) {
        if (tables.isEmpty()) {
            return List.of();
        }
        int rows = Math.min(size.recordedRows(), size.leastRows());
        TableSpec.Vectors vectors = TableSpec.embeddings(
                rows, dimension, tables.size() * spec.targets(), ROWS_PER_CENTER, spec.seed() + dimension);
        try (Orchestrator builder = builder();
                HnswTable graph = HnswTable.builder()
                        .m(LINKS)
                        .efConstruction(EF_CONSTRUCTION)
                        .build(builder, vectors.rows())) {
            return IntStream.range(0, tables.size())
                    .mapToObj(i -> graphSearches(tables.get(i), graph, rows, targets(vectors, i)))
                    .toList();
        }
    }

    private float[][] targets(TableSpec.Vectors vectors, int number) {
        return Arrays.copyOfRange(vectors.targets(), number * spec.targets(), (number + 1) * spec.targets());
    }

    private Traces.Table graphSearches(Wanted table, HnswTable graph, int rows, float[][] targets) {
        int width = graph.effortFor(size.recall(), table.k, sample(targets));
        int[][] visits = Arrays.stream(targets)
                .map(target -> GraphVisits.of(graph, target, table.k, width))
                .toArray(int[][]::new);
        int copies = Math.max(1, Math.round((float) table.rows / rows));
        int rowBytes = table.dimension * Float.BYTES + LINKS * Integer.BYTES;
        if (copies > 1) {
            share(visits, rows);
        }
        return new Traces.Table(table.name, rowBytes, rows, copies, table.k, width, new int[0], visits);
    }

    private static float[][] sample(float[][] targets) {
        return Arrays.copyOf(targets, Math.min(RECALL_SAMPLE, targets.length));
    }

    /** Marks visits of nodes that all copies share, by {@code ~node}. */
    private static void share(int[][] visits, int rows) {
        int[] searches = new int[rows];
        for (int[] visited : visits) {
            for (int node : visited) {
                searches[node]++;
            }
        }
        for (int[] visited : visits) {
            for (int i = 0; i < visited.length; i++) {
                visited[i] = searches[visited[i]] >= SHARED_BY * visits.length ? ~visited[i] : visited[i];
            }
        }
    }

    private Traces.Table scans(Wanted table) {
        int rows = Math.min(size.recordedRows(), table.rows);
        int copies = Math.max(1, Math.round((float) table.rows / rows));
        int lists = Math.max(1, size.lists(table.rows) / copies);
        TableSpec.Vectors vectors =
                TableSpec.embeddings(rows, table.dimension, spec.targets(), ROWS_PER_CENTER, table.seed);
        try (Orchestrator builder = builder();
                IvfTable built = IvfTable.builder()
                        .nlist(lists)
                        .nprobe(1)
                        .seed(table.seed)
                        .build(builder, vectors.rows())) {
            int k = Math.min(table.k, rows);
            int width = built.effortFor(size.recall(), k, sample(vectors.targets()));
            int[][] visits = Arrays.stream(vectors.targets())
                    .map(target -> built.probes(target, width))
                    .toArray(int[][]::new);
            int[] listRows =
                    IntStream.range(0, built.nlist()).map(built::listSize).toArray();
            int rowBytes = table.dimension * Float.BYTES;
            return new Traces.Table(table.name, rowBytes, rows, copies, k, width, listRows, visits);
        }
    }
}
