package io.github.roost.opensearch;

import java.io.IOException;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.jspecify.annotations.Nullable;

/**
 * What the searches for all vectors of a query have in common in a shard.
 *
 * @param index the shard's index
 * @param format the field's format
 * @param vectorBytes bytes per vector
 * @param width width of the search in each segment, at least 1
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
        @Nullable Query filter,
        @Nullable BitSetProducer documents) {
    /** The same search with other hits. */
    ShardSearch with(NearestHits other) {
        return new ShardSearch(node, index, format, vectorBytes, width, other, filter, documents);
    }

    /** The number of hits that a search collects. */
    int collected() {
        return format.collected(hits.k(), width);
    }

    /** Passes the width to the format. */
    KnnSearchStrategy strategy() {
        return format.strategy(width);
    }

    /** Searches a segment. */
    TopDocs search(LeafReaderContext segment, int visitedLimit, RoostNode.LeafSearch search) throws IOException {
        return node.search(index, segment.reader(), vectorBytes, Math.max(width, hits.k()), visitedLimit, search);
    }
}
