package io.github.roost.opensearch;

import java.io.IOException;
import java.util.Objects;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.search.join.DiversifyingChildrenFloatKnnVectorQuery;
import org.apache.lucene.search.knn.KnnCollectorManager;

/** A query for the nearest float vectors of nested objects, at most one per document, which searches each segment through {@link ShardSearch}. Does not copy its vector. */
final class NearestChunkFloats extends DiversifyingChildrenFloatKnnVectorQuery {
    private final ShardSearch shard;

    NearestChunkFloats(String field, float[] vector, ShardSearch shard, BitSetProducer documents) {
        super(field, vector, shard.filter(), shard.collected(), documents, shard.strategy());
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
        return super.equals(other) && shard.equals(((NearestChunkFloats) other).shard);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), shard);
    }
}
