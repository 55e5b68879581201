package io.github.roost.opensearch;

import io.github.roost.core.Vectors;
import io.github.roost.lucene.SearchEffort;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.Query;
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
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryBuilderVisitor;
import org.opensearch.index.query.QueryRewriteContext;
import org.opensearch.index.query.QueryShardContext;

/**
 * The query {@code {"roost_knn": {"FIELD": {"vector": [...], "k": 10, "effort": 64, "filter": {...}, "min_score": .5}}}}: per
 * shard, the k documents whose vectors are nearest among those that the filter matches.
 */
final class RoostKnnQueryBuilder extends AbstractQueryBuilder<RoostKnnQueryBuilder> {
    static final String NAME = "roost_knn";
    static final int MOST_K = Vectors.MOST_NEIGHBORS;
    static final int MOST_EFFORT = SearchEffort.MOST_WIDTH;

    private static final int DEFAULT_K = 10;
    private static final ParseField VECTOR = new ParseField("vector");
    private static final ParseField K = new ParseField("k");
    private static final ParseField EFFORT = new ParseField("effort");
    private static final ParseField FILTER = new ParseField("filter");
    private static final ParseField MIN_SCORE = new ParseField("min_score");

    private static final ObjectParser<Body, Void> BODY = new ObjectParser<>(NAME, Body::new);

    static {
        BODY.declareFloatArray((body, vector) -> body.vector = vector, VECTOR);
        BODY.declareInt((body, k) -> body.k = k, K);
        BODY.declareInt((body, effort) -> body.effort = effort, EFFORT);
        BODY.declareObject((body, filter) -> body.filter = filter, (p, none) -> parseInnerQueryBuilder(p), FILTER);
        BODY.declareFloat((body, minScore) -> body.minScore = minScore, MIN_SCORE);
        BODY.declareFloat((body, boost) -> body.boost = boost, BOOST_FIELD);
        BODY.declareString((body, name) -> body.name = name, NAME_FIELD);
    }

    private final RoostNode node;
    private final String field;
    private final float[] vector;
    private final int k;
    private final @Nullable Integer effort;
    private final @Nullable Float minScore;
    private final @Nullable QueryBuilder filter;

    /** What stands under the field's name. */
    private static final class Body {
        private @Nullable List<Float> vector;
        private int k = DEFAULT_K;
        private @Nullable Integer effort;
        private @Nullable QueryBuilder filter;
        private @Nullable Float minScore;
        private float boost = DEFAULT_BOOST;
        private @Nullable String name;
    }

    private RoostKnnQueryBuilder(
            RoostNode node,
            String field,
            float[] vector,
            int k,
            @Nullable Integer effort,
            @Nullable Float minScore,
            @Nullable QueryBuilder filter) {
        Vectors.requireRange("k", k, 1, MOST_K);
        if (effort != null) {
            Vectors.requireRange("effort", effort, 1, MOST_EFFORT);
        }
        if (minScore != null && !Float.isFinite(minScore)) {
            throw new IllegalArgumentException("min_score must be finite, got " + minScore);
        }
        this.node = node;
        this.field = field;
        this.vector = vector;
        this.k = k;
        this.effort = effort;
        this.minScore = minScore;
        this.filter = filter;
    }

    /** Reads what {@link #doWriteTo} wrote on another node. */
    RoostKnnQueryBuilder(RoostNode node, StreamInput in) throws IOException {
        super(in);
        this.node = node;
        this.field = in.readString();
        this.vector = in.readFloatArray();
        this.k = in.readVInt();
        this.effort = in.readOptionalVInt();
        this.minScore = in.readOptionalFloat();
        this.filter = in.readOptionalNamedWriteable(QueryBuilder.class);
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeString(field);
        out.writeFloatArray(vector);
        out.writeVInt(k);
        out.writeOptionalVInt(effort);
        out.writeOptionalFloat(minScore);
        out.writeOptionalNamedWriteable(filter);
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
        if (body.vector == null) {
            throw new ParsingException(
                    parser.getTokenLocation(), "[roost_knn] must have a vector for field [" + field + "]");
        }
        float[] vector = new float[body.vector.size()];
        for (int i = 0; i < vector.length; i++) {
            vector[i] = body.vector.get(i);
        }
        RoostKnnQueryBuilder query =
                new RoostKnnQueryBuilder(node, field, vector, body.k, body.effort, body.minScore, body.filter);
        query.boost(body.boost);
        query.queryName(body.name);
        return query;
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject(NAME).startObject(field);
        builder.field(VECTOR.getPreferredName(), vector);
        builder.field(K.getPreferredName(), k);
        if (effort != null) {
            builder.field(EFFORT.getPreferredName(), effort);
        }
        if (filter != null) {
            builder.field(FILTER.getPreferredName(), filter);
        }
        if (minScore != null) {
            builder.field(MIN_SCORE.getPreferredName(), minScore);
        }
        printBoostAndQueryName(builder);
        builder.endObject().endObject();
    }

    @Override
    protected Query doToQuery(QueryShardContext context) throws IOException {
        MappedFieldType type = context.fieldMapper(field);
        if (type == null) {
            throw new IllegalArgumentException("[roost_knn] there is no field [" + field + "] in index ["
                    + context.index().getName() + "]");
        }
        if (!(type instanceof RoostVectorType vectors)) {
            throw new IllegalArgumentException("[roost_knn] field [" + field
                    + "] must be of type roost_vector, and is of type " + type.typeName());
        }
        int width = Math.max(k, effort == null ? node.effort() : effort);
        NearestHits hits = new NearestHits(k, minScore == null ? Float.NEGATIVE_INFINITY : minScore);
        Query filtering = filter == null ? null : filter.toQuery(context);
        return vectors.nearest(node, context.index().getName(), vector, width, hits, filtering);
    }

    @Override
    protected QueryBuilder doRewrite(QueryRewriteContext context) throws IOException {
        QueryBuilder rewritten = filter == null ? null : filter.rewrite(context);
        return rewritten == filter ? this : withFilter(rewritten);
    }

    @Override
    public QueryBuilder filter(@Nullable QueryBuilder more) {
        if (!validateFilterParams(more)) {
            return this;
        }
        return withFilter(filter == null ? more : filter.filter(more));
    }

    private RoostKnnQueryBuilder withFilter(@Nullable QueryBuilder other) {
        RoostKnnQueryBuilder query = new RoostKnnQueryBuilder(node, field, vector, k, effort, minScore, other);
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
                && Arrays.equals(vector, other.vector)
                && k == other.k
                && Objects.equals(effort, other.effort)
                && Objects.equals(minScore, other.minScore)
                && Objects.equals(filter, other.filter);
    }

    @Override
    protected int doHashCode() {
        return Objects.hash(field, Arrays.hashCode(vector), k, effort, minScore, filter);
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }
}
