package io.github.roost.index.ivf;

import io.github.roost.core.task.BatchQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Rows that belong to no list yet. Who adds a few rows leaves them here, where every search looks beside its lists, and need
 * not find the nearest of all centroids first, which takes much longer than the rest of an addition. Batch work hands them
 * over to lists, many at a time, once there are many or searches have looked here often.
 *
 * <p>Handing over takes nothing out: lists get copies, then an empty buffer takes this one's place in {@link Lists}, and this
 * one stays as it is for searches that began with it. So a search that sees a row here cannot miss it, whenever it comes to
 * the row's list; it may meet the row twice, which {@link View#mayRepeat} tells it.
 */
final class InsertBuffer {
    /** More would cost searches more than whoever adds them is spared. */
    private static final int MAX_ROWS = 256;
    /** Rows of one addition; for more it takes less than this time each to find their lists together. */
    static final int MAX_TOGETHER = 16;
    /** As many as are handed over together at little more than the cost of one. */
    private static final int DUE_ROWS = 64;
    /** Until then handing over few rows costs more than to scan them. */
    private static final int DUE_SCANS = 64;
    /** Failures after which no more scans are waited for until handing over is tried again: a million. */
    private static final int MAX_DOUBLINGS = 14;

    private final RowList rows;
    /** Of the queries that wait for it; made with the first. */
    private final AtomicReference<@Nullable BatchQueue<IvfQuery<?>, Boolean>> queue = new AtomicReference<>();

    private final AtomicBoolean flushClaimed = new AtomicBoolean();
    /** Since the last time that handing over failed; from less than 0 up where that is not to be tried again soon. */
    private final AtomicInteger scans = new AtomicInteger();

    private final AtomicInteger failures = new AtomicInteger();

    private InsertBuffer(RowList rows) {
        this.rows = rows;
    }

    /** A buffer that takes memory with its first row. */
    static InsertBuffer empty(RowLayout layout) {
        return new InsertBuffer(new RowList(layout));
    }

    /** A buffer that has the memory for the rows to come, so that who adds them need not wait for it. */
    static InsertBuffer withRoom(RowLayout layout) {
        return new InsertBuffer(RowList.empty(layout, 2 * DUE_ROWS));
    }

    RowList rows() {
        return rows;
    }

    @Nullable
    BatchQueue<IvfQuery<?>, Boolean> queue() {
        return queue.get();
    }

    /** The batch queue of the queries that wait for it, {@code made} if it has none. */
    BatchQueue<IvfQuery<?>, Boolean> queue(BatchQueue<IvfQuery<?>, Boolean> made) {
        BatchQueue<IvfQuery<?>, Boolean> before = queue.compareAndExchange(null, made);
        return before == null ? made : before;
    }

    /** Whether so many more rows are to be left here. */
    boolean takes(int more) {
        return rows.rows() + more <= MAX_ROWS && more <= MAX_TOGETHER;
    }

    /** The rows by their place, those that are removed as zeros; numbers all, also while others remove them. */
    float[][] copyOfRows() {
        float[][] copies = new float[rows.rows()][];
        for (int place = 0; place < copies.length; place++) {
            float[] row = rows.row(place);
            copies[place] = Float.isNaN(row[0]) ? new float[row.length] : row;
        }
        return copies;
    }

    boolean isEmpty() {
        return rows.rows() == 0;
    }

    /** Another scan is queued. */
    void countScan() {
        scans.incrementAndGet();
    }

    /** Whether it pays to hand over the rows and nobody has been told so: then the caller must do it, or {@link #putOffFlush}. */
    boolean claimFlush() {
        return scans.get() >= (rows.rows() >= DUE_ROWS ? 0 : DUE_SCANS)
                && !flushClaimed.get()
                && flushClaimed.compareAndSet(false, true);
    }

    /** The next who asks is to hand over the rows. */
    void putOffFlush() {
        flushClaimed.set(false);
    }

    /**
     * Handing over has failed: it is tried again after twice as many scans as the last time. Where there is no memory the JVM
     * takes a good part of a second to say so, and as many scans as workers do meanwhile must not each have it asked.
     */
    void flushFailed() {
        int doublings = Math.min(failures.getAndIncrement(), MAX_DOUBLINGS);
        scans.set(-(DUE_SCANS << doublings));
        flushClaimed.set(false);
    }
}
