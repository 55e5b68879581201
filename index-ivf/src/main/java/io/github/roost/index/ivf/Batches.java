package io.github.roost.index.ivf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Decides which of a search's lists one task scans. A task costs as much as a scan of some hundred rows, so short lists at one
 * home share a task; but there are enough tasks for all free workers. Pure.
 */
final class Batches {
    /** Bytes that a scan reads in about five microseconds, twenty times the cost of a task. */
    static final long FULL_BYTES = 256 * 1024;
    /** More than one, as a sleeping worker starts late: workers that are awake take more batches meanwhile. */
    static final int BATCHES_PER_WORKER = 4;

    private Batches() {}

    /**
     * Divides lists as evenly as possible, in the order given.
     *
     * @param lists lists at one home
     * @param bytesEach average bytes per list
     * @param free number of free workers at the home
     */
    static List<int[]> of(int[] lists, long bytesEach, int free) {
        long full = Math.ceilDiv(lists.length * bytesEach, FULL_BYTES);
        int count = (int) Math.min(lists.length, Math.max(full, (long) BATCHES_PER_WORKER * free));
        List<int[]> batches = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            batches.add(Arrays.copyOfRange(lists, begin(i, count, lists.length), begin(i + 1, count, lists.length)));
        }
        return batches;
    }

    private static int begin(int batch, int batches, int lists) {
        return (int) ((long) batch * lists / batches);
    }
}
