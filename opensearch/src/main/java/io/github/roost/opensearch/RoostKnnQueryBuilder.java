package io.github.roost.opensearch;

import io.github.roost.lucene.filter.SharedFilter;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.DisjunctionMaxQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TaskExecutor;
import org.jspecify.annotations.Nullable;
import org.opensearch.core.ParseField;
import org.opensearch.core.common.ParsingException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.ObjectParser;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.core.xcontent.XContentParser.Token;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.query.AbstractQueryBuilder;
import org.opensearch.index.query.BoolQueryBuilder;
import org.opensearch.index.query.MatchAllQueryBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryBuilderVisitor;
import org.opensearch.index.query.QueryRewriteContext;
import org.opensearch.index.query.QueryShardContext;

/**
 * The query {@code {"roost_knn": {"FIELD": {"vector": [...], "k": 10, "effort": 64, "filter": {...}, "min_score": .5}}}}: per
 * shard, the k documents with the nearest vectors among the documents that match the filter. With several {@code vectors}, the k
 * nearest documents to each vector. With {@code min_score} or {@code max_distance} and without k, all documents near enough. Of a
 * field in nested objects, a document's nearest vector counts ({@link NestedField}).
 */
final class RoostKnnQueryBuilder extends AbstractQueryBuilder<RoostKnnQueryBuilder> {
    static final String NAME = "roost_knn";
    /** Max vectors per query. */
    static final int MAX_QUERY_VECTORS = 1_024;
    /** Max hits per shard of all vectors together: number of vectors times k. */
    static final int MAX_HITS = 100_000;

    private static final ParseField VECTOR = new ParseField("vector");
    private static final ParseField VECTORS = new ParseField("vectors");
    private static final ParseField K = new ParseField("k");
    private static final ParseField EFFORT = new ParseField("effort");
    private static final ParseField FILTER = new ParseField("filter");
    private static final ParseField MIN_SCORE = new ParseField("min_score");
    private static final ParseField MAX_DISTANCE = new ParseField("max_distance");
    private static final ParseField EXACT = new ParseField("exact");
    private static final ParseField IGNORE_UNMAPPED = new ParseField("ignore_unmapped");

    /**
     * Version of the message between nodes. A query with an option that was added later is written with a higher version, any other query
     * with the first one, so that nodes whose plugins differ understand each other as far as they can.
     */
    private static final int WIRE_VERSION = 2;

    private static final int FIRST_WIRE_VERSION = 1;
    /** In a message, instead of the number of nearest documents. */
    private static final int ALL_NEAR_ENOUGH = 0;

    private static final ObjectParser<Body, Void> BODY = new ObjectParser<>(NAME, Body::new);

    static {
        BODY.declareField(
                (body, vector) -> body.vector = vector,
                (parser, none) -> VectorJson.read(parser, "[roost_knn] vector"),
                VECTOR,
                ObjectParser.ValueType.STRING_ARRAY);
        BODY.declareField(
                (body, vectors) -> body.vectors = vectors,
                (parser, none) -> VectorJson.readAll(parser, "[roost_knn] vectors", MAX_QUERY_VECTORS),
                VECTORS,
                ObjectParser.ValueType.OBJECT_ARRAY);
        BODY.declareInt((body, k) -> body.k = k, K);
        BODY.declareInt((body, effort) -> body.effort = effort, EFFORT);
        BODY.declareObject((body, filter) -> body.filter = filter, (p, none) -> parseInnerQueryBuilder(p), FILTER);
        BODY.declareFloat((body, minScore) -> body.minScore = minScore, MIN_SCORE);
        BODY.declareFloat((body, maxDistance) -> body.maxDistance = maxDistance, MAX_DISTANCE);
        BODY.declareBoolean((body, exact) -> body.exact = exact, EXACT);
        BODY.declareBoolean((body, ignore) -> body.ignoreUnmapped = ignore, IGNORE_UNMAPPED);
        BODY.declareFloat((body, boost) -> body.boost = boost, BOOST_FIELD);
        BODY.declareString((body, name) -> body.name = name, NAME_FIELD);
    }

