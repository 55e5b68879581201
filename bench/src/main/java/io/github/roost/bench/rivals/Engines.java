package io.github.roost.bench.rivals;

import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.Topology;
import io.github.roost.vector.ElementType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The indexes of one set of rows by several engines, which take turns: in each round every engine runs at every ef, in an order that is reversed from
 * round to round, so that drift of the machine affects all engines alike.
 */
final class Engines implements AutoCloseable {
    static final String JVECTOR = "jvector";
    static final String HNSWLIB = "hnswlib";

    /** The libraries that graphs are compared with, in the order of the report. */
    static final List<String> RIVALS = List.of(
            JVECTOR,
            HNSWLIB,
            "faiss-hnsw",
            "faiss-ivf-rabitq",
            "usearch",
            "glass-sq8",
            "svs-lvq4x8",
            "symphonyqg",
            "symphonyqg-4bit",
            "symphonyqg-8bit",
            "deglib",
            "alayalite",
            "alayalite-sq8",
            "zvec");

    /** The libraries that IVF tables are compared with, in the order of the report. */
    static final List<String> IVF_RIVALS =
            List.of("faiss-ivf", "faiss-ivf-rabitq", "rabitq-ivf-4bit", "rabitq-ivf-8bit", "scann");

    private final Workload workload;
    private final List<Engine> engines = new ArrayList<>();
    private final int tables;
    private final CurveMeasurement measurement;
    private final Consumer<String> progress;

    /** One of Roost's tables. */
    sealed interface Table {
        /** Its name in the report. */
        String engine();
    }

    /** A graph whose rows are fixed. */
    record Graph(GraphLayout layout) implements Table {
        @Override
        public String engine() {
            return HnswEngine.name(layout);
        }
    }

    /**
     * An IVF table.
     *
     * @param codes whether 8-bit codes are scanned first, and the best candidates are compared by their vectors
     */
    record Lists(ElementType elementType, boolean codes) implements Table {
        @Override
        public String engine() {
            return codes ? "roost ivf" : "roost ivf " + elementType.name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Builds every engine's index, one after the other. A library that is not available is left out, and {@code progress} is told why.
     *
     * @param tables Roost's, at least one
     * @param rivals from {@link #RIVALS} and {@link #IVF_RIVALS}
     * @param python interpreter with the libraries, null to leave out all but jvector
     * @param maxNeighbors the max k that will be measured
     * @param kept folder of indexes of these rows with the same build parameters; an index is loaded if it exists there, and saved otherwise; null
     *     for none. jvector is always built
     * @param progress receives messages about the current step, and about libraries that are left out
     */
    Engines(
            Workload workload,
            Topology topology,
            List<Table> tables,
            List<String> rivals,
            @Nullable Path python,
            EngineSettings settings,
            int maxNeighbors,
            @Nullable Path kept,
            Consumer<String> progress)
            throws Exception {
        this.workload = workload;
        this.tables = tables.size();
        this.progress = progress;
        progress.accept("exact neighbors");
        this.measurement = new CurveMeasurement(workload, maxNeighbors, kept);
        for (Table table : tables) {
            progress.accept("build of " + table.engine());
            Path in = in(kept, table.engine());
            engines.add(
                    switch (table) {
                        case Graph graph -> new HnswEngine(workload, topology, graph, settings, in);
                        case Lists lists -> new IvfEngine(workload, topology, lists, settings, in);
                    });
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
                                ? new JvectorEngine(workload, settings)
                                : new RivalEngine(
                                        rival, workload, Objects.requireNonNull(python), settings, in(kept, rival)));
            } catch (IOException e) {
                progress.accept(rival + " is left out: " + e.getMessage());
            }
        }
    }

    private static @Nullable Path in(@Nullable Path kept, String engine) {
        return kept == null ? null : kept.resolve(engine.replace(' ', '-'));
    }

    /**
     * The size of one engine's index.
     *
     * @param engine its name
     * @param build its build time
     * @param bytesPerRow including vectors; for a library the growth of its process; 0 if unknown
     */
    record Size(String engine, Duration build, double bytesPerRow) {}

    /** The engines of Roost's graphs. */
    List<HnswEngine> graphs() {
        return engines.stream()
                .filter(HnswEngine.class::isInstance)
                .map(HnswEngine.class::cast)
                .toList();
    }

    /** The sizes of all engines' indexes. */
    List<Size> sizes() throws IOException {
        List<Size> sizes = new ArrayList<>();
        for (Engine engine : engines) {
            sizes.add(new Size(engine.name(), engine.buildTime(), (double) engine.bytes() / workload.rows().length));
        }
        return sizes;
    }

    /** Measures one curve per engine, for a k of at most {@code maxNeighbors}. */
    Curves curves(Sweep sweep) throws Exception {
        return measurement.curves(engines, tables, sweep, progress);
    }

    @Override
    public void close() throws IOException {
        for (Engine engine : engines) {
            engine.close();
        }
    }
}
