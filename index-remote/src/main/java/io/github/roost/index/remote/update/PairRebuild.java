package io.github.roost.index.remote.update;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Rebuilds a pair of partitions from its live rows, into free space. Graphs are built without the lease, concurrently with changes; changes made
 * meanwhile are copied into the new logs when the pair is published. Thread-safe.
 */
public final class PairRebuild {
    private static final int PAUSES_PER_TERM = 4;
    /** Wait for readers that hold free space, four terms: a dead reader is detected after one term of the lease. */
    private static final int MAX_PAUSES = 4 * PAUSES_PER_TERM;

    /** Progress of a rebuild after its rows are read, and after each of its graphs is built; then it is published. */
    private static final double READ = .1;

    private static final double EVEN_BUILT = .5;
    private static final double ODD_BUILT = .9;

    private final OpenPool pool;
    private final PoolWriter writer;

    public PairRebuild(OpenPool pool, PoolWriter writer) {
        this.pool = pool;
        this.writer = writer;
    }

    /** The live rows of a partition. */
    private record Rows(long[] ids, float[][] vectors) {}

    /**
     * Rebuilds a pair.
     *
     * @param work runs the builds of the graphs; if it is cancelled while the pair is published, the pair may be rebuilt all the same
     * @return false if another writer has rebuilt it meanwhile
     * @throws java.util.concurrent.CancellationException if the work is cancelled
     */
    public boolean run(BuildWork work, int pair) throws RemoteMemoryException {
        PairPublication.Built built = null;
        while (built == null) {
            work.yieldToSearches();
            pool.refresh();
            built = build(work, pair);
        }
        return publish(work, built);
    }

    /** Builds both graphs; null if the directory is out of date. */
    private PairPublication.@Nullable Built build(BuildWork work, int pair) throws RemoteMemoryException {
        Directory directory = pool.enter();
        try {
            LogTails tails = tails(pair, directory);
            if (tails == null) {
                return null;
            }
            work.phase(READ, 2);
            MemorySegment buffer = WholePartition.roomFor(directory);
            Rows even = rows(directory, 2 * pair, tails, buffer);
            work.done(1);
            Rows odd = 2 * pair + 1 < directory.partitions().size()
                    ? rows(directory, 2 * pair + 1, tails, buffer)
                    : new Rows(new long[0], new float[0][]);
            return new PairPublication.Built(
                    pair, tails, build(work, EVEN_BUILT, 2 * pair, even), build(work, ODD_BUILT, 2 * pair + 1, odd));
        } finally {
            pool.leave(directory);
        }
    }

    private boolean publish(BuildWork work, PairPublication.Built built) throws RemoteMemoryException {
        long pauseNanos = TimeUnit.MILLISECONDS.toNanos(pool.head().leaseMillis()) / PAUSES_PER_TERM;
        PairPublication.Published.NoSpace lacking = null;
        for (int pause = 0; pause < MAX_PAUSES; pause++) {
            switch (writer.publish(built)) {
                case PairPublication.Published.Done done -> {
                    pool.refresh();
                    return true;
                }
                case PairPublication.Published.ByOthers others -> {
                    return false;
                }
                case PairPublication.Published.NoSpace none -> lacking = none;
                case PairPublication.Published.Refused(String why) ->
                    throw new RemoteMemoryException(pool.region().name(), why);
            }
            if (lacking.held() < lacking.bytes() && lacking.free() < lacking.bytes() - lacking.held()) {
                // Even if all readers release their holds there is not enough room.
                break;
            }
            work.yieldToSearches();
            LockSupport.parkNanos(pauseNanos);
        }
        throw new NoSpaceException(
                pool.region().name(),
                "has no space for pair " + built.pair() + ": "
                        + (lacking == null
                                ? ""
                                : lacking.bytes() + " bytes are needed, " + lacking.free()
                                        + " are free in one piece, readers hold " + lacking.held()));
    }

    private @Nullable LogTails tails(int pair, Directory directory) throws RemoteMemoryException {
        OpenPool.Words words = pool.await(pool.words(2 * pair, directory));
        pool.watch().require(words.heartbeat(), words.requestedNanos(), System.nanoTime());
        return pool.tail(2 * pair, directory, words) < 0 ? null : words.tails();
    }

    private Rows rows(Directory directory, int partition, LogTails tails, MemorySegment buffer)
            throws RemoteMemoryException {
        WholePartition whole = WholePartition.read(pool, directory, partition, tails.of(partition), buffer);
        List<Long> ids = new ArrayList<>();
        List<float[]> vectors = new ArrayList<>();
        Graph graph = whole.graph();
        if (graph != null) {
            for (int row = 0; row < graph.rows(); row++) {
                if (!whole.log().hides(graph.id(row))) {
                    ids.add(graph.id(row));
                    vectors.add(graph.vector(row));
                }
            }
        }
        for (LogRecord record : whole.log().rows()) {
            ids.add(record.id());
            vectors.add(record.vector());
        }
        return new Rows(ids.stream().mapToLong(id -> id).toArray(), vectors.toArray(new float[0][]));
    }

    /** @param share the progress of the rebuild when the graph is built */
    private @Nullable Graph build(BuildWork work, double share, int partition, Rows rows) {
        BuildWork part = work.part("partition " + partition + " (build)");
        work.phase(share, part);
        if (rows.ids().length == 0) {
            return null;
        }
        PoolHead head = pool.head();
        return Graph.build(
                part, head.metric(), head.m(), head.efConstruction(), rows.ids(), VectorSource.of(rows.vectors()));
    }
}
