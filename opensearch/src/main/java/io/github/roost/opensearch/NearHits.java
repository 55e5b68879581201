package io.github.roost.opensearch;

import java.util.Arrays;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BitSet;
import org.jspecify.annotations.Nullable;

/** Hits of one segment, 8 bytes each: collected in any order by one thread, then sorted, and then read by any number of threads. */
final class NearHits {
    /** A document's number above the bits of its score, which is not negative: they have the order of scores. */
    private long[] hits = new long[64];

    private int size;
    /** How many there were when they were last sorted. */
    private int sorted;

    void add(int doc, float score) {
        hits = ArrayUtil.grow(hits, size + 1);
        hits[size++] = (long) doc << Float.SIZE | Float.floatToIntBits(score);
    }

    int size() {
        return size;
    }

    /** Drops the hits that were added after the first ones. */
    void keepFirst(int count) {
        size = count;
    }

    /** Sorts the hits if they have at least doubled: those of many vectors take no more memory than of two. */
    void sortIfMany(@Nullable BitSet whole) {
        if (size > 2 * sorted) {
            sorted(whole);
        }
    }

    /**
     * Sorts the hits by document, and leaves one per document: the best.
     *
     * @param whole if hits are chunks, the whole documents, each of which keeps its best chunk; null otherwise
     */
    NearHits sorted(@Nullable BitSet whole) {
        Arrays.sort(hits, 0, size);
        int kept = 0;
        int last = -1;
        for (int i = 0; i < size; i++) {
            int document = whole == null ? doc(i) : whole.nextSetBit(doc(i));
            if (document != last) {
                hits[kept++] = hits[i];
                last = document;
            } else if (scoreAt(i) > scoreAt(kept - 1)) {
                hits[kept - 1] = hits[i];
            }
        }
        size = kept;
        sorted = kept;
        hits = ArrayUtil.copyOfSubArray(hits, 0, size);
        return this;
    }

    private int doc(int at) {
        return (int) (hits[at] >>> Float.SIZE);
    }

    private float scoreAt(int at) {
        return Float.intBitsToFloat((int) hits[at]);
    }

    /** Reads sorted hits. */
    Scorer scorer(float boost) {
        return new Reader(boost);
    }

    private final class Reader extends Scorer {
        private final float boost;
        private final Positions positions = new Positions();
        private int at = -1;

        Reader(float boost) {
            this.boost = boost;
        }

        @Override
        public int docID() {
            if (at < 0) {
                return -1;
            }
            return at < size ? doc(at) : DocIdSetIterator.NO_MORE_DOCS;
        }

        @Override
        public DocIdSetIterator iterator() {
            return positions;
        }

        @Override
        public float score() {
            return scoreAt(at) * boost;
        }

        /** Of any document: hits are not searched for the best ones of a range. */
        @Override
        public float getMaxScore(int upTo) {
            return Float.POSITIVE_INFINITY;
        }

        private final class Positions extends DocIdSetIterator {
            @Override
            public int docID() {
                return Reader.this.docID();
            }

            @Override
            public int nextDoc() {
                at++;
                return docID();
            }

            @Override
            public int advance(int target) {
                int found = Arrays.binarySearch(hits, Math.min(at + 1, size), size, (long) target << Float.SIZE);
                at = found < 0 ? -found - 1 : found;
                return docID();
            }

            @Override
            public long cost() {
                return size;
            }
        }
    }
}
