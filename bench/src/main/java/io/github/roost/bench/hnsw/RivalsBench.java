package io.github.roost.bench.hnsw;

import io.github.roost.bench.peer.Workload;
import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Question: how do Roost's layouts compare with the libraries that others would take, at equal recall, on one thread or two?
 * Each library is in a process of its own. In a round every engine takes its turn at every width of the search, in an order
 * that is reversed from round to round, so that drift of the machine falls on all alike. All have the same M and
 * efConstruction, where they have any, and two threads to build with.
 */
public final class RivalsBench implements AutoCloseable {
    private static final String JVECTOR = "jvector";

    /** The libraries there are, in the order of the report. */
    public static final List<String> RIVALS = List.of(
            JVECTOR,
            "hnswlib",
            "faiss-hnsw",
            "faiss-ivf-rabitq",
            "usearch",
            "glass-sq8",
            "svs-lvq4x8",
            "symphonyqg",
            "symphonyqg-8bit");

    private final Workload workload;
    private final List<HnswEngine> engines = new ArrayList<>();
    private final int tables;
    private final CurveMeasurement measurement;

    /**
     * Builds every engine's index, one after the other. A library that cannot be had is left out, and said so.
     *
     * @param layouts one table of Roost's each, at least one
     * @param rivals of {@link #RIVALS}
     * @param python interpreter that has them, null to leave all out but jvector
     * @param threads that search, 1 or 2
     * @param mostNeighbors the largest k to come
     * @param kept folder of indexes of these rows, built in the same way, that are loaded where they are there, and saved where they
     *     are not; null for none. jvector is always built
     * @param progress is told what is being done, and what is left out why
     */
    public RivalsBench(
            Workload workload,
            Topology topology,
            List<GraphLayout> layouts,
            List<String> rivals,
            @Nullable Path python,
            int m,
            int efConstruction,
            int threads,
            int mostNeighbors,
            @Nullable Path kept,
            Consumer<String> progress)
            throws Exception {
        this.workload = workload;
        this.tables = layouts.size();
        progress.accept("exact neighbours");
        this.measurement = new CurveMeasurement(workload, mostNeighbors);
        for (GraphLayout layout : layouts) {
            String name = RoostEngine.name(layout);
            progress.accept("build of " + name);
            engines.add(new RoostEngine(workload, topology, layout, m, efConstruction, threads, in(kept, name)));
        }
        for (String rival : rivals) {
            boolean isInJava = rival.equals(JVECTOR);
            if (!isInJava && python == null) {
                continue;
            }
            progress.accept("build of " + rival);
            try {
                engines.add(
                        isInJava
                                ? new JvectorEngine(workload, m, efConstruction, threads)
                                : new RivalEngine(
                                        rival,
                                        workload,
                                        Objects.requireNonNull(python),
                                        m,
                                        efConstruction,
                                        threads,
                                        in(kept, rival)));
            } catch (IOException e) {
                progress.accept(rival + " is left out: " + e.getMessage());
            }
        }
    }

    private static @Nullable Path in(@Nullable Path kept, String engine) {
        return kept == null ? null : kept.resolve(engine.replace(' ', '-'));
    }

    /**
     * What an engine's index takes.
     *
     * @param engine its name
     * @param build how long its build took
     * @param bytesPerRow vectors included; of a library by how much its process has grown; 0 where it is not known
     */
    public record Size(String engine, Duration build, double bytesPerRow) {}

    /** What each takes. */
    public List<Size> sizes() throws IOException {
        List<Size> sizes = new ArrayList<>();
        for (HnswEngine engine : engines) {
            sizes.add(new Size(engine.name(), engine.buildTime(), (double) engine.bytes() / workload.rows().length));
        }
        return sizes;
    }

    /**
     * Measures one curve an engine.
     *
     * @param k at most what the bench was made for
     * @param widths of the search, ascending, each at least k
     * @param slice how long each engine searches with each width in a round
     */
    public HnswCurves curves(int k, int[] widths, int rounds, Duration slice) throws Exception {
        return measurement.curves(engines, tables, k, widths, rounds, slice);
    }

    @Override
    public void close() throws IOException {
        for (HnswEngine engine : engines) {
            engine.close();
        }
    }
}
