package io.github.roost.opensearch;

import java.io.IOException;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.QueryTimeout;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TimeLimitingKnnCollectorManager;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.search.knn.KnnCollectorManager;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.jspecify.annotations.Nullable;

/**
 * What the searches for all vectors of a query have in common in a shard.
 *
 * @param index the shard's index
 * @param format the field's format
 * @param vectorBytes bytes per vector
 * @param width width of the search in each segment, at least 1
 * @param exact whether to score all vectors that the filter admits, rather than to search graphs
 * @param filter null for none
 * @param documents for a field in nested objects, the documents of which each may have one hit; null for other fields
 */
record ShardSearch(
        RoostNode node,
        String index,
        FieldFormat format,
        int vectorBytes,
        int width,
        NearestHits hits,
        boolean exact,
        @Nullable Query filter,
        @Nullable BitSetProducer documents) {
    /** The same search with other hits. */
    ShardSearch with(NearestHits other) {
        return new ShardSearch(node, index, format, vectorBytes, width, other, exact, filter, documents);
    }

    /** The number of hits that a search collects. */
    int collected() {
        return format.collected(hits.k(), width);
    }

    /** Passes the width to the format. */
    KnnSearchStrategy strategy() {
        return format.strategy(width);
    }

    /** The timeout of the searches for which a query passes on its collectors; null for none. */
    static @Nullable QueryTimeout timeout(KnnCollectorManager collectors) {
        return collectors instanceof TimeLimitingKnnCollectorManager limiting ? limiting.getQueryTimeout() : null;
    }

    /** Searches a segment, unless it has no vectors: then Lucene's queries of chunks would fail. */
    TopDocs search(LeafReaderContext segment, int visitedLimit, RoostNode.LeafSearch search) throws IOException {
        if (!segment.reader().getFieldInfos().hasVectorValues()) {
            return new TopDocs(new TotalHits(0, TotalHits.Relation.EQUAL_TO), new ScoreDoc[0]);
        }
        return node.search(index, segment.reader(), vectorBytes, widest(), visitedLimit, search);
    }

    /** A search of all hits is repeated with more width until it finds vectors that are none; that it is more than once is rare. */
    private int widest() {
        return hits.k() == NearestHits.ALL ? Math.multiplyExact(width, 16) : Math.max(width, hits.k());
    }
}
