package io.github.roost.index.remote;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.index.remote.cache.PartitionCache;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.pool.ReaderHold;
import io.github.roost.index.remote.search.RemoteSearch;
import io.github.roost.index.remote.update.PoolCopy;
import io.github.roost.index.remote.update.PoolWriter;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.WholeFile;
import io.github.roost.vector.spi.AbstractVectorTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A vector table whose partitions are in remote memory. A query visits the few partitions whose centroids are nearest. A partition is fetched
 * once for all queries that wait for it, into a cache bounded in bytes (after Liu, Fang and Qian, "Efficient Vector Search on Disaggregated
 * Memory with d-HNSW", HotStorage 2025).
 *
 * <pre>{@code
 * RemoteTable table = RemoteTable.builder()
 *         .cacheBytes(256L << 20)
 *         .openReadOnly(orchestrator, "products", RemoteMemory.mapped(Path.of("/dev/shm")), "products.pool");
 * List<CompletableFuture<SearchResult>> answers = table.searchAll(requests);
 * }</pre>
 *
 * <p>Each partition is a mapping id: its home is where its queries are grouped and its bytes verified and searched. A query joins the batch queue
 * of each partition that it visits. A group of queries parks until the bytes have arrived; meanwhile its worker serves partitions that are
 * cached. {@link #searchAll} has all its queries join before one is served, so each partition is read at most once for all of them, whatever the
 * size of the cache; more often only if other searches have kept a partition waiting for room for a second, or a query has found too few rows and
 * looks further.
 *
 * <p>The effort of a search is the number of partitions that it visits. If these have fewer than k rows that are there, allowed by the filter and
 * within the radius, it visits further ones, two to four times as many each time, until it has k rows or has visited all; only its visit limit
 * ends it earlier. If a partition cannot be read, the search fails with a
 * {@link RemoteMemoryException}: a {@link RemoteMemoryException.NodeLostException} if the memory node is lost, a {@link RemoteMemoryException.DamagedPartitionException} if bytes are
 * wrong. With {@link Builder#partialAnswers} it answers from the readable partitions and from the cache instead.
 *
 * <p>A table that {@link Builder#open} opened can be changed, see {@link MutableRemoteTable}. A search sees every change that
 * any process made before the search began. A row that moves between partitions during a search is found too: the record that removes it names
 * its new partition, and the search visits that partition again. After eight such rounds the result is marked as cut short. Closing waits for
 * a transfer in progress, but not longer than {@link Builder#transferTimeout}. Thread-safe.
 */
public sealed class RemoteTable extends AbstractVectorTable permits MutableRemoteTable {
    private final OpenPool pool;
    private final ReaderHold hold;
    private final RemoteSearch search;

    RemoteTable(Orchestrator orchestrator, String name, OpenPool pool, ReaderHold hold, Builder options) {
        PoolHead head = pool.head();
        super(
                orchestrator,
                orchestrator.register(name, head.partitions()),
                head.metric(),
                ElementType.FLOAT32,
                head.dimension());
        this.pool = pool;
        this.hold = hold;
        this.search = new RemoteSearch(
                orchestrator,
                registration(),
                pool,
                hold,
                new RemoteSearch.Options(
                        options.ef,
                        options.cacheBytes,
                        options.readsPerDoorbell,
                        options.transferTimeout,
                        options.partialAnswers));
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * A provider of pools that two memory nodes have, each in full: what both have acknowledged survives the loss of either.
     *
     * <p>The first time that two pools are opened together, one must be a copy of the other, such as {@link #save} makes, and nobody
     * may change either. Both are read and compared then, and are marked as belonging together. From then on a table that has opened only one of
     * them can search it, but not change it. The opening fails with a {@link RemoteMemoryException} if they are not the same pool.
     *
     * <p>A change writes to both nodes, and is acknowledged when both have it. Searches read the first node. A node is lost once a transfer fails,
     * or its heartbeat stands still for its term. Then searches go on with the other one, and changes fail with a {@link RemoteMemoryException}:
     * if the two could be changed apart, changes would be lost. To go on, open the table again with both nodes, or, if one does not come back,
     * with {@link #alone} the other.
     *
     * @param first provider of the pools that searches read; regions have their names at it
     * @param second provider of the replica; may be the same
     * @param secondRegion name of the replica at its provider
     * @return the provider, which closes both
     */
    public static RemoteMemory mirrored(RemoteMemory first, RemoteMemory second, String secondRegion) {
        return new MirroredMemory(first, second, secondRegion);
    }

    /**
     * A provider that opens a {@linkplain #mirrored mirrored} pool without its other node, for changes too. Tables that have both nodes open refuse
     * changes from then on. The other node's pool is out of date as soon as this one changes: end that node before, and copy the pool to have two
     * again.
     *
     * @param memory provider of the node that is left
     * @return a provider of the same regions; pools that are not mirrored are opened as they are
     */
    public static RemoteMemory alone(RemoteMemory memory) {
        return new MirroredMemory.Alone(Objects.requireNonNull(memory, "memory must not be null"));
    }

    @Override
    protected int defaultEffort(int k) {
        return visitedByDefault(k);
    }

    @Override
    public int minEffort(int k) {
        return 1;
    }

    @Override
    public int maxEffort() {
        return pool.head().partitions();
    }

    @Override
    protected String effortName() {
        return "visited partitions";
    }

    @Override
    protected CompletableFuture<SearchResult> submit(SearchRequest request) {
        return search.submit(request);
    }

    /**
     * Searches for a batch of queries. All of them join their partitions before the first partition is read, so each partition is read at most
     * once. Queries with equal options (priority and timeout) form one batch; each query with a target recall runs on its own.
     */
    @Override
    protected List<CompletableFuture<SearchResult>> submitAll(List<SearchRequest> requests) {
        Map<SubmitOptions, Iterator<CompletableFuture<SearchResult>>> together = new HashMap<>();
        List<CompletableFuture<SearchResult>> begun = new ArrayList<>();
        for (SearchRequest request : requests) {
            if (hasEffort(request)) {
                begun.add(together.computeIfAbsent(request.options(), options -> submitAlike(requests, options, begun))
                        .next());
            } else {
                begun.add(submitOrFail(request));
            }
        }
        return begun;
    }

    /** A refusal is thrown only if no search has begun: otherwise the caller must get the futures. */
    private Iterator<CompletableFuture<SearchResult>> submitAlike(
            List<SearchRequest> requests, SubmitOptions options, List<CompletableFuture<SearchResult>> begun) {
        List<SearchRequest> alike = requests.stream()
                .filter(request -> hasEffort(request) && request.options().equals(options))
                .toList();
        try {
            return search.submitTogether(alike, options).iterator();
        } catch (RuntimeException | Error refused) {
            if (begun.isEmpty()) {
                throw refused;
            }
            return Collections.nCopies(alike.size(), CompletableFuture.<SearchResult>failedFuture(refused))
                    .iterator();
        }
    }

    private static boolean hasEffort(SearchRequest request) {
        return Double.isNaN(request.targetRecall());
    }

    /** {@inheritDoc} The ground truth comes from searches of all partitions with a larger ef. */
    @Override
    protected int measureEffort(double recall, int k, float[][] sample) {
        return search.measureEffort(recall, k, sample);
    }

    /** The exact rows are those of {@link #measureEffort}'s ground truth. */
    @Override
    protected SearchResult exact(SearchRequest request, SearchContext context) {
        return search.nearest(request.query(), request.k()).join();
    }

    @Override
    protected float[][] sampleRows(int count, Random random) {
        return pool.sample();
    }

    /** {@inheritDoc} Fetches each partition that is not in the cache. Blocks: do not call it on a worker. */
    @Override
    public void verify() throws IOException {
        try (var _ = use()) {
            search.verify();
        }
    }

    /** {@inheritDoc} Fetches the partitions one after another until it finds the row. Blocks: do not call it on a worker. */
    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            return search.vector(id);
        } catch (RemoteMemoryException lost) {
            throw new UncheckedIOException(lost);
        }
    }

    /**
     * {@inheritDoc} Copies the state of the pool at one moment into a file that can be served and opened. This and other tables may change the
     * pool meanwhile.
     *
     * @throws IOException if the file cannot be written, or is a pool that is in use on this host: its later changes would be lost
     */
    @Override
    public void save(Path file) throws IOException {
        Objects.requireNonNull(file, "file must not be null");
        try (var _ = use()) {
            WholeFile.requireOther(file, List.of(Path.of(pool.region().name())));
            WholeFile.replace(file, new PoolCopy(pool, writer(), hold)::write);
        }
    }

    @Override
    public int size() {
        return pool.rows();
    }

    /** {@return the table's current state; its bytes are the size of this process's cache, as in {@link #remoteStats}, not of the pool} */
    @Override
    public TableStats stats() {
        return new TableStats(
                name(),
                "remote",
                size(),
                dimension(),
                metric(),
                elementType(),
                pool.head().partitions(),
                search.counts().held(),
                recall());
    }

    /** {@return counts of fetches, cache hits and failures since the table was opened} */
    public Stats remoteStats() {
        PartitionCache.Counts counts = search.counts();
        return new Stats(
                counts.reads(),
                counts.bytesRead(),
                counts.doorbells(),
                counts.hits(),
                counts.evictions(),
                counts.held(),
                search.damaged(),
                search.partial(),
                pool.directory().epoch());
    }

    /**
     * Counts of fetches and cache hits of a table since it was opened.
     *
     * @param reads fetches of partitions or of ends of their logs
     * @param bytesRead bytes of these fetches
     * @param doorbells requests to the network card for these fetches
     * @param hits times that a group of queries found its partition in the cache
     * @param evictions partitions evicted from the cache
     * @param cachedBytes current memory of the cache, in bytes
     * @param damaged reads of partitions that failed their checksums
     * @param partial answers with a missing partition
     * @param epoch the pool's epoch as this table last read it
     */
    public record Stats(
            long reads,
            long bytesRead,
            long doorbells,
            long hits,
            long evictions,
            long cachedBytes,
            long damaged,
            long partial,
            long epoch) {}

    /** {@return the default number of partitions per search for up to 10 rows} */
    public int visitedByDefault() {
        return pool.head().visited();
    }

    /**
     * The number of partitions that a search visits by default. It grows with k, so that the recall does not fall: a function of k, {@link
     * #visitedByDefault()} and the average size of partitions.
     *
     * @param k the maximum number of rows, from 1 to 10,000
     * @return from {@link #visitedByDefault()} to the number of partitions
     */
    public int visitedByDefault(int k) {
        return pool.visitedFor(k);
    }

    /**
     * Finds the partitions that a search visits; others only if these have too few rows for it.
     *
     * @param query of the table's dimension, finite
     * @param visited number of partitions, from 1 to the number of partitions of the table
     * @return their numbers, nearest centroid first
     */
    public int[] partitionsOf(float[] query, int visited) {
        requireQuery("query", query);
        Vectors.requireRange(effortName(), visited, 1, maxEffort());
        return pool.nearest(query, visited);
    }

    /** The writer of the region; null if the table was opened read-only. */
    @Nullable
    PoolWriter writer() {
        return null;
    }

    OpenPool pool() {
        return pool;
    }

    @Override
    protected void free() {
        search.close();
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private static final long DEFAULT_CACHE = 1L << 30;

        private long cacheBytes = DEFAULT_CACHE;
        private int readsPerDoorbell = 16;
        private int ef = 64;
        Duration transferTimeout = Duration.ofSeconds(5);
        private boolean partialAnswers;
        boolean rebuildsFullLogs = true;

        private Builder() {}

        /**
         * Sets the size of the partition cache.
         *
         * @param value in bytes, at least the largest partition with its gap, which {@link #open} checks; default 1 GiB
         * @return this builder
         */
        public Builder cacheBytes(long value) {
            Vectors.requireRange("cache bytes", value, 1, Long.MAX_VALUE);
            this.cacheBytes = value;
            return this;
        }

        /**
         * Sets the maximum number of partitions per doorbell, that is, per request to the network card.
         *
         * @param value from 1 to 256; default 16
         * @return this builder
         */
        public Builder readsPerDoorbell(int value) {
            Vectors.requireRange("reads per doorbell", value, 1, 256);
            this.readsPerDoorbell = value;
            return this;
        }

        /**
         * Sets the ef of the graph search in each partition. If k is larger, k is used.
         *
         * @param value from 1 to 100,000; default 64
         * @return this builder
         */
        public Builder ef(int value) {
            Vectors.requireRange("ef", value, 1, Vectors.MAX_EF);
            this.ef = value;
            return this;
        }

        /**
         * Sets the timeout of transfers. The deadline of a search applies independently.
         *
         * @param value over zero; default 5 seconds
         * @return this builder
         */
        public Builder transferTimeout(Duration value) {
            Objects.requireNonNull(value, "transferTimeout must not be null");
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException("the transfer timeout must be over zero, got " + value);
            }
            this.transferTimeout = value;
            return this;
        }

        /**
         * Sets whether a search that cannot read a partition answers from the other partitions, and from the cached bytes of the missing one,
         * which may be out of date. Such an answer is marked as {@linkplain SearchResult#cutShort cut short} and has the number of missing
         * partitions in its {@linkplain SearchCost#missingPartitions cost}.
         *
         * @param value default false: the search fails
         * @return this builder
         */
        public Builder partialAnswers(boolean value) {
            this.partialAnswers = value;
            return this;
        }

        /**
         * Sets whether this table rebuilds a pair in the background once a change finds three quarters of its gap used. A change that finds the
         * gap full waits for the rebuild.
         *
         * @param value default true; if false, the caller must call {@link MutableRemoteTable#rebuild}, and a full gap refuses changes
         * @return this builder
         */
        public Builder rebuildsFullLogs(boolean value) {
            this.rebuildsFullLogs = value;
            return this;
        }

        /**
         * Opens a pool for searches. Its head, centroids and directory are read and checked now; partitions are checked when they are read.
         *
         * @param orchestrator runs the table's searches
         * @param name name of the table in reports
         * @param memory provider of the region; must be closed after the table
         * @param region name of the region at the provider
         * @return the table, to be closed
         * @throws IOException if the region cannot be read or holds no complete pool; the message says what is wrong
         * @throws IllegalArgumentException if the cache is smaller than a partition with its gap
         */
        public RemoteTable openReadOnly(Orchestrator orchestrator, String name, RemoteMemory memory, String region)
                throws IOException {
            return open(orchestrator, name, memory, region, RemoteTable::new);
        }

        /**
         * Opens a pool for searches and changes, otherwise as {@link #openReadOnly}.
         *
         * @param orchestrator runs the table's searches
         * @param name name of the table in reports
         * @param memory provider of the region; must be closed after the table
         * @param region name of the region at the provider
         * @return the table, to be closed
         * @throws IOException if the region cannot be read or written or holds no complete pool; the message says what is wrong
         * @throws IllegalArgumentException if the cache is smaller than a partition with its gap
         */
        public MutableRemoteTable open(Orchestrator orchestrator, String name, RemoteMemory memory, String region)
                throws IOException {
            return open(orchestrator, name, memory, region, (places, same, pool, hold, options) -> {
                if (!pool.region().isWritable()) {
                    throw new RemoteMemoryException(region, "cannot be written by this process: open it read-only");
                }
                return new MutableRemoteTable(places, same, pool, hold, options);
            });
        }

        /** Makes a table of an open pool. */
        @FunctionalInterface
        private interface Opening<T extends RemoteTable> {
            T of(Orchestrator orchestrator, String name, OpenPool pool, ReaderHold hold, Builder options)
                    throws IOException;
        }

        private <T extends RemoteTable> T open(
                Orchestrator orchestrator, String name, RemoteMemory memory, String region, Opening<T> opening)
                throws IOException {
            Objects.requireNonNull(orchestrator, "orchestrator must not be null");
            Objects.requireNonNull(name, "name must not be null");
            Objects.requireNonNull(memory, "memory must not be null");
            Objects.requireNonNull(region, "region must not be null");
            OpenPool pool = OpenPool.open(memory.open(region), transferTimeout);
            boolean opened = false;
            ReaderHold hold = null;
            try {
                hold = ReaderHold.of(pool, name);
                Directory directory = pool.directory();
                for (int i = 0; i < directory.partitions().size(); i++) {
                    long needed = directory.partitions().get(i).bytes()
                            + directory.gapOf(i).bytes();
                    if (needed > cacheBytes) {
                        throw new IllegalArgumentException("the cache must have at least " + needed
                                + " bytes, the size of partition " + i + " with its log, got " + cacheBytes);
                    }
                }
                T table = opening.of(orchestrator, name, pool, hold, this);
                opened = true;
                return table;
            } finally {
                if (!opened) {
                    if (hold != null) {
                        hold.close();
                    }
                    pool.close();
                }
            }
        }
    }
}
