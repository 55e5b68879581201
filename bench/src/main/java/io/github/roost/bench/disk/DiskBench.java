package io.github.roost.bench.disk;

import io.github.roost.bench.Recall;
import io.github.roost.bench.rivals.CurveMeasurement;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Question: how many searches per second does a table on disk answer at a given recall, with a tenth of it in memory, compared with jvector's
 * {@code OnDiskGraphIndex} and diskannpy over the same rows, with the same degree and build width? Each has in memory codes of one byte per four
 * dimensions, jvector also cached blocks up to a tenth of its file; all use direct I/O and have the same number of searches in flight. In each round
 * every engine runs at every width, in an order that is reversed from round to round.
 */
public final class DiskBench implements AutoCloseable {
    private final Workload workload;
    private final Plan plan;
    private final Path folder;
    private final List<DiskEngine> engines = new ArrayList<>();
    private final int[][] truth;

    /**
     * The settings.
     *
     * @param degree neighbours per node
     * @param buildWidth of the searches of the build
     * @param inFlight searches in flight
     * @param k neighbours to find
     */
    public record Plan(int degree, int buildWidth, int inFlight, int k) {}

    /**
     * The memory of an engine.
     *
     * @param engine its name
     * @param bytes of codes, ids and cached blocks
     * @param share of the bytes of vectors and neighbours
     */
    public record Memory(String engine, long bytes, double share) {}

    /**
     * Builds every engine's index, one after the other.
     *
     * @param where a folder on the disk to measure; files written there are deleted on close
     * @param python interpreter with diskannpy, null to leave it out
     * @param progress receives messages about the current step
     */
    public DiskBench(Workload workload, Path where, Plan plan, @Nullable Path python, Consumer<String> progress)
            throws IOException {
        this.workload = workload;
        this.plan = plan;
        this.folder = Files.createTempDirectory(where, "roost-disk-");
        try {
            progress.accept("exact neighbours");
            SearchResult[] nearest = new ExactSearch(workload.rows()).searchAll(workload.queries(), plan.k);
            this.truth = Arrays.stream(nearest)
                    .map(one ->
                            LongStream.of(one.ids()).mapToInt(Math::toIntExact).toArray())
                    .toArray(int[][]::new);
            progress.accept("build of roost");
            engines.add(new RoostDisk(workload, folder, plan.degree, plan.buildWidth, plan.inFlight));
            progress.accept("build of jvector");
            engines.add(
                    new JvectorDisk(workload, folder, plan.degree, plan.buildWidth, plan.inFlight, indexBytes() / 10));
            if (python != null) {
                progress.accept("build of diskann");
                long codes = (long) workload.rows().length * (workload.dimension() / 4);
                engines.add(new DiskAnnEngine(
                        workload,
                        python,
                        Files.createDirectory(folder.resolve("diskann")),
                        plan.degree,
                        plan.buildWidth,
                        plan.inFlight,
                        codes));
            }
        } catch (Throwable failed) {
            close();
            throw failed;
        }
    }

    private long indexBytes() {
        return workload.rows().length * (4L * workload.dimension() + 4L * plan.degree);
    }

    /** The memory of each engine. */
    public List<Memory> memory() {
        return engines.stream()
                .map(engine ->
                        new Memory(engine.name(), engine.memoryBytes(), (double) engine.memoryBytes() / indexBytes()))
                .toList();
    }

    /**
     * Measures one curve per engine.
     *
     * @param widths of the search, ascending, each at least k
     * @param slice how long each engine searches at each width in a round
     */
    public Curves curves(int[] widths, int rounds, Duration slice) throws Exception {
        return CurveMeasurement.curves(
                workload.name(), engines, 1, plan.k, widths, rounds, slice, Duration.ZERO, this::recall);
    }

    private double recall(int[][] found) {
        SearchResult[] neighbors = Arrays.stream(found)
                .map(ids -> new SearchResult(IntStream.of(ids).asLongStream().toArray(), new float[ids.length]))
                .toArray(SearchResult[]::new);
        return Recall.byId(truth, neighbors, plan.k);
    }

    @Override
    public void close() throws IOException {
        for (DiskEngine engine : engines) {
            engine.close();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
