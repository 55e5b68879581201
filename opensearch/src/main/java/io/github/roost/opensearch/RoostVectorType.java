package io.github.roost.opensearch;

import io.github.roost.opensearch.VectorShape.Elements;
import java.util.Map;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.RescoreTopNQuery;
import org.jspecify.annotations.Nullable;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.mapper.SourceValueFetcher;
import org.opensearch.index.mapper.TextSearchInfo;
import org.opensearch.index.mapper.ValueFetcher;
import org.opensearch.index.query.QueryShardContext;
import org.opensearch.search.lookup.SearchLookup;

/** The field type roost_vector, as used by searches. Immutable. */
final class RoostVectorType extends MappedFieldType {
    private final VectorShape shape;
    private final FieldFormat format;
    /** The same object for the lifetime of the mapping, because Lucene writes fields with the same format object together. */
    private final KnnVectorsFormat writing;

    private final @Nullable FieldAttributes attributes;

    RoostVectorType(
            String name,
            VectorShape shape,
            FieldFormat format,
            KnnVectorsFormat writing,
            @Nullable FieldAttributes attributes,
            Map<String, String> meta) {
        super(name, true, false, false, TextSearchInfo.NONE, meta);
        this.shape = shape;
        this.format = format;
        this.writing = writing;
        this.attributes = attributes;
    }

    KnnVectorsFormat writing() {
        return writing;
    }

    /** The table rows that belong to documents; null for none. */
    @Nullable
    FieldAttributes attributes() {
        return attributes;
    }

    /**
     * Creates the query for the nearest documents.
     *
     * @param vector the query vector
     * @param width width of the search in each segment, at least 1
     * @throws IllegalArgumentException if the vector does not have this field's shape
     */
    Query nearest(RoostNode node, String index, float[] vector, int width, NearestHits hits, @Nullable Query filter) {
        shape.require("the query's vector for field [" + name() + "]", vector);
        if (format.isQuantized()) {
            return rescored(node, index, vector, width, hits, filter);
        }
        return shape.elements() == Elements.FLOAT
                ? new NearestFloats(node, index, name(), format, vector, width, hits, filter)
                : new NearestBytes(node, index, name(), format, VectorShape.bytes(vector), width, hits, filter);
    }

    /** The query for a quantized format: collects as many hits as the search is wide, and rescores them by their vectors. */
    private Query rescored(
            RoostNode node, String index, float[] vector, int width, NearestHits hits, @Nullable Query filter) {
        if (hits.minScore() != Float.NEGATIVE_INFINITY) {
            throw new IllegalArgumentException("min_score is not for field [" + name() + "] of format "
                    + RoostSettings.name(format) + ", got " + hits.minScore());
        }
        NearestHits all = new NearestHits(format.collected(hits.k(), width), Float.NEGATIVE_INFINITY);
        return RescoreTopNQuery.createFullPrecisionRescorerQuery(
                new NearestFloats(node, index, name(), format, vector, width, all, filter), vector, name(), hits.k());
    }

    @Override
    public String typeName() {
        return RoostVectorMapper.TYPE;
    }

    @Override
    public ValueFetcher valueFetcher(QueryShardContext context, SearchLookup lookup, @Nullable String format) {
        if (format != null) {
            throw new IllegalArgumentException(
                    "field [" + name() + "] of type roost_vector takes no format, got " + format);
        }
        return new SourceValueFetcher(name(), context) {
            @Override
            protected Object parseSourceValue(Object value) {
                return value;
            }
        };
    }

    @Override
    public Query existsQuery(QueryShardContext context) {
        return new FieldExistsQuery(name());
    }

    @Override
    public Query termQuery(Object value, @Nullable QueryShardContext context) {
        throw new IllegalArgumentException("field [" + name()
                + "] of type roost_vector is searched by roost_knn, and by exists, not by its values");
    }
}
