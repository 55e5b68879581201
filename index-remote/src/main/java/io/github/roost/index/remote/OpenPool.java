package io.github.roost.index.remote;

import static io.github.roost.index.remote.Bytes.LONG;

import io.github.roost.core.Metric;
import io.github.roost.core.TableFileException;
import io.github.roost.index.hnsw.HnswGraph;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A region that holds a pool: its head, the graph of the centroids, and the directory of its epoch. Thread-safe: nothing of it
 * changes.
 */
final class OpenPool implements AutoCloseable {
    /** A directory that is being written twice as often as it is read is not written by a table. */
    private static final int MOST_TRIES = 100;

    private static final int WORDS = 3;

    private final RemoteRegion region;
    private final Arena arena = Arena.ofShared();
    private final ConcurrentLinkedQueue<MemorySegment> wordBuffers = new ConcurrentLinkedQueue<>();
    private final long timeoutNanos;
    private final PoolHead head;
    private final HnswGraph centroids;
    private final float[][] sample;
    private final NodeWatch watch;
    private final int rows;
    private final Directory directory;

    /** What is read before a search of a partition. */
    record Words(long epoch, long heartbeat, long pair) {}

    private OpenPool(RemoteRegion region, Duration timeout) throws IOException {
        this.region = region;
        this.timeoutNanos = timeout.toNanos();
        MemorySegment first = read(0, PoolHead.BYTES);
        this.head = PoolHead.read(region.name(), region.bytes(), first);
        MemorySegment meta = read(head.metaAt(), head.metaBytes() + head.sampleBytes());
        if (Bytes.checksum(meta) != head.metaChecksum()) {
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
        this.watch = new NodeWatch(
                region.name(),
                first.get(LONG, PoolHead.HEARTBEAT_AT),
                first.get(LONG, PoolHead.TERM_AT),
                System.nanoTime());
        long said = first.get(LONG, PoolHead.ROWS_AT);
        PoolHead.require(region.name(), "number of rows", said, 0, Integer.MAX_VALUE);
        this.rows = (int) said;
        this.directory = readDirectory();
    }

    /** Reads and checks what every search needs; the region is closed where that fails. */
    static OpenPool open(RemoteRegion region, Duration timeout) throws IOException {
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

    private HnswGraph centroids(MemorySegment meta) throws RemoteMemoryException {
        HnswGraph graph;
        try {
            graph = HnswGraph.open("centroids", meta.asSlice(0, head.metaBytes()));
        } catch (TableFileException wrong) {
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
        for (int i = 0; i < MOST_TRIES; i++) {
            long epoch = read(PoolHead.EPOCH_AT, Long.BYTES).get(LONG, 0);
            long at = head.directoryAt() + (epoch & 1) * head.directoryBytes();
            Directory read = Directory.read(region.name(), head, epoch, read(at, head.directoryBytes()));
            if (read != null) {
                return read;
            }
        }
        throw new RemoteMemoryException(region.name(), "has no whole directory of its epoch");
    }

    private MemorySegment read(long at, long bytes) throws RemoteMemoryException {
        MemorySegment into = Arena.ofAuto().allocate(bytes, 64);
        await(region.get(List.of(new RemoteRegion.Transfer(at, into))));
        return into;
    }

    /** Waits for a transfer in the calling thread, but not for ever. */
    <T> T await(CompletableFuture<T> transfer) throws RemoteMemoryException {
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

    static RemoteMemoryException failure(String region, @Nullable Throwable cause) {
        return switch (cause) {
            case RemoteMemoryException named -> named;
            case TimeoutException late -> new RemoteMemoryException(region, "does not answer", late);
            case null, default -> new RemoteMemoryException(region, "could not be read or written", cause);
        };
    }

    /** Begins to read the words that a search of a partition depends on. */
    CompletableFuture<Words> words(int partition) {
        MemorySegment pooled = wordBuffers.poll();
        MemorySegment buffer = pooled != null ? pooled : arena.allocate(WORDS * (long) Long.BYTES, 8);
        return region.get(List.of(
                        new RemoteRegion.Transfer(PoolHead.EPOCH_AT, buffer.asSlice(0, 8)),
                        new RemoteRegion.Transfer(PoolHead.HEARTBEAT_AT, buffer.asSlice(8, 8)),
                        new RemoteRegion.Transfer(head.pairAt(partition), buffer.asSlice(16, 8))))
                .orTimeout(timeoutNanos, TimeUnit.NANOSECONDS)
                // A buffer whose read has failed may still be written to: it is not used again.
                .thenApply(done -> {
                    Words words = new Words(buffer.get(LONG, 0), buffer.get(LONG, 8), buffer.get(LONG, 16));
                    wordBuffers.add(buffer);
                    return words;
                });
    }

    /** The partitions that a query visits, the nearest centroid first. */
    int[] nearest(float[] query, int count) {
        long[] found = Partitioner.nearest(centroids, Partitioner.inSpace(head.metric(), query), count)
                .ids();
        int[] partitions = new int[found.length];
        for (int i = 0; i < partitions.length; i++) {
            partitions[i] = (int) found[i];
        }
        return partitions;
    }

    RemoteRegion region() {
        return region;
    }

    PoolHead head() {
        return head;
    }

    NodeWatch watch() {
        return watch;
    }

    /** How many rows there are, those in two partitions counted once. */
    int rows() {
        return rows;
    }

    Directory directory() {
        return directory;
    }

    /** Rows of the build, of about which queries are. */
    float[][] sample() {
        return sample;
    }

    @Override
    public void close() {
        region.close();
        arena.close();
    }
}
