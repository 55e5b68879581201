package io.github.roost.lucene;

import org.apache.lucene.util.BitSet;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.SparseFixedBitSet;
import org.apache.lucene.util.hnsw.RandomVectorScorer;
import org.jspecify.annotations.Nullable;

/** The ordinals of a segment's accepted vectors, in order and in runs, for a scan. Used by one thread. */
final class OrdinalRuns {
    private final @Nullable Bits wanted;
    /** If every document has a vector, ordinals are documents, and the filter's bit set can be iterated. */
    private final @Nullable BitSet set;
    /** Ordinals that are left out. */
    private final @Nullable SparseFixedBitSet collected;

    private final int end;
    private int ordinal;

    OrdinalRuns(RandomVectorScorer scorer, int maxDoc, @Nullable Bits accepted, @Nullable SparseFixedBitSet collected) {
        this.wanted = scorer.getAcceptOrds(accepted);
        this.set =
                scorer.maxOrd() == maxDoc && accepted instanceof BitSet bits && bits.length() >= maxDoc ? bits : null;
        this.collected = collected;
        this.end = scorer.maxOrd();
        this.ordinal = firstFrom(0);
    }

    /** Fills an array with the next ordinals; returns their number, 0 at the end. */
    int next(int[] run) {
        int count = 0;
        while (count < run.length && ordinal < end) {
            run[count++] = ordinal;
            ordinal = firstFrom(ordinal + 1);
        }
        return count;
    }

    /** The first ordinal at or after {@code from} that is accepted and not collected yet, or the end. */
    private int firstFrom(int from) {
        int at = from;
        while (at < end) {
            if (set != null) {
                at = set.nextSetBit(at);
            } else if (wanted != null && !wanted.get(at)) {
                at++;
                continue;
            }
            if (at >= end || collected == null || !collected.get(at)) {
                break;
            }
            at++;
        }
        return Math.min(at, end);
    }
}
