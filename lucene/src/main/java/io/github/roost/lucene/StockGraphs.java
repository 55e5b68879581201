package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.CodedRows;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.codecs.hnsw.HnswGraphProvider;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.util.hnsw.HnswGraph;
import org.apache.lucene.util.hnsw.RandomVectorScorer;
import org.jspecify.annotations.Nullable;

/** Off-heap copies, for Roost's graph search, of the graphs that Lucene has written for one segment's fields. Immutable. */
final class StockGraphs {
    static final StockGraphs NONE = new StockGraphs(Map.of());

    private static final FlatVectorsScorer SCORER = FlatVectorScorerUtil.getLucene99FlatVectorsScorer();

    private final Map<String, Field> fields;

    private StockGraphs(Map<String, Field> fields) {
        this.fields = fields;
    }

    /** Reads all graphs of a segment. */
    static StockGraphs read(CodecReader segment) throws IOException {
        Map<String, Field> fields = new HashMap<>();
        for (FieldInfo field : segment.getFieldInfos()) {
            HnswGraph graph = field.hasVectorValues() ? graph(segment.getVectorReader(), field.name) : null;
            if (graph != null) {
                KnnVectorValues values = values(segment, field);
                if (isWhole(graph, values.size())) {
                    fields.put(field.name, new Field(field, segment.maxDoc(), coded(field, graph, values)));
                }
            }
        }
        return fields.isEmpty() ? NONE : new StockGraphs(Map.copyOf(fields));
    }

    /** Whether a graph has all vectors and a degree within Roost's max; Lucene searches other graphs. */
    private static boolean isWhole(HnswGraph graph, int vectors) {
        return graph.size() > 0
                && graph.size() == vectors
                && graph.maxConn() > 0
                && 2 * graph.maxConn() <= Graph.MAX_NEIGHBORS;
    }

    private static @Nullable HnswGraph graph(@Nullable KnnVectorsReader all, String field) throws IOException {
        KnnVectorsReader reader =
                all instanceof PerFieldKnnVectorsFormat.FieldsReader perField ? perField.getFieldReader(field) : all;
        return reader instanceof HnswGraphProvider provider && !(reader instanceof RoostVectorsReader)
                ? provider.getGraph(field)
                : null;
    }

    private static KnnVectorValues values(LeafReader segment, FieldInfo field) throws IOException {
        return Objects.requireNonNull(
                switch (field.getVectorEncoding()) {
                    case FLOAT32 -> segment.getFloatVectorValues(field.name);
                    case BYTE -> segment.getByteVectorValues(field.name);
                },
                field.name);
    }

    private static Graph coded(FieldInfo field, HnswGraph graph, KnnVectorValues values) throws IOException {
        BuiltByLucene links = new BuiltByLucene(graph);
        try (CodedRows rows = SearchSpace.encode(field, values, false, () -> {})) {
            // Searches may still run when the segment is closed, so the garbage collector frees the graph.
            return Graph.of(links, links.degree(), rows, row -> row, values::ordToDoc, Arena.ofAuto());
        } catch (UncheckedIOException unreadable) {
            throw unreadable.getCause();
        }
    }

    /** The graph of a field; null if Lucene searches it. */
    @Nullable
    Field field(String name) {
        return fields.get(name);
    }

    /** A field and its graph. */
    record Field(FieldInfo info, int maxDoc, Graph graph) {
        void search(LeafReader segment, float[] target, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            require(VectorEncoding.FLOAT32, target.length);
            FloatVectorValues values = segment.getFloatVectorValues(info.name);
            VectorSimilarityFunction similarity = info.getVectorSimilarityFunction();
            if (values != null) {
                search(
                        SCORER.getRandomVectorScorer(similarity, values, target),
                        SearchSpace.query(similarity, target),
                        collector,
                        accepted);
            }
        }

        void search(LeafReader segment, byte[] target, KnnCollector collector, AcceptDocs accepted) throws IOException {
            require(VectorEncoding.BYTE, target.length);
            ByteVectorValues values = segment.getByteVectorValues(info.name);
            VectorSimilarityFunction similarity = info.getVectorSimilarityFunction();
            if (values != null) {
                search(
                        SCORER.getRandomVectorScorer(similarity, values, target),
                        SearchSpace.query(similarity, target),
                        collector,
                        accepted);
            }
        }

        private void require(VectorEncoding requested, int dimension) {
            if (info.getVectorEncoding() != requested || info.getVectorDimension() != dimension) {
                throw new IllegalArgumentException("field \"" + info.name + "\" has vectors of "
                        + info.getVectorDimension() + " components, " + info.getVectorEncoding() + ", got " + dimension
                        + ", " + requested);
            }
        }

        private void search(RandomVectorScorer scorer, float[] query, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            if (collector.k() == 0) {
                return;
            }
            try {
                new SegmentSearch(graph, scorer, maxDoc, collector, accepted).run(query);
            } catch (FileFormatException damaged) {
                throw new CorruptIndexException(String.valueOf(damaged.getMessage()), info.name, damaged);
            }
        }
    }
}
