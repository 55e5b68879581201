package io.github.roost.bench.lucene;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.lucene.SegmentHomes;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.testkit.lucene.PackageIndex;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;

/**
 * Compares ways to run Lucene's segments when many clients search at once. Same index and queries, with segments on a fixed pool, a
 * {@link ForkJoinPool}, Roost's executor, and Roost's workers with each segment at home. The last one keeps clients from searching themselves; so
 * does a fixed pool that runs whole searches, which is measured too. Each pool has one thread per core that this process may use.
 */
public final class LuceneContenders implements AutoCloseable {
    private static final int K = 10;
    /** Hits that a fused search takes from each of its two searches. */
    private static final int DEPTH = 50;
    /** Number of searches whose hits are compared before the measurement. */
    private static final int COMPARED = 50;

    private final DebianPackages packages;
    private final TemporaryFolder folder;
    private final Directory directory;
    private final DirectoryReader reader;
    private final Orchestrator mapped;
    private final Orchestrator homes;
    private final ExecutorService whole;
    private final ExecutorService fixed;
    private final ForkJoinPool forkJoin;
    private final Map<Contender, IndexSearcher> searchers = new EnumMap<>(Contender.class);
    private final Duration writing;

    /** The executor of a search's segments. */
    public enum Contender {
        /** The client's thread, one segment after another: Lucene without an executor. */
        CALLER,
        /** A fixed pool that runs whole searches, each one segment after another, while their clients wait. */
        FIXED_WHOLE,
        /** {@link Executors#newFixedThreadPool}; client threads run segments too. */
        FIXED,
        /** {@link ForkJoinPool}; client threads run segments too. */
        FORK_JOIN,
        /** {@link Orchestrator#executor} of one mapping id; client threads run segments too. */
        ROOST,
        /** {@link SegmentHomes}: only the workers run segments, each in its home domain; with one domain the client runs them. */
        ROOST_SEGMENTS
    }

    /** The kind of query. */
    public enum Workload {
        VECTORS,
        WORDS,
        FUSED
    }

    /**
     * The measurements of one contender.
     *
     * @param perSecond searches per second of all clients, one value per round
     * @param p50us median latency in microseconds, one value per round
     * @param p99us 99th percentile of the latency in microseconds, one value per round
     */
    public record Outcome(
            Workload workload, Contender contender, List<Double> perSecond, List<Double> p50us, List<Double> p99us) {
        Outcome(Workload workload, Contender contender) {
            this(workload, contender, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }

        private void add(ClosedLoop.Run run) {
            perSecond.add(run.perSecond());
            p50us.add(run.latencies().p50us());
            p99us.add(run.latencies().p99us());
        }

        /** Searches per second relative to the best contender of the same round. */
        public Samples ofTheBest(List<Outcome> all) {
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < perSecond.size(); i++) {
                int round = i;
                ratios.add(perSecond.get(round)
                        / all.stream()
                                .mapToDouble(outcome -> outcome.perSecond.get(round))
                                .max()
                                .orElseThrow());
            }
            return Samples.of(ratios);
        }

        /** Searches per second relative to another contender in the same round. */
        public Samples times(Outcome other) {
            return Samples.ratios(perSecond, other.perSecond);
        }
    }

    /**
     * Writes the index into a temporary folder, which is deleted by {@link #close} or at the end of the JVM.
     *
     * @param segments number of segments of the index, at least 1
     * @param machine the topology that Roost uses
     */
    public LuceneContenders(DebianPackages packages, int segments, Topology machine) throws IOException {
        this.packages = packages;
        this.folder = new TemporaryFolder("roost-lucene");
        this.directory = new MMapDirectory(folder.path());
        long began = System.nanoTime();
        try {
            PackageIndex.write(packages, segments, directory);
            this.reader = DirectoryReader.open(directory);
        } catch (IOException | RuntimeException e) {
            IOUtils.closeWhileHandlingException(directory, folder);
            throw e;
        }
        this.writing = Duration.ofNanos(System.nanoTime() - began);
        int cores = Runtime.getRuntime().availableProcessors();
        // Two orchestrators: searches leave tasks in the executor that must not affect the next contender.
        this.mapped = Orchestrator.builder().recallShare(0).topology(machine).build();
        this.homes = Orchestrator.builder().recallShare(0).topology(machine).build();
        this.whole = Executors.newFixedThreadPool(cores);
        this.fixed = Executors.newFixedThreadPool(cores);
        this.forkJoin = new ForkJoinPool(cores);
        for (Contender contender : Contender.values()) {
            searchers.put(contender, searcher(contender));
        }
    }

