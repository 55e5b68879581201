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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

/**
 * The fields of one segment in Lucene's own HNSW formats, with off-heap copies of their graphs for Roost's graph search. A field of a
 * quantizing format is among them without a graph too: Lucene would score its codes, and the hits of all segments must be scored alike.
 * Immutable.
 */
final class StockGraphs {
    static final StockGraphs NONE = new StockGraphs(Map.of());

    private static final FlatVectorsScorer SCORER = FlatVectorScorerUtil.getLucene99FlatVectorsScorer();
    /** The names of these formats in all versions. Vectors of other formats with graphs, as those of bits, have scores of their own. */
    private static final Pattern FORMATS = Pattern.compile("Lucene\\d+Hnsw(\\w*Quantized)?VectorsFormat");

    private final Map<String, Field> fields;

    private StockGraphs(Map<String, Field> fields) {
        this.fields = fields;
    }

    /** Reads all graphs of a segment. */
    static StockGraphs read(CodecReader segment) throws IOException {
        Map<String, Field> fields = new HashMap<>();
        for (FieldInfo info : segment.getFieldInfos()) {
            Field field = info.hasVectorValues() ? read(segment, info) : null;
            if (field != null) {
                fields.put(info.name, field);
            }
        }
        return fields.isEmpty() ? NONE : new StockGraphs(Map.copyOf(fields));
    }

    private static @Nullable Field read(CodecReader segment, FieldInfo field) throws IOException {
        String name = field.getAttribute(PerFieldKnnVectorsFormat.PER_FIELD_FORMAT_KEY);
        Matcher format = FORMATS.matcher(name == null ? "" : name);
        HnswGraph graph = format.matches() ? graph(segment.getVectorReader(), field.name) : null;
        if (graph == null) {
            return null;
        }
        boolean quantized = format.group(1) != null;
        KnnVectorValues values = values(segment, field);
        if (isWhole(graph, values.size())) {
            return new Field(field, segment.maxDoc(), quantized, coded(field, graph, values));
        }
        return quantized && graph.size() == 0 ? new Field(field, segment.maxDoc(), true, null) : null;
    }

    /** Whether a graph has all vectors and a degree within Roost's max; Lucene searches other graphs. */
    private static boolean isWhole(HnswGraph graph, int vectors) {
        return graph.size() > 0
                && graph.size() == vectors
                && graph.maxConn() > 0
                && 2 * graph.maxConn() <= Graph.MAX_NEIGHBORS;
    }

    /** The graph of a field, empty if Lucene has built none; null if it is out of reach. */
    private static @Nullable HnswGraph graph(@Nullable KnnVectorsReader all, String field) throws IOException {
        return all instanceof PerFieldKnnVectorsFormat.FieldsReader perField
                        && perField.getFieldReader(field) instanceof HnswGraphProvider provider
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

    boolean hasGraph() {
        return fields.values().stream().anyMatch(field -> field.graph() != null);
    }

    /** A field that Roost searches; null if Lucene does. */
    @Nullable
    Field field(String name) {
        return fields.get(name);
    }

    /**
     * A field.
     *
     * @param quantized whether Lucene would score its codes
     * @param graph null if there is none: a search scores all vectors
     */
    record Field(
            FieldInfo info,
            int maxDoc,
            boolean quantized,
            @Nullable Graph graph) {
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
