package io.github.roost.examples.lucene;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.Samples;
import io.github.roost.bench.packages.DebianPackages;
import io.github.roost.core.Orchestrator;
import io.github.roost.lucene.SegmentHomes;
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
 * Does it matter who runs Lucene's segments, when many clients search at once? The same index and queries with Lucene's
 * segments on a fixed pool, a {@link ForkJoinPool}, Roost's executor, and Roost's workers with each segment at home; and,
 * since the last keeps clients from searching themselves, with whole searches on a fixed pool, which does so too. All
 * pools have a thread for each core that this process may use.
 */
public final class LuceneBench implements AutoCloseable {
    private static final int K = 10;
    /** How deep either search of a fused one looks. */
    private static final int DEPTH = 50;
    /** Searches whose hits are compared before anything is measured. */
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

    /** What runs the segments of a search. */
    public enum Contender {
        /** The client's thread, one segment after the other: Lucene without an executor. */
        CALLER,
        /** A fixed pool that runs whole searches, each one segment after the other, while its clients wait. */
        FIXED_WHOLE,
        /** {@link Executors#newFixedThreadPool}, which Lucene's clients help. */
        FIXED,
        /** {@link ForkJoinPool}, which Lucene's clients help. */
        FORK_JOIN,
        /** {@link Orchestrator#executor} of one mapping id, which Lucene's clients help. */
        ROOST,
        /** {@link SegmentHomes}: the workers alone, each segment in its home domain. */
        ROOST_SEGMENTS
    }

    /** What clients search by. */
    public enum Workload {
        VECTORS,
        WORDS,
        FUSED
    }

    /**
     * What one contender did.
     *
     * @param perSecond searches a second of all clients, a value each round
     * @param p50us median latency in microseconds, a value each round
     * @param p99us 99th percentile of the latency in microseconds, a value each round
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

        /** Searches per second over those of whoever did most in the same round. */
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

        /** Searches per second over those of another contender in the same round. */
        public Samples times(Outcome other) {
            List<Double> ratios = new ArrayList<>();
            for (int round = 0; round < perSecond.size(); round++) {
                ratios.add(perSecond.get(round) / other.perSecond.get(round));
            }
            return Samples.of(ratios);
        }
    }

    /**
     * Writes the index into a temporary folder, which {@link #close} deletes, or the end of the JVM.
     *
     * @param segments how many segments it has, at least 1
     * @param machine what Roost takes for the machine
     */
    public LuceneBench(DebianPackages packages, int segments, Topology machine) throws IOException {
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
        // Two, since searches leave tasks behind in the executor that the next contender should not find.
        this.mapped = Orchestrator.builder().topology(machine).build();
        this.homes = Orchestrator.builder().topology(machine).build();
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
            case ROOST_SEGMENTS -> new SegmentHomes(homes, "segment").searcher(reader);
        };
    }

    private IndexSearcher searcherOf(Contender contender) {
        return Objects.requireNonNull(searchers.get(contender));
    }

    /** How long writing the index took. */
    public Duration writing() {
        return writing;
    }

    /**
     * Measures all contenders in turn, forwards and backwards, after two rounds that do not count. In the first of those
     * clients are as few as cores: many leave the JIT compiler little time, and vector code that it has not compiled yet
     * is many times slower.
     *
     * @param clients threads that search at once
     * @param rounds how many rounds count
     * @param slice time of each contender in a round
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

    /** Where the index is. */
    Path folder() {
        return folder.path();
    }

    /** Ends the pools and deletes the index. */
    @Override
    public void close() throws IOException {
        whole.shutdown();
        fixed.shutdown();
        forkJoin.shutdown();
        IOUtils.close(mapped::close, homes::close, reader, directory, folder);
    }
}