    private final RoostNode node;
    private final String field;
    /** At least one. */
    private final List<float[]> vectors;

    private final Wanted wanted;
    private final @Nullable QueryBuilder filter;
    private final boolean ignoreUnmapped;

    /** The JSON object under the field's name. */
    private static final class Body {
        private float @Nullable [] vector;
        private @Nullable List<float[]> vectors;
        private @Nullable Integer k;
        private @Nullable Integer effort;
        private @Nullable QueryBuilder filter;
        private @Nullable Float minScore;
        private @Nullable Float maxDistance;
        private boolean exact;
        private boolean ignoreUnmapped;
        private float boost = DEFAULT_BOOST;
        private @Nullable String name;
    }

    private RoostKnnQueryBuilder(
            RoostNode node,
            String field,
            List<float[]> vectors,
            Wanted wanted,
            @Nullable QueryBuilder filter,
            boolean ignoreUnmapped) {
        if (wanted.k() != null) {
            Vectors.requireRange("vectors times k", (long) vectors.size() * wanted.k(), 1, MAX_HITS);
        }
        this.node = node;
        this.field = field;
        this.vectors = vectors;
        this.wanted = wanted;
        this.filter = filter;
        this.ignoreUnmapped = ignoreUnmapped;
    }

    /**
     * Reads a query written by {@link #doWriteTo} on another node.
     *
     * @throws IllegalArgumentException if the query has an option that this node does not know
     */
    RoostKnnQueryBuilder(RoostNode node, StreamInput in) throws IOException {
        super(in);
        int version = in.readVInt();
        if (version > WIRE_VERSION) {
            throw new IllegalArgumentException("[roost_knn] the query has an option of a newer plugin (version "
                    + version + "), and this node knows version " + WIRE_VERSION + ": upgrade its plugin");
        }
        this.node = node;
        this.field = in.readString();
        this.vectors = in.readList(StreamInput::readFloatArray);
        int k = in.readVInt();
        Integer effort = in.readOptionalVInt();
        Float minScore = in.readOptionalFloat();
        this.filter = in.readOptionalNamedWriteable(QueryBuilder.class);
        this.ignoreUnmapped = in.readBoolean();
        this.wanted = version == FIRST_WIRE_VERSION
                ? new Wanted(k, minScore, null, effort, false)
                : new Wanted(
                        k == ALL_NEAR_ENOUGH ? null : k, minScore, in.readOptionalFloat(), effort, in.readBoolean());
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeVInt(wanted.isOfFirstVersion() ? FIRST_WIRE_VERSION : WIRE_VERSION);
        out.writeString(field);
        out.writeCollection(vectors, StreamOutput::writeFloatArray);
        out.writeVInt(Objects.requireNonNullElse(wanted.k(), ALL_NEAR_ENOUGH));
        out.writeOptionalVInt(wanted.effort());
        out.writeOptionalFloat(wanted.minScore());
        out.writeOptionalNamedWriteable(filter);
        out.writeBoolean(ignoreUnmapped);
        if (!wanted.isOfFirstVersion()) {
            out.writeOptionalFloat(wanted.maxDistance());
            out.writeBoolean(wanted.exact());
        }
    }

