package io.github.roost.index.ivf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which of a search's lists one task scans. A task costs as much as a scan of some hundred rows, so short lists at one home
 * share one; but there are tasks enough for all workers that are free. Pure.
 */
final class Bundles {
    /** What a scan reads in about five microseconds, twenty times as long as a task costs. */
    static final long FULL_BYTES = 256 * 1024;
    /** A worker that sleeps comes late: one that is up takes more of them meanwhile. */
    static final int BUNDLES_PER_WORKER = 4;

    private Bundles() {}

    /**
     * Divides lists as evenly as can be, in the order given.
     *
     * @param lists at one home
     * @param bytesEach of a list, on average
     * @param free how many workers at home have nothing to do
     */
    static List<int[]> of(int[] lists, long bytesEach, int free) {
        long full = Math.ceilDiv(lists.length * bytesEach, FULL_BYTES);
        int count = (int) Math.min(lists.length, Math.max(full, (long) BUNDLES_PER_WORKER * free));
        List<int[]> bundles = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            bundles.add(Arrays.copyOfRange(lists, begin(i, count, lists.length), begin(i + 1, count, lists.length)));
        }
        return bundles;
    }

    private static int begin(int bundle, int bundles, int lists) {
        return (int) ((long) bundle * lists / bundles);
    }
}
