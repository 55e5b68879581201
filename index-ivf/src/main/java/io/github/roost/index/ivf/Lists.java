package io.github.roost.index.ivf;

import io.github.roost.core.spi.Indexing;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The result of one training: centroids, the layout of rows (with the codec of the buffer; each list has a codec of its own), per centroid a list and its batch queue, which the first query that
 * waits for the list creates, and the buffer of rows that are in no list yet, whose number follows the last list's. A rebuild
 * makes another; queries finish on the one they began with.
 *
 * @param nprobe of searches that set none, for 10 rows
 */
record Lists(
        CoarseQuantizer quantizer,
        RowLayout layout,
        RowList[] rows,
        AtomicReferenceArray<Indexing.@Nullable BatchQueue<IvfQuery<?>, Boolean>> queues,
        InsertBuffer buffer,
        int nprobe) {
    private static final int ROWS_PER_STEP = 256;

    Lists(CoarseQuantizer quantizer, RowLayout layout, RowList[] rows) {
        this(quantizer, layout, rows, new AtomicReferenceArray<>(rows.length), InsertBuffer.empty(layout), 1);
    }

    /**
     * Fills lists with rows 0 to {@code ids.length}, on the workers, and records the location of each.
     *
     * @param list the number of each row's list
     * @param codecs one per list if {@code layout} has codes, else none
     */
    static Lists build(
            CoarseQuantizer quantizer,
            int[] list,
            BuildWork work,
            IntFunction<float[]> source,
            long[] ids,
            RowLayout layout,
            List<ScalarCodec> codecs,
            RowMap locations) {
        int count = quantizer.size();
        int[] sizes = new int[count];
        int[] place = new int[ids.length];
        // By one worker, as locations take one thread at a time.
        work.run(1, 1, (from, to) -> {
            for (int row = 0; row < ids.length; row++) {
                work.yieldToSearches();
                place[row] = sizes[list[row]]++;
                locations.put(ids[row], list[row], place[row]);
            }
        });
        RowList[] rows = new RowList[count];
        Arrays.setAll(rows, i -> {
            // Outside a worker, only the check for cancellation: the memory of a long list takes too long to clear for
            // a worker.
            work.yieldToSearches();
            return RowList.withRoomFor(codecs.isEmpty() ? layout : layout.with(codecs.get(i)), sizes[i]);
        });
        work.run(ids.length, ROWS_PER_STEP, (from, to) -> {
            for (int row = from; row < to; row++) {
                rows[list[row]].write(place[row], ids[row], source.apply(row));
            }
        });
        for (RowList filled : rows) {
            filled.publish();
        }
        return new Lists(quantizer, layout, rows);
    }

    /** Checks the lists of a file that nobody has read yet; throws UncheckedIOException for a damaged list. */
    void verify() {
        for (RowList list : rows) {
            list.verify();
        }
    }

    /** The same centroids over empty lists. */
    Lists emptied() {
        RowList[] empty = new RowList[rows.length];
        Arrays.setAll(empty, list -> new RowList(rows[list].layout()));
        return new Lists(quantizer, layout, empty).probing(nprobe);
    }

    /** The same lists with another buffer. */
    Lists with(InsertBuffer next) {
        return new Lists(quantizer, layout, rows, queues, next, nprobe);
    }

    /** The same lists with another nprobe. */
    Lists probing(int probes) {
        return new Lists(quantizer, layout, rows, queues, buffer, probes);
    }

    /** The buffer's list number. */
    int bufferNumber() {
        return rows.length;
    }

    /** The rows of a list, or of the buffer. */
    RowList rows(int list) {
        return list == bufferNumber() ? buffer.rows() : rows[list];
    }

    /** The batch queue of a list, or of the buffer; null if no query has waited for it yet. */
    Indexing.@Nullable BatchQueue<IvfQuery<?>, Boolean> queue(int list) {
        return list == bufferNumber() ? buffer.queue() : queues.get(list);
    }

    /** The batch queue of a list, or of the buffer; sets it to {@code made} if there is none. */
    Indexing.BatchQueue<IvfQuery<?>, Boolean> queue(int list, Indexing.BatchQueue<IvfQuery<?>, Boolean> made) {
        if (list == bufferNumber()) {
            return buffer.queue(made);
        }
        Indexing.BatchQueue<IvfQuery<?>, Boolean> before = queues.compareAndExchange(list, null, made);
        return before == null ? made : before;
    }

    /** Number of lists, without the buffer. */
    int count() {
        return rows.length;
    }
}
