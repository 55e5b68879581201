package io.github.roost.lucene;

import java.io.IOException;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.search.VectorScorer;
import org.apache.lucene.util.Bits;
import org.jspecify.annotations.Nullable;

/**
 * The vectors of a quantizing format, which score by themselves and not by their codes: Lucene scores the few documents that a filter
 * allows by this, and merges them with the hits of other segments. Used by one thread.
 */
final class UnquantizedScores extends FloatVectorValues {
    private final FloatVectorValues in;

    UnquantizedScores(FloatVectorValues in) {
        this.in = in;
    }

    @Override
    public @Nullable VectorScorer scorer(float[] target) throws IOException {
        return in.rescorer(target);
    }

    @Override
    public @Nullable VectorScorer rescorer(float[] target) throws IOException {
        return in.rescorer(target);
    }

    @Override
    public float[] vectorValue(int ordinal) throws IOException {
        return in.vectorValue(ordinal);
    }

    @Override
    public FloatVectorValues copy() throws IOException {
        return new UnquantizedScores(in.copy());
    }

    @Override
    public int dimension() {
        return in.dimension();
    }

    @Override
    public int size() {
        return in.size();
    }

    @Override
    public int ordToDoc(int ordinal) {
        return in.ordToDoc(ordinal);
    }

    @Override
    public void prefetch(int[] ordinals, int count) throws IOException {
        in.prefetch(ordinals, count);
    }

    @Override
    public @Nullable Bits getAcceptOrds(@Nullable Bits accepted) {
        return in.getAcceptOrds(accepted);
    }

    @Override
    public DocIndexIterator iterator() {
        return in.iterator();
    }
}
