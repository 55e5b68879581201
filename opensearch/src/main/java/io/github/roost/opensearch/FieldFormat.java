package io.github.roost.opensearch;

import io.github.roost.lucene.GraphBuilds;
import io.github.roost.lucene.RoostVectorsFormat;
import io.github.roost.lucene.SearchEffort;
import io.github.roost.vector.Vectors;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;

/** The vector formats of a field: Roost's, and Lucene's for comparison on the same node. */
enum FieldFormat {
    ROOST(Vectors.MAX_DIMENSIONS) {
        @Override
        KnnVectorsFormat of(int m, int efConstruction, GraphBuilds builds) {
            return new RoostVectorsFormat(m, efConstruction, builds);
        }

        @Override
        KnnSearchStrategy strategy(int width) {
            return new SearchEffort(width);
        }

        @Override
        int collected(int k, int width) {
            return k;
        }
    },
    LUCENE_HNSW(KnnVectorsFormat.DEFAULT_MAX_DIMENSIONS) {
        @Override
        KnnVectorsFormat of(int m, int efConstruction, GraphBuilds builds) {
            return new Lucene99HnswVectorsFormat(m, efConstruction);
        }
    },
    LUCENE_INT8(KnnVectorsFormat.DEFAULT_MAX_DIMENSIONS) {
        @Override
        KnnVectorsFormat of(int m, int efConstruction, GraphBuilds builds) {
            return new Lucene104HnswScalarQuantizedVectorsFormat(ScalarEncoding.UNSIGNED_BYTE, m, efConstruction);
        }

        @Override
        boolean isQuantized() {
            return true;
        }
    },
    LUCENE_BINARY(KnnVectorsFormat.DEFAULT_MAX_DIMENSIONS) {
        @Override
        KnnVectorsFormat of(int m, int efConstruction, GraphBuilds builds) {
            return new Lucene104HnswScalarQuantizedVectorsFormat(
                    ScalarEncoding.SINGLE_BIT_QUERY_NIBBLE, m, efConstruction);
        }

        @Override
        boolean isQuantized() {
            return true;
        }
    };

    private final int maxDimensions;

    FieldFormat(int maxDimensions) {
        this.maxDimensions = maxDimensions;
    }

    int maxDimensions() {
        return maxDimensions;
    }

    /**
     * The format for writing.
     *
     * @param m max neighbors per node in upper layers
     * @param efConstruction width of the searches that build a graph
     * @param builds the threads that build graphs of Roost's format; graphs of Lucene's formats are built by the threads that flush and merge
     */
    abstract KnnVectorsFormat of(int m, int efConstruction, GraphBuilds builds);

    /** The search strategy that passes a width to the format. */
    KnnSearchStrategy strategy(int width) {
        return KnnSearchStrategy.Hnsw.DEFAULT;
    }

    /** Whether scores come from quantized vectors, so that hits must be rescored. Such formats support only float vectors. */
    boolean isQuantized() {
        return false;
    }

    /** The number of hits to collect for a search of this width; Lucene's formats have no other parameter for the width. */
    int collected(int k, int width) {
        return Math.max(k, width);
    }
}
