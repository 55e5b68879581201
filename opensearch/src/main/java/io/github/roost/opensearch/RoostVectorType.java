package io.github.roost.opensearch;

import io.github.roost.opensearch.VectorShape.Elements;
import java.util.List;
import java.util.Map;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.Query;
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

    FieldFormat format() {
        return format;
    }

    /** The bytes of a vector. */
    int vectorBytes() {
        return shape.dimension() * (shape.elements() == Elements.FLOAT ? Float.BYTES : Byte.BYTES);
    }

    /** The table rows that belong to documents; null for none. */
    @Nullable
    FieldAttributes attributes() {
        return attributes;
    }

    /**
     * Creates the query for the documents, or chunks of documents, with the nearest vectors.
     *
     * @param vector the query vector
     * @throws IllegalArgumentException if the vector does not have this field's shape
     */
    Query nearest(float[] vector, ShardSearch shard) {
        require(vector);
        if (format.isQuantized()) {
            return rescored(vector, shard);
        }
        return shape.elements() == Elements.FLOAT ? floats(vector, shard) : bytes(VectorShape.bytes(vector), shard);
    }

    private Query floats(float[] vector, ShardSearch shard) {
        return shard.documents() == null
                ? new NearestFloats(name(), vector, shard)
                : new NearestChunkFloats(name(), vector, shard, shard.documents());
    }

    private Query bytes(byte[] vector, ShardSearch shard) {
        return shard.documents() == null
                ? new NearestBytes(name(), vector, shard)
                : new NearestChunkBytes(name(), vector, shard, shard.documents());
    }

    /** The query for a quantized format: collects as many hits as the search is wide, and rescores them by their vectors. */
    private Query rescored(float[] vector, ShardSearch shard) {
        NearestHits all = new NearestHits(shard.collected(), Float.NEGATIVE_INFINITY);
        return new Rescored(
                floats(vector, shard.with(all)), vector, name(), shard.hits().k());
    }

    /**
     * Creates the query for all documents, or chunks of documents, with a vector near enough to one of the query's vectors.
     *
     * @throws IllegalArgumentException if a vector does not have this field's shape
     */
    Query near(List<float[]> vectors, ShardSearch shard) {
        return new NearQuery(name(), vectors.stream().map(this::queryVector).toList(), shard);
    }

    private QueryVector queryVector(float[] vector) {
        require(vector);
        return shape.elements() == Elements.FLOAT
                ? new QueryVector.Floats(vector)
                : new QueryVector.Bytes(VectorShape.bytes(vector));
    }

    private void require(float[] vector) {
        shape.require("the query's vector for field [" + name() + "]", vector);
    }

    /**
     * The score that a document must have at least; negative infinity for any.
     *
     * @throws IllegalArgumentException if this field cannot be searched as it is wanted
     */
    float minScore(Wanted wanted) {
        if (format.isQuantized()) {
            requireAbsent("min_score", wanted.minScore());
            requireAbsent("max_distance", wanted.maxDistance());
            requireAbsent("exact", wanted.exact() ? true : null);
        }
        if (wanted.maxDistance() != null) {
            return shape.score(wanted.maxDistance());
        }
        return wanted.minScore() == null ? Float.NEGATIVE_INFINITY : wanted.minScore();
    }

    private void requireAbsent(String option, @Nullable Object value) {
        if (value != null) {
            throw new IllegalArgumentException(option + " is not for field [" + name() + "] of format "
                    + RoostSettings.name(format) + ", got " + value);
        }
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
