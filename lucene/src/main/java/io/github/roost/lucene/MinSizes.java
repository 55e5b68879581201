package io.github.roost.lucene;

import org.apache.lucene.index.MergeState;
import org.jspecify.annotations.Nullable;

/**
 * From how many vectors on a segment has codes, and a graph. Immutable.
 *
 * @param codes fewer vectors have no codes: a scan of the vectors takes no longer
 * @param merged fewer vectors that are merged have no graph: a scan of their codes takes about as long as a graph search of high recall
 * @param flushed fewer vectors that are flushed have no graph: a refresh may wait for them, and they are merged soon
 */
record MinSizes(int codes, int merged, int flushed) {
    static final MinSizes DEFAULT = new MinSizes(256, 2_000, 10_000);

    boolean hasCodes(int count) {
        return count > 0 && count >= codes;
    }

    /** @param merge null for a flush */
    boolean hasGraph(int count, @Nullable MergeState merge) {
        return count >= (merge == null ? flushed : merged);
    }
}