    static RoostKnnQueryBuilder parse(RoostNode node, XContentParser parser) throws IOException {
        if (parser.nextToken() != Token.FIELD_NAME) {
            throw new ParsingException(
                    parser.getTokenLocation(), "[roost_knn] must name a field, got " + parser.currentToken());
        }
        String field = parser.currentName();
        if (parser.nextToken() != Token.START_OBJECT) {
            throw new ParsingException(
                    parser.getTokenLocation(),
                    "[roost_knn] must have an object under [" + field + "], got " + parser.currentToken());
        }
        Body body = BODY.parse(parser, null);
        if (parser.nextToken() != Token.END_OBJECT) {
            throwParsingExceptionOnMultipleFields(NAME, parser.getTokenLocation(), field, parser.currentName());
        }
        if ((body.vector == null) == (body.vectors == null)) {
            throw new ParsingException(
                    parser.getTokenLocation(),
                    "[roost_knn] must have a vector for field [" + field + "], or vectors, one of the two");
        }
        List<float[]> vectors = body.vectors != null ? body.vectors : List.of(body.vector);
        Wanted wanted = new Wanted(body.k, body.minScore, body.maxDistance, body.effort, body.exact);
        RoostKnnQueryBuilder query =
                new RoostKnnQueryBuilder(node, field, vectors, wanted, body.filter, body.ignoreUnmapped);
        query.boost(body.boost);
        query.queryName(body.name);
        return query;
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject(NAME).startObject(field);
        if (vectors.size() == 1) {
            builder.field(VECTOR.getPreferredName(), vectors.getFirst());
        } else {
            builder.field(VECTORS.getPreferredName(), vectors);
        }
        writeIfPresent(builder, K, wanted.k());
        writeIfPresent(builder, EFFORT, wanted.effort());
        if (filter != null) {
            builder.field(FILTER.getPreferredName(), filter);
        }
        writeIfPresent(builder, MIN_SCORE, wanted.minScore());
        writeIfPresent(builder, MAX_DISTANCE, wanted.maxDistance());
        writeIfPresent(builder, EXACT, wanted.exact() ? true : null);
        if (ignoreUnmapped) {
            builder.field(IGNORE_UNMAPPED.getPreferredName(), true);
        }
        printBoostAndQueryName(builder);
        builder.endObject().endObject();
    }

    private static void writeIfPresent(XContentBuilder builder, ParseField option, @Nullable Object value)
            throws IOException {
        if (value != null) {
            builder.field(option.getPreferredName(), value);
        }
    }

    /** With several vectors, a document's score is its best score over the vectors. */
    @Override
    protected Query doToQuery(QueryShardContext context) throws IOException {
        List<Query> queries = queries(context, null);
        return queries.size() == 1 ? queries.getFirst() : new DisjunctionMaxQuery(queries, 0);
    }

    /**
     * One query per vector, or one for all vectors if all documents near enough are wanted. They share one evaluation of the filter.
     *
     * @param together evaluates the filter of several vectors before their searches begin; null to evaluate it in the first search that
     *     needs it
     * @throws IllegalArgumentException if the shard's index has no such vector field, or it cannot be searched so
     */
    List<Query> queries(QueryShardContext context, @Nullable TaskExecutor together) throws IOException {
        RoostVectorType type = typeIn(context);
        if (type == null) {
            return Collections.nCopies(vectors.size(), new MatchNoDocsQuery("there is no field " + field));
        }
        NestedField nested = NestedField.of(context, field);
        ShardSearch shard = shardSearch(context, type, nested, together);
        List<Query> queries = wantsAllNear()
                ? List.of(type.near(vectors, shard))
                : vectors.stream().map(vector -> type.nearest(vector, shard)).toList();
        return nested == null || nested.isJoined()
                ? queries
                : queries.stream().map(nested::joined).toList();
    }

    private ShardSearch shardSearch(
            QueryShardContext context,
            RoostVectorType type,
            @Nullable NestedField nested,
            @Nullable TaskExecutor together)
            throws IOException {
        int k = wanted.k() == null ? NearestHits.ALL : wanted.k();
        int effort = effortIn(context);
        return new ShardSearch(
                node,
                context.index().getName(),
                type.format(),
                type.vectorBytes(),
                wantsAllNear() ? effort : Math.max(k, effort),
                new NearestHits(k, type.minScore(wanted)),
                wanted.exact(),
                filterIn(context, nested, together),
                nested == null ? null : nested.documents());
    }