    private IndexSearcher searcher(Contender contender) throws IOException {
        return switch (contender) {
            case CALLER, FIXED_WHOLE -> new IndexSearcher(reader);
            case FIXED -> new IndexSearcher(reader, fixed);
            case FORK_JOIN -> new IndexSearcher(reader, forkJoin);
            case ROOST ->
                new IndexSearcher(
                        reader, mapped.executor(mapped.register("packages").id()));
            case ROOST_SEGMENTS -> segments().searcher(reader);
        };
    }

    /** With several domains always at home, so that what homes cost can be measured also where they do not pay. */
    private SegmentHomes segments() {
        return homes.topology().domains().size() > 1
                ? SegmentHomes.always(homes, "segment")
                : new SegmentHomes(homes, "segment");
    }

    private IndexSearcher searcherOf(Contender contender) {
        return Objects.requireNonNull(searchers.get(contender));
    }

    /** Time to write the index. */
    public Duration writing() {
        return writing;
    }

    /**
     * Measures all contenders in turn, forwards and backwards, after two warm-up rounds. The first warm-up round has as many clients as cores:
     * more clients leave the JIT compiler little time, and vector code that is not compiled yet is many times slower.
     *
     * @param clients number of concurrently searching threads
     * @param rounds number of measured rounds
     * @param slice time per contender and round
     * @throws IllegalStateException if two contenders find different hits
     * @throws ExecutionException if a search fails
     */
    public List<Outcome> measure(Workload workload, int clients, int rounds, Duration slice)
            throws IOException, InterruptedException, ExecutionException {
        requireSameHits(workload);
        ClientThreads few =
                new ClientThreads(Math.min(clients, Runtime.getRuntime().availableProcessors()));
        ClientThreads all = new ClientThreads(clients);
        List<Outcome> outcomes = Arrays.stream(Contender.values())
                .map(contender -> new Outcome(workload, contender))
                .toList();
        for (int round = -2; round < rounds; round++) {
            ClientThreads threads = round == -2 ? few : all;
            for (Outcome outcome : round % 2 == 0 ? outcomes : outcomes.reversed()) {
                ClosedLoop.Run run = threads.run(slice, number -> search(workload, outcome.contender(), number));
                if (round >= 0) {
                    outcome.add(run);
                }
            }
        }
        return outcomes;
    }

    private TopDocs search(Workload workload, Contender contender, int number)
            throws IOException, InterruptedException, ExecutionException {
        IndexSearcher searcher = searcherOf(contender);
        return contender == Contender.FIXED_WHOLE
                ? whole.submit(() -> search(workload, searcher, number)).get()
                : search(workload, searcher, number);
    }

    private TopDocs search(Workload workload, IndexSearcher searcher, int number) throws IOException {
        List<DebianPackages.Query> queries = packages.queries();
        DebianPackages.Query query = queries.get(number % queries.size());
        return switch (workload) {
            case VECTORS -> searcher.search(PackageIndex.meaning(query.vector(), K), K);
            case WORDS -> searcher.search(PackageIndex.words(query.text()), K);
            case FUSED ->
                PackageIndex.fused(
                        searcher,
                        PackageIndex.words(query.text()),
                        PackageIndex.meaning(query.vector(), DEPTH),
                        DEPTH,
                        K);
        };
    }

    private void requireSameHits(Workload workload) throws IOException, InterruptedException, ExecutionException {
        for (int number = 0; number < COMPARED; number++) {
            List<String> expected = hits(workload, Contender.CALLER, number);
            for (Contender contender : Contender.values()) {
                List<String> hits = hits(workload, contender, number);
                if (!hits.equals(expected)) {
                    throw new IllegalStateException("hits of " + contender + " must be those of Lucene's default, "
                            + expected + ", got " + hits + " for query " + number);
                }
            }
        }
    }

    private List<String> hits(Workload workload, Contender contender, int number)
            throws IOException, InterruptedException, ExecutionException {
        return Arrays.stream(search(workload, contender, number).scoreDocs)
                .map((ScoreDoc hit) -> hit.doc + " " + hit.score)
                .toList();
    }

    /** The folder of the index. */
    Path folder() {
        return folder.path();
    }

    /** Shuts the pools down and deletes the index. */
    @Override
    public void close() throws IOException {
        whole.shutdown();
        fixed.shutdown();
        forkJoin.shutdown();
        IOUtils.close(mapped::close, homes::close, reader, directory, folder);
    }
}
