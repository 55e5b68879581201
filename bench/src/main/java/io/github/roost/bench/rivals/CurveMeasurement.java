package io.github.roost.bench.rivals;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Measures engines in turns: the recall at each ef once, then the searches per second at each ef in every round. */
public final class CurveMeasurement {
    private final Workload workload;
    private final Metric metric;
    private final int maxNeighbors;
    private final SearchResult[] truth;

    /**
     * Finds the true neighbors, or reads them.
     *
     * @param maxNeighbors the max k that will be measured
     * @param kept folder from which they are read if they are there, and to which they are saved otherwise; null for none
     */
    CurveMeasurement(Workload workload, int maxNeighbors, @Nullable Path kept) throws IOException {
        this.workload = workload;
        // Vectors of length one are in the same order by either.
        this.metric = workload.metric() == Metric.COSINE ? Metric.SQUARED_L2 : workload.metric();
        this.maxNeighbors = maxNeighbors;
        Path file = kept == null
                ? null
                : kept.resolve("truth-%s-%d".formatted(Workload.checksum(workload.queries()), maxNeighbors));
        if (file != null && Files.exists(file)) {
            IntBuffer ids = ByteBuffer.wrap(Files.readAllBytes(file)).asIntBuffer();
            this.truth = Arrays.stream(workload.queries())
                    .map(query -> at(query, ids, maxNeighbors))
                    .toArray(SearchResult[]::new);
            return;
        }
        this.truth = new ExactSearch(workload.rows(), metric).searchAll(workload.queries(), maxNeighbors);
        if (file != null) {
            ByteBuffer ids = ByteBuffer.allocate(truth.length * maxNeighbors * Integer.BYTES);
            Arrays.stream(truth)
                    .flatMapToLong(found -> Arrays.stream(found.ids()))
                    .forEach(id -> ids.putInt((int) id));
            Path part = file.resolveSibling(file.getFileName() + ".part");
            Files.write(part, ids.array());
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private SearchResult at(float[] query, IntBuffer rows, int count) {
        long[] ids = new long[count];
        float[] distances = new float[count];
        for (int i = 0; i < count; i++) {
            ids[i] = rows.get();
            distances[i] = ExactSearch.distance(query, workload.rows()[(int) ids[i]], metric);
        }
        return new SearchResult(ids, distances);
    }

    /** Measures one curve per engine; the first {@code tables} engines are Roost's. */
    Curves curves(List<Engine> engines, int tables, Sweep sweep, Consumer<String> progress) throws Exception {
        if (sweep.k() > maxNeighbors) {
            throw new IllegalArgumentException("k must be at most " + maxNeighbors + ", got " + sweep.k());
        }
        return curves(workload.name(), engines, tables, sweep, found -> recall(found, sweep.k()), progress);
    }

    /**
     * Measures one curve per engine, in turns. An engine that cannot search has none.
     *
     * @param workload its name
     * @param tables number of Roost's engines, which come first
     * @param recall of the ids found per query, nearest first
     * @param progress is told of engines that cannot search, and why
     */
    public static Curves curves(
            String workload,
            List<? extends MeasuredEngine> engines,
            int tables,
            Sweep sweep,
            ToDoubleFunction<int[][]> recall,
            Consumer<String> progress)
            throws Exception {
        List<Ladder> ladders = new ArrayList<>();
        for (MeasuredEngine engine : engines) {
            try {
                // This is also the warm-up: it runs every search path before the first round.
                ladders.add(Ladder.of(engine, sweep, recall));
            } catch (IOException e) {
                progress.accept(engine.name() + " is left out: " + e.getMessage());
            }
        }
        if (sweep.warmUp().isPositive()) {
            for (Ladder ladder : ladders) {
                ladder.engine.rate(sweep.k(), sweep.widths().getFirst(), sweep.warmUp());
            }
        }
        // By width, so that the engines take turns.
        List<Cell> cells = IntStream.range(0, sweep.widths().size())
                .boxed()
                .flatMap(width -> ladders.stream()
                        .filter(ladder -> width < ladder.points.size())
                        .map(ladder -> new Cell(ladder.engine, ladder.points.get(width))))
                .toList();
        for (int round = 0; round < sweep.rounds(); round++) {
            for (Cell cell : round % 2 == 0 ? cells : cells.reversed()) {
                cell.point.rates().add(cell.engine.rate(sweep.k(), cell.point.ef(), sweep.slice()));
            }
        }
        return new Curves(
                workload,
                sweep.k(),
                tables,
                ladders.stream()
                        .map(ladder -> new Curves.Curve(ladder.engine.name(), ladder.engine.buildTime(), ladder.points))
                        .toList());
    }

    private record Cell(MeasuredEngine engine, Curves.Point point) {}

    /** The widths with which an engine is measured, without rates yet. */
    private record Ladder(MeasuredEngine engine, List<Curves.Point> points) {
        static Ladder of(MeasuredEngine engine, Sweep sweep, ToDoubleFunction<int[][]> recall) throws Exception {
            List<Curves.Point> points = new ArrayList<>();
            for (int width : sweep.widths()) {
                double reached = recall.applyAsDouble(engine.search(sweep.k(), width));
                points.add(new Curves.Point(width, reached, new ArrayList<>()));
                if (reached >= sweep.enough()) {
                    break;
                }
            }
            return new Ladder(engine, points);
        }
    }

    /** An engine that finds fewer than k neighbors of a query marks the others by numbers that are no rows. */
    private double recall(int[][] found, int k) {
        DistanceRecall recall = new DistanceRecall();
        for (int query = 0; query < found.length; query++) {
            float[] vector = workload.queries()[query];
            int[] rows = Arrays.stream(found[query])
                    .filter(row -> row >= 0 && row < workload.rows().length)
                    .distinct()
                    .toArray();
            long[] ids = new long[rows.length];
            float[] distances = new float[rows.length];
            for (int i = 0; i < rows.length; i++) {
                ids[i] = rows[i];
                distances[i] = ExactSearch.distance(vector, workload.rows()[rows[i]], metric);
            }
            recall.add(first(truth[query], k), new SearchResult(ids, distances));
        }
        return recall.share();
    }

    private static SearchResult first(SearchResult neighbors, int k) {
        return new SearchResult(Arrays.copyOf(neighbors.ids(), k), Arrays.copyOf(neighbors.distances(), k));
    }
}
