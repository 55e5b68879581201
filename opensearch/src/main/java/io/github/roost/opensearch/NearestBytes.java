package io.github.roost.opensearch;

import java.io.IOException;
import java.util.Objects;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnCollectorManager;
import org.jspecify.annotations.Nullable;

/** A query for the nearest byte vectors, which searches each segment through {@link RoostNode#search}. Does not copy its vector. */
final class NearestBytes extends KnnByteVectorQuery {
    private final RoostNode node;
    private final String index;
    private final int width;
    private final NearestHits hits;

    NearestBytes(
            RoostNode node,
            String index,
            String field,
            FieldFormat format,
            byte[] vector,
            int width,
            NearestHits hits,
            @Nullable Query filter) {
        super(field, vector, format.collected(hits.k(), width), filter, format.strategy(width));
        this.node = node;
        this.index = index;
        this.width = Math.max(width, hits.k());
        this.hits = hits;
    }

    @Override
    protected TopDocs approximateSearch(
            LeafReaderContext context, AcceptDocs acceptDocs, int visitedLimit, KnnCollectorManager collectors)
            throws IOException {
        return node.search(
                index,
                context.reader(),
                target.length,
                width,
                visitedLimit,
                () -> super.approximateSearch(context, acceptDocs, visitedLimit, collectors));
    }

    @Override
    protected TopDocs mergeLeafResults(TopDocs[] perLeafResults) {
        return hits.of(super.mergeLeafResults(perLeafResults));
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && hits.equals(((NearestBytes) other).hits);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), hits);
    }
}
