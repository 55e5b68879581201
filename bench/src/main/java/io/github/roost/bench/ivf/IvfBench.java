package io.github.roost.bench.ivf;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ClosedLoop.Run;
import io.github.roost.bench.DistanceRecall;
import io.github.roost.bench.ExactSearch;
import io.github.roost.bench.Latencies;
import io.github.roost.bench.Samples;
import io.github.roost.bench.peer.PeerProcess;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Question: how many searches a second does an IVF table answer, and how fast a lone one, beside FAISS's
 * {@code IndexIVFFlat} of as many lists on as many threads? The two take turns, in rounds.
 */
public final class IvfBench implements AutoCloseable {
    private static final int QUERIES_FOR_RECALL = 200;

    private final Workload workload;
    private final Orchestrator orchestrator;
    private final IvfTable table;
    private final double buildSeconds;
    private final @Nullable PeerProcess faiss;
    private final double faissBuildSeconds;

    /** @param python interpreter that has FAISS, null to leave FAISS out */
    public IvfBench(Workload workload, Topology topology, int nlist, @Nullable Path python) throws IOException {
        this.workload = workload;
        this.orchestrator = Orchestrator.builder()
                .topology(topology)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .build();
        long began = System.nanoTime();
        this.table = IvfTable.builder().nlist(nlist).build(orchestrator, workload.rows());
        this.buildSeconds = (System.nanoTime() - began) / 1e9;
        this.faiss = python == null ? null : faiss(workload, nlist, orchestrator.workers(), python);
        this.faissBuildSeconds = faiss == null ? Double.NaN : faiss.answer();
    }

    private static PeerProcess faiss(Workload workload, int nlist, int threads, Path python) throws IOException {
        return new PeerProcess(
                "faiss",
                python,
                IvfBench.class,
                "faiss_peer.py",
                workload,
                List.of(String.valueOf(nlist), String.valueOf(threads)));
    }

    /** Seconds that Roost's build took. */
    public double buildSeconds() {
        return buildSeconds;
    }

    /** Seconds that FAISS's training and adding took, not a number where it was left out. */
    public double faissBuildSeconds() {
        return faissBuildSeconds;
    }

    /**
     * One engine at one point.
     *
     * @param recall of the nearest k, by distance
     * @param perSecond searches a second with so many in flight; FAISS's are of one batch in its best parallel mode
     * @param loneP50 median time of a lone search, in microseconds
     * @param loneP999 its 99.9th percentile
     */
    public record Point(
            String engine, int inFlight, double recall, Samples perSecond, Samples loneP50, Samples loneP999) {}

    /** Measures one k and nprobe: Roost with each number in flight, then FAISS if it is there. */
    public List<Point> measure(int k, int nprobe, List<Integer> inFlight, int rounds, Duration slice)
            throws IOException, InterruptedException {
        List<List<Double>> rates = new ArrayList<>();
        inFlight.forEach(number -> rates.add(new ArrayList<>()));
        List<Double> p50 = new ArrayList<>();
        List<Double> p999 = new ArrayList<>();
        List<Double> faissRates = new ArrayList<>();
        List<Double> faissP50 = new ArrayList<>();
        List<Double> faissP999 = new ArrayList<>();
        run(inFlight.getLast(), k, nprobe, slice);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < inFlight.size(); i++) {
                rates.get(i).add(run(inFlight.get(i), k, nprobe, slice).perSecond());
            }
            Latencies lone = run(1, k, nprobe, slice).latencies();
            p50.add(lone.p50us());
            p999.add(lone.p999us());
            if (faiss != null) {
                faissRates.add(order(faiss, "rate", k, nprobe, slice));
                faissP50.add(order(faiss, "lone", k, nprobe, slice));
                faissP999.add(faiss.order("p999 0 0 0"));
            }
        }
        List<Point> points = new ArrayList<>();
        double[] recalls = recalls(k, nprobe);
        for (int i = 0; i < inFlight.size(); i++) {
            points.add(new Point(
                    "roost", inFlight.get(i), recalls[0], Samples.of(rates.get(i)), Samples.of(p50), Samples.of(p999)));
        }
        if (faiss != null) {
            points.add(new Point(
                    "faiss",
                    workload.queries().length,
                    recalls[1],
                    Samples.of(faissRates),
                    Samples.of(faissP50),
                    Samples.of(faissP999)));
        }
        return points;
    }

    private static double order(PeerProcess faiss, String what, int k, int nprobe, Duration slice) throws IOException {
        return faiss.order(String.format(Locale.ROOT, "%s %d %d %.3f", what, k, nprobe, slice.toNanos() / 1e9));
    }

    private Run run(int inFlight, int k, int nprobe, Duration slice) throws InterruptedException {
        float[][] queries = workload.queries();
        return new ClosedLoop(inFlight)
                .run(
                        Long.MAX_VALUE,
                        slice,
                        number -> table.search(queries[(int) (number % queries.length)], k, nprobe),
                        (number, found) -> {});
    }

    /** Roost's, and FAISS's where it is there. */
    private double[] recalls(int k, int nprobe) throws IOException {
        ExactSearch exact = new ExactSearch(workload.rows());
        DistanceRecall roost = new DistanceRecall();
        DistanceRecall peer = new DistanceRecall();
        int[][] byFaiss = new int[0][];
        if (faiss != null) {
            order(faiss, "search", k, nprobe, Duration.ZERO);
            byFaiss = faiss.found(k);
        }
        for (int query = 0; query < Math.min(QUERIES_FOR_RECALL, workload.queries().length); query++) {
            float[] vector = workload.queries()[query];
            Neighbors truth = exact.search(vector, k);
            roost.add(truth, table.search(vector, k, nprobe).join());
            if (faiss != null) {
                peer.add(truth, withDistances(vector, byFaiss[query]));
            }
        }
        return new double[] {roost.share(), faiss == null ? Double.NaN : peer.share()};
    }

    private Neighbors withDistances(float[] query, int[] ids) {
        long[] found = new long[ids.length];
        float[] distances = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            found[i] = ids[i];
            float[] row = workload.rows()[ids[i]];
            for (int d = 0; d < query.length; d++) {
                distances[i] += (row[d] - query[d]) * (row[d] - query[d]);
            }
        }
        return Neighbors.sorted(found, distances);
    }

    @Override
    public void close() throws IOException {
        orchestrator.close();
        if (faiss != null) {
            faiss.close();
        }
    }
}
