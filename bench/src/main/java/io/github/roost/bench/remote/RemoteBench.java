package io.github.roost.bench.remote;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.remote.MutableRemoteTable;
import io.github.roost.index.remote.PartitionedIndex;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.Mixture;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Question: how many reads of remote memory does a batch of searches need if each partition is fetched once for the whole batch, compared with one
 * read per query and partition (naive)? Counts are exact. Times are of a file in shared memory, mapped or accessed by another provider; both ways
 * alternate.
 */
@Command(
        name = "remote",
        description = "Reads, times and recall of a table in shared memory; a batch fetches each partition once.")
public final class RemoteBench implements Callable<Integer> {
    /** Values of nprobe for the recall curve. */
    private static final int[] VISITED = {1, 2, 3, 5, 8, 12, 16};

    private static final double[] CACHE_SHARES = {.02, .05, .1, .2, .5};
    private static final int TRUTHS = 200;
    private static final int READS_PER_DOORBELL = 16;
    private static final int QUERIES_PER_INSERT = 100;
    private static final int SMALL_PIECES = 200;
    private static final int SMALL_BYTES = 512;
    /** Bytes of a query and its answer per neighbor, in addition to the query's components. */
    private static final int BYTES_PER_NEIGHBOR = 12;

    /** Queries that are measured the naive way; the time of the whole batch is extrapolated. */
    private static final int MAX_NAIVE = 100;

    private final @Mixin RemoteOptions options = new RemoteOptions();
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws IOException {
        options.check();
        Results results = run();
        new RemoteReport(options, results, output).print();
        output.print(Map.of("results", results));
        return 0;
    }

    /**
     * Reads of one batch with an empty cache.
     *
     * @param naive one per query and partition
     * @param union partitions that at least one query visits
     * @param reads made by the table
     * @param doorbells of those reads
     * @param bytes fetched
     */
    public record Counts(long naive, int union, long reads, long doorbells, long bytes) {
        /** The number of naive reads over the number of reads. */
        public double ratio() {
            return (double) naive / reads;
        }
    }

    /**
     * One round of times.
     *
     * @param seconds of the batch with an empty cache
     * @param cachedSeconds of the batch with all partitions in the cache
     * @param naiveSeconds of the batch the naive way, extrapolated
     * @param naiveReads of the queries that were measured
     */
    public record Times(double seconds, double cachedSeconds, double naiveSeconds, long naiveReads) {}

    /**
     * The recall of searches.
     *
     * @param visited partitions, or 0 for one graph of all rows
     * @param recall share of the true neighbors
     * @param queriesPerSecond of a batch, with everything in memory
     */
    public record Found(int visited, double recall, double queriesPerSecond) {}

    /**
     * The effect of a cache size.
     *
     * @param share of the partitions that fit
     * @param reads of the second of two batches
     * @param seconds of the second batch
     */
    public record Cached(double share, long reads, double seconds) {}

    /**
     * Modeled costs of a network of {@link NetworkModel#GIGABIT_100}.
     *
     * @param overlap of a batch's fetches with its searches
     * @param smallTogetherMicros of 200 pieces of 512 bytes in one doorbell
     * @param smallSingleMicros of the same pieces one by one
     * @param imagesTogetherMicros of 16 partitions in one doorbell
     * @param imagesSingleMicros of the same partitions one by one
     */
    public record Modeled(
            FetchOverlap overlap,
            double smallTogetherMicros,
            double smallSingleMicros,
            double imagesTogetherMicros,
            double imagesSingleMicros) {}

    /**
     * Shipping the data compared with shipping the query.
     *
     * @param partitionBytes moved by a fetch
     * @param queryBytes of a query and its answer
     * @param queriesPerPartition of this batch
     * @param breakEven queries per partition and batch above which a fetch moves fewer bytes
     * @param oneSidedGigabytes per second, read by the provider
     * @param twoSidedGigabytes per second, requested over gRPC
     */
    public record Shipping(
            long partitionBytes,
            long queryBytes,
            double queriesPerPartition,
            double breakEven,
            double oneSidedGigabytes,
            double twoSidedGigabytes) {}

    /**
     * One round of searches with and without insertions, each for a batch with all partitions in the cache.
     *
     * @param readOnlySeconds of the batch alone
     * @param insertingSeconds of the batch while one row per hundred queries is inserted
     * @param inserts rows inserted in that time
     */
    public record Inserting(double readOnlySeconds, double insertingSeconds, int inserts) {
        /** Searches per second with insertions over searches per second without. */
        public double ratio() {
            return readOnlySeconds / insertingSeconds;
        }
    }

