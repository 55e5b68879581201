package io.github.roost.index.ivf;

import io.github.roost.core.spi.Indexing;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Rows that are in no list yet. Small additions go here, where every search scans them in addition to its lists; so they need
 * not find the nearest of all centroids first, which takes much longer than the rest of an addition. Maintenance flushes them
 * to lists, many at a time, once there are many or searches have scanned the buffer often.
 *
 * <p>A flush removes nothing: lists get copies, then an empty buffer replaces this one in {@link Lists}, and this one stays
 * unchanged for searches that began with it. So a search that scans a row here cannot miss it, whenever it scans
 * the row's list; it may see the row twice, which {@link IvfRows.View#mayRepeat} reports.
 */
final class InsertBuffer {
    /** Max rows: with more, searches would lose more time than additions save. */
    private static final int MAX_ROWS = 256;
    /** Max rows of one addition: for more rows, finding their lists together costs less time per row. */
    static final int MAX_TOGETHER = 16;
    /** Rows at which a flush is due: this many cost little more to flush than one. */
    private static final int DUE_ROWS = 64;
    /** Scans at which a flush of fewer rows is due: before, flushing them costs more than scanning them. */
    private static final int DUE_SCANS = 64;
    /** Failures after which the scans before the next attempt double no further: a million. */
    private static final int MAX_DOUBLINGS = 14;

    private final RowList rows;
    /** The batch queue of queries that wait for the buffer; created by the first. */
    private final AtomicReference<Indexing.@Nullable BatchQueue<IvfQuery<?>, Boolean>> queue = new AtomicReference<>();

    private final AtomicBoolean flushClaimed = new AtomicBoolean();
    /** Scans since the last failed flush; starts below 0 if the next attempt is delayed. */
    private final AtomicInteger scans = new AtomicInteger();

    private final AtomicInteger failures = new AtomicInteger();

    private InsertBuffer(RowList rows) {
        this.rows = rows;
    }

    /** A buffer that allocates memory with its first row. */
    static InsertBuffer empty(RowLayout layout) {
        return new InsertBuffer(new RowList(layout.ofBuffer()));
    }

    /** A buffer with memory for the rows to come, so that additions do not wait for it. */
    static InsertBuffer withRoom(RowLayout layout) {
        return new InsertBuffer(RowList.empty(layout.ofBuffer(), 2 * DUE_ROWS));
    }

    /** The bytes that {@link #withRoom} takes. */
    static long bytesOfRoom(RowLayout layout) {
        return RowBlock.bytes(2 * DUE_ROWS, layout.ofBuffer());
    }

    RowList rows() {
        return rows;
    }

    /** Bytes of the memory of the rows. */
    long bytes() {
        return rows.bytes();
    }

    Indexing.@Nullable BatchQueue<IvfQuery<?>, Boolean> queue() {
        return queue.get();
    }

    /** The batch queue of queries that wait for the buffer; sets it to {@code made} if there is none. */
    Indexing.BatchQueue<IvfQuery<?>, Boolean> queue(Indexing.BatchQueue<IvfQuery<?>, Boolean> made) {
        Indexing.BatchQueue<IvfQuery<?>, Boolean> before = queue.compareAndExchange(null, made);
        return before == null ? made : before;
    }

    /** Whether an addition of {@code more} rows goes here. */
    boolean takes(int more) {
        return rows.rows() + more <= MAX_ROWS && more <= MAX_TOGETHER;
    }

    /** A copy of the row at a place; zeros if it has been removed, even while another thread removes it. */
    float[] copyOfRow(int place) {
        float[] row = rows.row(place);
        return Float.isNaN(row[0]) ? new float[row.length] : row;
    }

    boolean isEmpty() {
        return rows.rows() == 0;
    }

    /** Counts a queued scan. */
    void countScan() {
        scans.incrementAndGet();
    }

    /** Whether a flush pays and nobody has claimed it; then the caller must flush, or call {@link #putOffFlush}. */
    boolean claimFlush() {
        return scans.get() >= (rows.rows() >= DUE_ROWS ? 0 : DUE_SCANS)
                && !flushClaimed.get()
                && flushClaimed.compareAndSet(false, true);
    }

    /** Lets the next caller of {@link #claimFlush} flush the rows. */
    void putOffFlush() {
        flushClaimed.set(false);
    }

    /**
     * Records a failed flush: the next attempt waits for twice as many scans as the last. If memory is out, the JVM takes
     * a good part of a second to report it, and the scans that workers do meanwhile must not each trigger another attempt.
     */
    void flushFailed() {
        int doublings = Math.min(failures.getAndIncrement(), MAX_DOUBLINGS);
        scans.set(-(DUE_SCANS << doublings));
        flushClaimed.set(false);
    }
}