    private @Nullable RoostVectorType typeIn(QueryShardContext context) {
        MappedFieldType type = context.fieldMapper(field);
        if (type == null && ignoreUnmapped) {
            return null;
        }
        if (type == null) {
            throw new IllegalArgumentException("[roost_knn] there is no field [" + field + "] in index ["
                    + context.index().getName() + "]");
        }
        if (!(type instanceof RoostVectorType vectorType)) {
            throw new IllegalArgumentException("[roost_knn] field [" + field
                    + "] must be of type roost_vector, and is of type " + type.typeName());
        }
        return vectorType;
    }

    private int effortIn(QueryShardContext context) {
        if (wanted.effort() != null) {
            return wanted.effort();
        }
        int ofIndex = context.getIndexSettings().getScopedSettings().get(RoostSettings.INDEX_EFFORT);
        return ofIndex == 0 ? node.effort() : ofIndex;
    }

    private @Nullable Query filterIn(
            QueryShardContext context, @Nullable NestedField nested, @Nullable TaskExecutor together)
            throws IOException {
        // Lucene's exact search of chunks takes only what a filter admits for documents with vectors.
        boolean chunksOnly = wanted.exact() && nested != null;
        QueryBuilder admitting = filter == null && chunksOnly ? new MatchAllQueryBuilder() : filter;
        Query admitted = admitting == null ? null : NestedField.outside(context, admitting);
        if (admitted == null) {
            return null;
        }
        Query filtering = nested == null ? admitted : nested.admitted(admitted);
        if (vectors.size() == 1 || wantsAllNear()) {
            return filtering;
        }
        SharedFilter shared = new SharedFilter(filtering);
        if (together != null) {
            shared.evaluate(context.searcher(), together);
        }
        return shared;
    }

    /** This query in a list of tasks. */
    String describe(String indexes) {
        return "indices[" + indexes + "], field[" + field + "], vectors[" + vectors.size() + "], "
                + (wantsAllNear() ? "all near enough" : "k[" + wanted.k() + "]");
    }

    /** The number of vectors. */
    int vectors() {
        return vectors.size();
    }

    /** Whether it finds all documents near enough, however many. */
    boolean wantsAllNear() {
        return wanted.k() == null;
    }

    /** Number of nearest documents per vector; not for a query that {@linkplain #wantsAllNear wants all}. */
    int k() {
        return Objects.requireNonNull(wanted.k());
    }

    @Override
    protected QueryBuilder doRewrite(QueryRewriteContext context) throws IOException {
        QueryBuilder rewritten = filter == null ? null : filter.rewrite(context);
        return rewritten == filter ? this : withFilter(rewritten);
    }

    @Override
    public RoostKnnQueryBuilder filter(@Nullable QueryBuilder more) {
        if (!validateFilterParams(more)) {
            return this;
        }
        // Never the filter's own method: it may change a filter that others have too, and make its optional clauses
        // void.
        return withFilter(
                filter == null ? more : new BoolQueryBuilder().filter(filter).filter(more));
    }

    private RoostKnnQueryBuilder withFilter(@Nullable QueryBuilder other) {
        RoostKnnQueryBuilder query = new RoostKnnQueryBuilder(node, field, vectors, wanted, other, ignoreUnmapped);
        query.boost(boost());
        query.queryName(queryName());
        return query;
    }

    @Override
    public void visit(QueryBuilderVisitor visitor) {
        visitor.accept(this);
        if (filter != null) {
            filter.visit(visitor.getChildVisitor(Occur.FILTER));
        }
    }

    @Override
    protected boolean doEquals(RoostKnnQueryBuilder other) {
        return field.equals(other.field)
                && Arrays.deepEquals(vectors.toArray(), other.vectors.toArray())
                && wanted.equals(other.wanted)
                && Objects.equals(filter, other.filter)
                && ignoreUnmapped == other.ignoreUnmapped;
    }

    @Override
    protected int doHashCode() {
        return Objects.hash(field, Arrays.deepHashCode(vectors.toArray()), wanted, filter, ignoreUnmapped);
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }
}
