package io.github.roost.opensearch;

import io.github.roost.core.Vectors;
import io.github.roost.lucene.RoostVectorsFormat;
import io.github.roost.lucene.SearchEffort;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;

/** The formats that a field may be written in: Roost's, and Lucene's to compare it with on the same node. */
enum FieldFormat {
    ROOST(Vectors.MAX_DIMENSIONS) {
        @Override
        KnnVectorsFormat of(int m, int efConstruction) {
            return new RoostVectorsFormat(m, efConstruction);
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
        KnnVectorsFormat of(int m, int efConstruction) {
            return new Lucene99HnswVectorsFormat(m, efConstruction);
        }
    },
    LUCENE_INT8(KnnVectorsFormat.DEFAULT_MAX_DIMENSIONS) {
        @Override
        KnnVectorsFormat of(int m, int efConstruction) {
            return new Lucene104HnswScalarQuantizedVectorsFormat(ScalarEncoding.UNSIGNED_BYTE, m, efConstruction);
        }

        @Override
        boolean isQuantised() {
            return true;
        }
    },
    LUCENE_BINARY(KnnVectorsFormat.DEFAULT_MAX_DIMENSIONS) {
        @Override
        KnnVectorsFormat of(int m, int efConstruction) {
            return new Lucene104HnswScalarQuantizedVectorsFormat(
                    ScalarEncoding.SINGLE_BIT_QUERY_NIBBLE, m, efConstruction);
        }

        @Override
        boolean isQuantised() {
            return true;
        }
    };

    private final int mostDimensions;

    FieldFormat(int mostDimensions) {
        this.mostDimensions = mostDimensions;
    }

    int mostDimensions() {
        return mostDimensions;
    }

    /**
     * The format for writing.
     *
     * @param m neighbours per node of upper layers
     * @param efConstruction width of the searches that a graph is built with
     */
    abstract KnnVectorsFormat of(int m, int efConstruction);

    /** How a search of some width is asked for. */
    KnnSearchStrategy strategy(int width) {
        return KnnSearchStrategy.Hnsw.DEFAULT;
    }

    /** Whether scores are those of quantised vectors, so that hits have to be scored again; only of floats. */
    boolean isQuantised() {
        return false;
    }

    /** How many hits a search of some width has to collect for k: Lucene's format knows no other width than that. */
    int collected(int k, int width) {
        return Math.max(k, width);
    }
}
