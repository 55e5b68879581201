package io.github.roost.opensearch;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.DisjunctionMaxQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.search.join.ScoreMode;
import org.apache.lucene.search.join.ToParentBlockJoinQuery;
import org.apache.lucene.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opensearch.common.lucene.search.Queries;
import org.opensearch.common.lucene.search.function.FunctionScoreQuery;
import org.opensearch.common.lucene.search.function.ScriptScoreQuery;
import org.opensearch.index.mapper.ObjectMapper;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryShardContext;
import org.opensearch.index.query.support.NestedScope;

/**
 * A field inside nested objects. OpenSearch indexes each nested object as a Lucene document of its own, here a chunk, before the
 * document that it belongs to. A search of the field finds chunks, at most one per document, so that k chunks are of k documents.
 * Used by one thread.
 */
final class NestedField {
    private final QueryShardContext context;
    /** The innermost nested object that holds the field. */
    private final ObjectMapper holder;
    /** The kinds of Lucene documents that a chunk belongs to: whole documents, and the nested objects around the chunk. */
    private final List<BitSetProducer> around = new ArrayList<>();

    private NestedField(QueryShardContext context, ObjectMapper holder) {
        this.context = context;
        this.holder = holder;
        around.add(documents());
        for (ObjectMapper outer = holderOf(context, holder.fullPath());
                outer != null;
                outer = holderOf(context, outer.fullPath())) {
            around.add(kind(outer.nestedTypeFilter()));
        }
    }

    /**
     * The place of a field; null if it is in no nested object.
     *
     * @throws IllegalArgumentException if the query stands in a nested query of another object than the field's
     */
    static @Nullable NestedField of(QueryShardContext context, String field) {
        ObjectMapper holder = holderOf(context, field);
        ObjectMapper scope = context.nestedScope().getObjectMapper();
        if (scope != null && (holder == null || !holder.fullPath().equals(scope.fullPath()))) {
            throw new IllegalArgumentException("[roost_knn] field [" + field + "] is "
                    + (holder == null ? "in no nested object" : "in nested object [" + holder.fullPath() + "]")
                    + ", but the query is in a nested query of path [" + scope.fullPath() + "]");
        }
        if (holder == null) {
            return null;
        }
        if (holder.nested().isIncludeInParent() || holder.nested().isIncludeInRoot()) {
            throw new IllegalArgumentException("[roost_knn] nested object [" + holder.fullPath() + "] of field ["
                    + field + "] must not be included in its parent or root");
        }
        return new NestedField(context, holder);
    }

    private static @Nullable ObjectMapper holderOf(QueryShardContext context, String path) {
        for (int dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
            ObjectMapper object = context.getObjectMapper(path.substring(0, dot));
            if (object != null && object.nested().isNested()) {
                return object;
            }
        }
        return null;
    }

    /** Reads a filter as outside of all nested queries, as for a field in no nested object. */
    static Query outside(QueryShardContext context, QueryBuilder filter) throws IOException {
        NestedScope scope = context.nestedScope();
        Deque<ObjectMapper> levels = new ArrayDeque<>();
        while (scope.getObjectMapper() != null) {
            levels.push(scope.previousLevel());
        }
        BitSetProducer parents = context.getParentFilter();
        context.setParentFilter(null);
        try {
            return filter.toQuery(context);
        } finally {
            context.setParentFilter(parents);
            levels.forEach(scope::nextLevel);
        }
    }

    /** The whole documents. */
    BitSetProducer documents() {
        return kind(Queries.newNonNestedFilter());
    }

    private BitSetProducer kind(Query of) {
        return new WhereVectorsAre(context.bitsetFilter(of));
    }

    /** None in a segment without vectors, such as the index of one document in memory that a highlighter searches. */
    private record WhereVectorsAre(BitSetProducer all) implements BitSetProducer {
        @Override
        public @Nullable BitSet getBitSet(LeafReaderContext segment) throws IOException {
            return segment.reader().getFieldInfos().hasVectorValues() ? all.getBitSet(segment) : null;
        }
    }

    /** Whether the query stands in the nested query of the field's object, which joins chunks to their documents itself. */
    boolean isJoined() {
        return context.nestedScope().getObjectMapper() != null;
    }

    /** The documents of chunks, each with the best score of its chunks. */
    Query joined(Query chunks) {
        return new ToParentBlockJoinQuery(chunks, documents(), ScoreMode.Max);
    }

    /**
     * The chunks that a filter admits: those for which it holds if each of its conditions is asked of the chunk and of what the chunk
     * belongs to, and holds if it does for any of them. So a filter may have conditions on chunks and on documents.
     *
     * @throws IllegalArgumentException if the filter has a query that changes scores, which may have conditions of both kinds within
     */
    Query admitted(Query filter) {
        return new BooleanQuery.Builder()
                .add(holder.nestedTypeFilter(), Occur.FILTER)
                .add(ofChunks(filter), Occur.FILTER)
                .build();
    }

    private IllegalArgumentException withScores(Query scored) {
        return new IllegalArgumentException("[roost_knn] the filter of a field in nested object [" + holder.fullPath()
                + "] must have conditions without scores, got " + scored);
    }

    private Query ofChunks(Query condition) {
        return switch (condition) {
            case MatchAllDocsQuery all -> all;
            case ConstantScoreQuery constant -> ofChunks(constant.getQuery());
            case BoostQuery boosted -> ofChunks(boosted.getQuery());
            case DisjunctionMaxQuery any -> {
                BooleanQuery.Builder each = new BooleanQuery.Builder();
                any.getDisjuncts().forEach(one -> each.add(one, Occur.SHOULD));
                yield ofChunks(each.build());
            }
            case BooleanQuery several -> ofChunks(several);
            case FunctionScoreQuery scored -> throw withScores(scored);
            case ScriptScoreQuery scored -> throw withScores(scored);
            case org.apache.lucene.queries.function.FunctionScoreQuery scored -> throw withScores(scored);
            default -> new WithChunks(condition, around);
        };
    }

    /** Conditions of which one suffices, and those of which none may hold, are evaluated together. */
    private Query ofChunks(BooleanQuery several) {
        BooleanQuery.Builder each = new BooleanQuery.Builder();
        each.setMinimumNumberShouldMatch(several.getMinimumNumberShouldMatch());
        Map<Occur, BooleanQuery.Builder> together = new EnumMap<>(Occur.class);
        for (BooleanClause clause : several) {
            Query one = ofChunks(clause.query());
            boolean oneSuffices = clause.occur() == Occur.SHOULD && several.getMinimumNumberShouldMatch() <= 1;
            if (one instanceof WithChunks condition && (oneSuffices || clause.occur() == Occur.MUST_NOT)) {
                together.computeIfAbsent(clause.occur(), first -> new BooleanQuery.Builder())
                        .add(condition.condition(), Occur.SHOULD);
            } else {
                each.add(one, clause.occur());
            }
        }
        together.forEach((occur, conditions) -> each.add(new WithChunks(conditions.build(), around), occur));
        return each.build();
    }
}
