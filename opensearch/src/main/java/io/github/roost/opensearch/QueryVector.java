package io.github.roost.opensearch;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.VectorScorer;
import org.jspecify.annotations.Nullable;

/** A vector of a query, with components of its field's type. Does not copy them. Immutable. */
sealed interface QueryVector {
    /** Searches a segment's graph. */
    void search(LeafReader segment, String field, KnnCollector collector, AcceptDocs accepted) throws IOException;

    /** The scores of a segment's vectors; null if it has none. */
    @Nullable
    VectorScorer scorer(LeafReader segment, String field) throws IOException;

    /** A vector of floats. */
    record Floats(float[] components) implements QueryVector {
        @Override
        public void search(LeafReader segment, String field, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            segment.searchNearestVectors(field, components, collector, accepted);
        }

        @Override
        public @Nullable VectorScorer scorer(LeafReader segment, String field) throws IOException {
            FloatVectorValues values = segment.getFloatVectorValues(field);
            return values == null ? null : values.scorer(components);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Floats that && Arrays.equals(components, that.components);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(components);
        }
    }

    /** A vector of bytes. */
    record Bytes(byte[] components) implements QueryVector {
        @Override
        public void search(LeafReader segment, String field, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            segment.searchNearestVectors(field, components, collector, accepted);
        }

        @Override
        public @Nullable VectorScorer scorer(LeafReader segment, String field) throws IOException {
            ByteVectorValues values = segment.getByteVectorValues(field);
            return values == null ? null : values.scorer(components);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Bytes that && Arrays.equals(components, that.components);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(components);
        }
    }
}