    /** All results; {@code inserting} is empty if the provider is read-only. */
    public record Results(
            PartitionedIndex.Pool pool,
            double buildSeconds,
            Counts counts,
            List<Times> times,
            List<Found> found,
            List<Cached> cached,
            PartitionCosts costs,
            Modeled modeled,
            Shipping shipping,
            List<Inserting> inserting) {}

    /** Builds a pool, measures, and deletes the pool. */
    private Results run() throws IOException {
        SplittableRandom random = new SplittableRandom(42);
        Mixture mixture = Mixture.of(Math.max(1, options.rows.value() / 100), options.dimension.value(), random);
        float[][] rows = mixture.draw(options.rows.value(), random);
        float[][] queries = mixture.draw(options.batch, random);
        Path file = Files.createTempFile(options.folder.path(), "roost-bench-", ".pool");
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .ringCapacity(1 << 16)
                .overloadPolicy(OverloadPolicy.block(Duration.ofMinutes(10)))
                .build()) {
            output.progress("building " + options.partitions + " partitions of " + options.rows.value() + " rows");
            long began = System.nanoTime();
            long[] ids = LongStream.range(0, rows.length).toArray();
            PartitionedIndex.Pool pool = PartitionedIndex.builder()
                    .partitions(options.partitions)
                    .build(orchestrator, ids, VectorSource.of(rows), file);
            double buildSeconds = (System.nanoTime() - began) / 1e9;
            try (PoolAccess reached = options.reach(file)) {
                return measure(orchestrator, rows, queries, file, reached, pool, buildSeconds);
            }
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private Results measure(
            Orchestrator orchestrator,
            float[][] rows,
            float[][] queries,
            Path file,
            PoolAccess reached,
            PartitionedIndex.Pool pool,
            double buildSeconds)
            throws IOException {
        long room = slot(pool);
        output.progress("counting reads of a batch");
        Counts counts = counts(orchestrator, queries, reached, pool);
        List<Times> times = new ArrayList<>();
        for (int round = -1; round < options.rounds.value(); round++) {
            output.progress(round < 0 ? "warming up" : "round " + (round + 1) + " of " + options.rounds.value());
            Times time = times(orchestrator, queries, reached, pool);
            if (round >= 0) {
                times.add(time);
            }
        }
        output.progress("measuring recall compared with one graph");
        List<Found> found = found(orchestrator, rows, queries, reached, pool);
        List<Cached> cached = new ArrayList<>();
        for (double share : CACHE_SHARES) {
            output.progress("a cache of %.0f %%".formatted(100 * share));
            long bytes = Math.max(1, Math.round(share * options.partitions)) * room;
            try (RemoteTable table = open(orchestrator, reached, bytes)) {
                search(table, queries, options.visited);
                long before = table.remoteStats().reads();
                double seconds = search(table, queries, options.visited);
                cached.add(new Cached(share, table.remoteStats().reads() - before, seconds));
            }
        }
        double cachedSeconds =
                times.stream().mapToDouble(Times::cachedSeconds).min().orElse(0);
        return new Results(
                pool,
                buildSeconds,
                counts,
                times,
                found,
                cached,
                PartitionCosts.measure(
                        orchestrator,
                        Arrays.copyOf(rows, Math.max(1, options.rows.value() / options.partitions)),
                        queries,
                        options.k.value()),
                modeled(orchestrator, queries, file, pool, cachedSeconds),
                shipping(file, reached, pool, counts),
                // This must be last, because it changes the pool.
                inserting(orchestrator, queries, reached, pool));
    }

    private List<Inserting> inserting(
            Orchestrator orchestrator, float[][] queries, PoolAccess reached, PartitionedIndex.Pool pool)
            throws IOException {
        output.progress("inserting during searches");
        SplittableRandom random = new SplittableRandom(7);
        int inserts = Math.max(1, queries.length / QUERIES_PER_INSERT);
        List<Inserting> rounds = new ArrayList<>();
        try (RemoteMemory.Region region = reached.memory().open(reached.region())) {
            if (!region.isWritable()) {
                return rounds;
            }
        }
        try (MutableRemoteTable table =
                options(2 * whole(pool)).open(orchestrator, "remote", reached.memory(), reached.region())) {
            search(table, queries, options.visited);
            double pace = search(table, queries, options.visited);
            long next = options.rows.value();
            for (int round = -1; round < options.rounds.value(); round++) {
                // The two states alternate; their order is reversed every round.
                double before = round % 2 == 0 ? search(table, queries, options.visited) : 0;
                List<float[]> rows = new ArrayList<>();
                for (int i = 0; i < inserts; i++) {
                    float[] row = queries[random.nextInt(queries.length)].clone();
                    row[0] += (float) random.nextDouble(.1);
                    rows.add(row);
                }
                long first = next;
                long pauseNanos = (long) (pace * 1e9 / inserts);
                AtomicBoolean over = new AtomicBoolean();
                CompletableFuture<Integer> inserted = new CompletableFuture<>();
                Thread inserter = new Thread(() -> insert(table, first, rows, pauseNanos, over, inserted), "inserter");
                inserter.start();
                double with = search(table, queries, options.visited);
                over.set(true);
                int count = inserted.join();
                next += inserts;
                double alone = round % 2 == 0 ? before : search(table, queries, options.visited);
                if (round >= 0) {
                    rounds.add(new Inserting(alone, with, count));
                }
            }
        }
        return rounds;
    }

    /** Inserts rows evenly over the expected time of a batch, until the batch is over; completes with the number of inserted rows. */
    private static void insert(
            MutableVectorTable table,
            long id,
            List<float[]> rows,
            long pauseNanos,
            AtomicBoolean over,
            CompletableFuture<Integer> done) {
        try {
            long began = System.nanoTime();
            int count = 0;
            for (; count < rows.size() && !over.get(); count++) {
                LockSupport.parkNanos(began + count * pauseNanos - System.nanoTime());
                table.put(id + count, rows.get(count));
            }
            done.complete(count);
        } catch (Throwable failed) {
            done.completeExceptionally(failed);
        }
    }

    /** The approximate size of a partition in a cache, including its log. */
    private static long slot(PartitionedIndex.Pool pool) {
        return pool.largestBytes() + pool.largestBytes() / 4;
    }

    private static RemoteTable open(Orchestrator orchestrator, PoolAccess pool, long cacheBytes) throws IOException {
        return options(cacheBytes).openReadOnly(orchestrator, "remote", pool.memory(), pool.region());
    }

    private static RemoteTable.Builder options(long cacheBytes) {
        return RemoteTable.builder().cacheBytes(cacheBytes).readsPerDoorbell(READS_PER_DOORBELL);
    }

    private long whole(PartitionedIndex.Pool pool) {
        return options.partitions * slot(pool);
    }

    private double search(VectorTable table, float[][] queries, int effort) {
        List<SearchRequest> requests = Arrays.stream(queries)
                .map(query -> SearchRequest.of(query, options.k.value()).effort(effort))
                .toList();
        long began = System.nanoTime();
        for (CompletableFuture<SearchResult> answer : table.searchAll(requests)) {
            answer.join();
        }
        return (System.nanoTime() - began) / 1e9;
    }

    private Counts counts(Orchestrator orchestrator, float[][] queries, PoolAccess reached, PartitionedIndex.Pool pool)
            throws IOException {
        try (RemoteTable table = open(orchestrator, reached, whole(pool))) {
            Set<Integer> union = new HashSet<>();
            for (float[] query : queries) {
                IntStream.of(table.partitionsOf(query, options.visited)).forEach(union::add);
            }
            search(table, queries, options.visited);
            RemoteTable.Stats stats = table.remoteStats();
            return new Counts(
                    (long) queries.length * options.visited,
                    union.size(),
                    stats.reads(),
                    stats.doorbells(),
                    stats.bytesRead());
        }
    }

    private Times times(Orchestrator orchestrator, float[][] queries, PoolAccess reached, PartitionedIndex.Pool pool)
            throws IOException {
        double naiveSeconds;
        long naiveReads;
        int naive = Math.min(MAX_NAIVE, queries.length);
        try (RemoteTable table = open(orchestrator, reached, slot(pool))) {
            long began = System.nanoTime();
            for (int i = 0; i < naive; i++) {
                // With room for one partition and one query at a time, there is one read per query and partition.
                table.search(queries[i], options.k.value(), options.visited).join();
            }
            naiveSeconds = (System.nanoTime() - began) / 1e9 / naive * queries.length;
            naiveReads = table.remoteStats().reads();
        }
        try (RemoteTable table = open(orchestrator, reached, whole(pool))) {
            double seconds = search(table, queries, options.visited);
            return new Times(seconds, search(table, queries, options.visited), naiveSeconds, naiveReads);
        }
    }

    private List<Found> found(
            Orchestrator orchestrator,
            float[][] rows,
            float[][] queries,
            PoolAccess reached,
            PartitionedIndex.Pool pool)
            throws IOException {
        float[][] sample = Arrays.copyOf(queries, Math.min(TRUTHS, queries.length));
        SearchResult[] truth = new ExactSearch(rows).searchAll(sample, options.k.value());
        List<Found> found = new ArrayList<>();
        try (RemoteTable table = open(orchestrator, reached, whole(pool))) {
            int[] visits = IntStream.concat(IntStream.of(VISITED), IntStream.of(pool.visited()))
                    .filter(visited -> visited <= options.partitions)
                    .sorted()
                    .distinct()
                    .toArray();
            for (int visited : visits) {
                found.add(found(table, visited, visited, queries, sample, truth));
            }
        }
        if (options.withoutGraph) {
            return found;
        }
        try (HnswTable local = HnswTable.builder().m(16).efConstruction(120).build(orchestrator, rows)) {
            found.add(found(local, 0, 64, queries, sample, truth));
        }
        return found;
    }

    private Found found(
            VectorTable table, int visited, int effort, float[][] queries, float[][] sample, SearchResult[] truth) {
        DistanceRecall recall = new DistanceRecall();
        for (int i = 0; i < sample.length; i++) {
            recall.add(
                    truth[i], table.search(sample[i], options.k.value(), effort).join());
        }
        search(table, queries, effort);
        return new Found(visited, recall.share(), queries.length / search(table, queries, effort));
    }

    private Modeled modeled(
            Orchestrator orchestrator, float[][] queries, Path file, PartitionedIndex.Pool pool, double cachedSeconds)
            throws IOException {
        NetworkModel network = NetworkModel.GIGABIT_100;
        int[] queriesOf = new int[options.partitions];
        try (RemoteTable table = RemoteTable.builder()
                .cacheBytes(whole(pool))
                .openReadOnly(
                        orchestrator,
                        "modeled",
                        RemoteMemory.mapped(options.folder.path()),
                        file.getFileName().toString())) {
            for (float[] query : queries) {
                IntStream.of(table.partitionsOf(query, options.visited)).forEach(partition -> queriesOf[partition]++);
            }
        }
        double perVisit = cachedSeconds * 1e9 * orchestrator.workers() / ((double) queries.length * options.visited);
        int[] visited = IntStream.range(0, queriesOf.length)
                .filter(p -> queriesOf[p] > 0)
                .toArray();
        long[] bytes = new long[visited.length];
        Arrays.fill(bytes, pool.largestBytes());
        long[] search = IntStream.of(visited)
                .mapToLong(partition -> Math.round(queriesOf[partition] * perVisit))
                .toArray();
        long image = pool.largestBytes();
        return new Modeled(
                FetchOverlap.of(network, READS_PER_DOORBELL, bytes, search, orchestrator.workers()),
                network.alone(SMALL_PIECES, (long) SMALL_PIECES * SMALL_BYTES) / 1e3,
                SMALL_PIECES * network.alone(1, SMALL_BYTES) / 1e3,
                network.alone(READS_PER_DOORBELL, READS_PER_DOORBELL * image) / 1e3,
                READS_PER_DOORBELL * network.alone(1, image) / 1e3);
    }

    private Shipping shipping(Path file, PoolAccess reached, PartitionedIndex.Pool pool, Counts counts)
            throws IOException {
        output.progress("fetching by request over gRPC");
        long queryBytes =
                (long) options.dimension.value() * Float.BYTES + (long) options.k.value() * BYTES_PER_NEIGHBOR;
        int image = Math.toIntExact(pool.largestBytes());
        int pieces = Math.max(1, Math.min(options.partitions - 1, 64));
        double twoSided;
        try (TwoSidedFetch fetch = new TwoSidedFetch(file)) {
            for (int piece = 0; piece < pieces; piece++) {
                // The first pass warms up.
                fetch.fetch(piece * (long) image, image);
            }
            long began = System.nanoTime();
            for (int piece = 0; piece < pieces; piece++) {
                fetch.fetch(piece * (long) image, image);
            }
            twoSided = pieces * (double) image / (System.nanoTime() - began);
        }
        return new Shipping(
                pool.largestBytes(),
                queryBytes,
                (double) counts.naive() / counts.union(),
                (double) pool.largestBytes() / queryBytes,
                oneSided(reached, image, pieces),
                twoSided);
    }

    /** Reads a pool through its provider, one read after the other. */
    private static double oneSided(PoolAccess pool, int bytes, int pieces) throws IOException {
        try (RemoteMemory.Region region = pool.memory().open(pool.region());
                Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(bytes, 64);
            region.get(List.of(new RemoteMemory.Region.Transfer(0, into))).join();
            long began = System.nanoTime();
            for (int piece = 0; piece < pieces; piece++) {
                region.get(List.of(new RemoteMemory.Region.Transfer(piece * (long) bytes, into)))
                        .join();
            }
            return pieces * (double) bytes / (System.nanoTime() - began);
        }
    }
}
