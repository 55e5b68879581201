package io.github.roost.opensearch;

import java.io.IOException;
import java.util.Objects;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnCollectorManager;

/** A query for the nearest byte vectors, which searches each segment through {@link ShardSearch}. Does not copy its vector. */
final class NearestBytes extends KnnByteVectorQuery {
    private final ShardSearch shard;

    NearestBytes(String field, byte[] vector, ShardSearch shard) {
        super(field, vector, shard.collected(), shard.filter(), shard.strategy());
        this.shard = shard;
    }

    @Override
    protected TopDocs approximateSearch(
            LeafReaderContext context, AcceptDocs acceptDocs, int visitedLimit, KnnCollectorManager collectors)
            throws IOException {
        return shard.search(
                context,
                visitedLimit,
                () -> shard.exact()
                        ? exactSearch(context, acceptDocs.iterator(), ShardSearch.timeout(collectors))
                        : super.approximateSearch(context, acceptDocs, visitedLimit, collectors));
    }

    @Override
    protected TopDocs mergeLeafResults(TopDocs[] perLeafResults) {
        return shard.hits().of(super.mergeLeafResults(perLeafResults));
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && shard.equals(((NearestBytes) other).shard);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), shard);
    }
}
