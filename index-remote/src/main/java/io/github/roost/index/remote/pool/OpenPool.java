package io.github.roost.index.remote.pool;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Bytes;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.RowCount;
import io.github.roost.index.remote.format.RowDistance;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.file.Checksum;
import io.github.roost.vector.math.ListsToVisit;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * An open pool: its head, the graph of the centroids, and the directory of its current epoch. Thread-safe: directories are immutable and are
 * replaced as a whole. A reader must {@linkplain #enter enter} the directory that it uses.
 */
public final class OpenPool implements AutoCloseable {
    /** If the space of the directory was reused this many times between the reads of root and directory, the pool is not written by tables. */
    private static final int MAX_TRIES = 100;

    private static final int WORDS = 3;

    private final RemoteMemory.Region region;
    private final Arena arena = Arena.ofShared();
    private final ConcurrentLinkedQueue<MemorySegment> wordBuffers = new ConcurrentLinkedQueue<>();
    private final long timeoutNanos;
    private final PoolHead head;
    private final Graph centroids;
    private final float[][] sample;
    /** Per partition, how much farther, in squared distance, one of its rows is from its centroid than from the nearest. */
    private final float[] excess;

    private final NodeWatch watch;
    private volatile int rows;
    private volatile Directory directory;
    /** Number of readers that have entered the directory of each epoch; guarded by this object. */
    private final TreeMap<Long, Integer> usersOfEpoch = new TreeMap<>();

    /** The words read before a search of a partition, and when the read was requested. */
    public record Words(EpochRoot root, long heartbeat, LogTails tails, long requestedNanos) {}

    private OpenPool(RemoteMemory.Region region, Duration timeout) throws IOException {
        this.region = region;
        this.timeoutNanos = timeout.toNanos();
        MemorySegment first = read(0, PoolHead.BYTES);
        this.head = PoolHead.read(region.name(), region.bytes(), first);
        MemorySegment meta = read(head.metaAt(), head.metaBytes() + head.sampleBytes() + head.excessBytes());
        if (Checksum.of(meta) != head.metaChecksum()) {
            throw new RemoteMemoryException(region.name(), "has damaged centroids: wrong checksum");
        }
        this.centroids = centroids(meta);
        this.sample = new float[head.sample()][head.dimension()];
        for (int i = 0; i < sample.length; i++) {
            MemorySegment.copy(
                    meta,
                    Bytes.FLOAT,
                    head.metaBytes() + (long) i * head.dimension() * Float.BYTES,
                    sample[i],
                    0,
                    head.dimension());
        }
        this.excess = new float[head.partitions()];
        MemorySegment.copy(meta, Bytes.FLOAT, head.metaBytes() + head.sampleBytes(), excess, 0, excess.length);
        this.watch = new NodeWatch(
                region.name(),
                first.get(LONG, PoolHead.HEARTBEAT_AT),
                first.get(LONG, PoolHead.TERM_AT),
                System.nanoTime());
        requireRows(first.get(LONG, PoolHead.ROWS_AT));
        this.directory = readDirectory();
    }

    /** Opens a pool: reads and checks the parts that every search needs. Closes the region on failure. */
    public static OpenPool open(RemoteMemory.Region region, Duration timeout) throws IOException {
        if (region.bytes() < PoolHead.BYTES) {
            region.close();
            throw new RemoteMemoryException(
                    region.name(), "has " + region.bytes() + " bytes, less than a pool's head of " + PoolHead.BYTES);
        }
        boolean opened = false;
        try {
            OpenPool pool = new OpenPool(region, timeout);
            opened = true;
            return pool;
        } finally {
            if (!opened) {
                region.close();
            }
        }
    }

    private Graph centroids(MemorySegment meta) throws RemoteMemoryException {
        Graph graph;
        try {
            graph = Graph.open("centroids", meta.asSlice(0, head.metaBytes()));
        } catch (FileFormatException wrong) {
            throw new RemoteMemoryException(region.name(), "has no graph of centroids", wrong);
        }
        if (graph.rows() != head.partitions()
                || graph.dimension() != head.dimension()
                || graph.metric() != Metric.SQUARED_L2) {
            throw new RemoteMemoryException(region.name(), "has centroids of another pool");
        }
        for (int row = 0; row < graph.rows(); row++) {
            PoolHead.require(region.name(), "partition of a centroid", graph.id(row), 0, head.partitions() - 1L);
        }
        return graph;
    }

    private Directory readDirectory() throws RemoteMemoryException {
        for (int i = 0; i < MAX_TRIES; i++) {
            EpochRoot root = root();
            PoolHead.require(
                    region.name(),
                    "page of its directory",
                    root.page(),
                    1,
                    (head.bytes() - head.directoryBytes()) / EpochRoot.PAGE);
            Directory read =
                    Directory.read(region.name(), head, root.epoch(), read(root.directoryAt(), head.directoryBytes()));
            if (read != null) {
                return read;
            }
        }
        throw new RemoteMemoryException(region.name(), "has no whole directory of its epoch");
    }

    /** Reads the directory again if the region has a newer epoch. Blocks. */
    public Directory refresh() throws RemoteMemoryException {
        Directory known = directory;
        if (root().epoch() == known.epoch()) {
            return known;
        }
        Directory read = readDirectory();
        synchronized (this) {
            if (read.epoch() > directory.epoch()) {
                directory = read;
            }
            return directory;
        }
    }

    /** Returns the current directory and holds its epoch until {@link #leave} is called with it. */
    public synchronized Directory enter() {
        usersOfEpoch.merge(directory.epoch(), 1, Integer::sum);
        return directory;
    }

    public synchronized void leave(Directory entered) {
        usersOfEpoch.computeIfPresent(entered.epoch(), (epoch, users) -> users == 1 ? null : users - 1);
    }

    /** The oldest epoch in use, by current or later readers. */
    synchronized long oldestRead() {
        return usersOfEpoch.isEmpty() ? directory.epoch() : Math.min(usersOfEpoch.firstKey(), directory.epoch());
    }

    /** Calls {@link #refresh} in another thread. */
    public CompletableFuture<Void> refreshLater() {
        CompletableFuture<Void> refreshed = new CompletableFuture<>();
        Thread.ofVirtual().name("roost-directory").start(() -> {
            try {
                refresh();
                refreshed.complete(null);
            } catch (Throwable failed) {
                refreshed.completeExceptionally(failed);
            }
        });
        return refreshed;
    }

    public EpochRoot root() throws RemoteMemoryException {
        return EpochRoot.of(word(PoolHead.ROOT_AT));
    }

    /** Reads one of the mutable words. Blocks. */
    public long word(long at) throws RemoteMemoryException {
        MemorySegment buffer = wordBuffer();
        return await(read(
                List.of(new RemoteMemory.Region.Transfer(at, buffer.asSlice(0, Long.BYTES))),
                buffer,
                () -> buffer.get(LONG, 0)));
    }

    /** Reads into a word buffer. The buffer is reused when the provider has ended the read, even if the caller has given up earlier. */
    private <T> CompletableFuture<T> read(
            List<RemoteMemory.Region.Transfer> transfers, MemorySegment buffer, Supplier<T> words) {
        return region.get(transfers)
                .handle((done, failed) -> {
                    try {
                        if (failed != null) {
                            throw new CompletionException(failure(region.name(), failed));
                        }
                        return words.get();
                    } finally {
                        wordBuffers.add(buffer);
                    }
                })
                // The caller may time out the copy; the step before is unaffected.
                .copy();
    }

    /** Compare-and-set of a word; returns the value found. Blocks. */
    public long compareAndSet(long at, long expected, long next) throws RemoteMemoryException {
        return await(region.compareAndSet(at, expected, next));
    }

    /** Applies a function to a word atomically, retrying on conflicts; returns the new word. */
    public long replace(long at, LongUnaryOperator next) throws RemoteMemoryException {
        long expected = word(at);
        long found = compareAndSet(at, expected, next.applyAsLong(expected));
        while (found != expected) {
            expected = found;
            found = compareAndSet(at, expected, next.applyAsLong(expected));
        }
        return next.applyAsLong(expected);
    }

    /**
     * Reads a word that the caller is going to change. In a mirrored pool a process may have died after it changed one node's word: this gives
     * both nodes the same word first. Blocks.
     */
    public long settled(long at) throws RemoteMemoryException {
        return replace(at, word -> word);
    }

    private MemorySegment wordBuffer() {
        MemorySegment pooled = wordBuffers.poll();
        return pooled != null ? pooled : arena.allocate(WORDS * (long) Long.BYTES, 8);
    }

    private MemorySegment read(long at, long bytes) throws RemoteMemoryException {
        MemorySegment into = Arena.ofAuto().allocate(bytes, 64);
        await(region.get(List.of(new RemoteMemory.Region.Transfer(at, into))));
        return into;
    }

    /** Waits for a transfer in the calling thread, up to the transfer timeout. */
    public <T> T await(CompletableFuture<T> transfer) throws RemoteMemoryException {
        try {
            return transfer.get(timeoutNanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException failed) {
            throw failure(region.name(), failed.getCause());
        } catch (TimeoutException late) {
            throw failure(region.name(), late);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RemoteMemoryException(region.name(), "was not waited for: the thread was interrupted", e);
        }
    }

    public static RemoteMemoryException failure(String region, @Nullable Throwable cause) {
        return switch (cause) {
            case RemoteMemoryException named -> named;
            case CompletionException of when of.getCause() != null -> failure(region, of.getCause());
            case TimeoutException late -> new RemoteMemoryException(region, "does not answer", late);
            case null, default -> new RemoteMemoryException(region, "could not be read or written", cause);
        };
    }

    /** Begins to read the words that a search of a partition needs, by a known directory. */
    public CompletableFuture<Words> words(int partition, Directory known) {
        long requested = System.nanoTime();
        MemorySegment buffer = wordBuffer();
        long tailsAt = PoolHead.tailsAt(
                partition / 2, known.partitions().get(partition).generation());
        List<RemoteMemory.Region.Transfer> transfers = List.of(
                new RemoteMemory.Region.Transfer(PoolHead.ROOT_AT, buffer.asSlice(0, 8)),
                new RemoteMemory.Region.Transfer(PoolHead.HEARTBEAT_AT, buffer.asSlice(8, 8)),
                new RemoteMemory.Region.Transfer(tailsAt, buffer.asSlice(16, 8)));
        return read(
                        transfers,
                        buffer,
                        () -> new Words(
                                EpochRoot.of(buffer.get(LONG, 0)),
                                buffer.get(LONG, 8),
                                LogTails.of(buffer.get(LONG, 16)),
                                requested))
                .orTimeout(timeoutNanos, TimeUnit.NANOSECONDS);
    }

    /**
     * The tail of a partition's log.
     *
     * @return number of slots, or -1 if the directory is out of date
     */
    public int tail(int partition, Directory known, Words words) throws RemoteMemoryException {
        if (words.root().epoch() != known.epoch()) {
            return -1;
        }
        if (words.tails().generation() != known.partitions().get(partition).generation()) {
            return -1;
        }
        int tail = words.tails().of(partition);
        PoolHead.require(region.name(), "log of partition " + partition, tail, 0, slots(partition, known));
        return tail;
    }

    /** Number of slots in the gap that a partition shares with its neighbor. */
    public int slots(int partition, Directory known) {
        return (int) (known.gapOf(partition).bytes() / head.recordBytes());
    }

    /** The partitions that a query visits, nearest centroid first; as many as wanted, even if distances overflow. */
    public int[] nearest(float[] query, int count) {
        long[] found = Centroids.nearest(centroids, RowDistance.inSpace(head.metric(), query), count)
                .ids();
        return (found.length == count
                        ? LongStream.of(found)
                        : LongStream.concat(LongStream.of(found), LongStream.range(0, head.partitions()))
                                .distinct()
                                .limit(count))
                .mapToInt(partition -> (int) partition)
                .toArray();
    }

    /** All partitions that may have rows within a distance of a query, nearest centroid first. */
    public int[] within(float[] query, float radius) {
        int[] all = nearest(query, head.partitions());
        if (radius == Float.POSITIVE_INFINITY) {
            return all;
        }
        double squared = ListsToVisit.squared(head.metric(), radius);
        float[] fromQuery = distances(RowDistance.inSpace(head.metric(), query));
        if (Float.isNaN(fromQuery[all[0]])) {
            return all;
        }
        float[] fromNearest = distances(centroids.vector(centroids.row(all[0])));
        return Arrays.stream(all)
                .filter(i -> !ListsToVisit.isBeyond(
                        fromQuery[i] - (double) excess[i], fromQuery[all[0]], fromNearest[i], squared))
                .toArray();
    }

    private float[] distances(float[] vector) {
        SearchResult found = Centroids.nearest(centroids, vector, head.partitions());
        float[] distances = new float[head.partitions()];
        Arrays.fill(distances, Float.NaN);
        for (int i = 0; i < found.size(); i++) {
            distances[(int) found.ids()[i]] = found.distances()[i];
        }
        return distances;
    }

    /** The number of partitions that searches for k rows visit if they set none. */
    public int visitedFor(int k) {
        long ofGraphs = k <= ListsToVisit.MEASURED_ROWS
                ? 0
                : directory.partitions().stream()
                        .mapToLong(Directory.Place::rows)
                        .sum();
        return ListsToVisit.forRows(head.visited(), k, ofGraphs, head.partitions());
    }

    public RemoteMemory.Region region() {
        return region;
    }

    /** The timeout of transfers. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    public PoolHead head() {
        return head;
    }

    public NodeWatch watch() {
        return watch;
    }

    /** Number of rows; a row in two partitions counts once. The last known number if it cannot be read. */
    public int rows() {
        try {
            requireRows(word(PoolHead.ROWS_AT));
        } catch (RemoteMemoryException | IllegalStateException unreadable) {
            // The number is for reports and estimates only; searches and changes report the problem.
        }
        return rows;
    }

    private void requireRows(long word) throws RemoteMemoryException {
        long said = RowCount.of(word).rows();
        PoolHead.require(region.name(), "number of rows", said, 0, Integer.MAX_VALUE);
        rows = (int) said;
    }

    public Directory directory() {
        return directory;
    }

    /** Sample rows of the build, for measuring recall. */
    public float[][] sample() {
        return sample;
    }

    @Override
    public void close() {
        region.close();
        arena.close();
    }
}
