package io.github.roost.opensearch;

import java.util.Arrays;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;

/**
 * Selects the hits of a search from the merged hits of its segments. Immutable.
 *
 * @param k max number of hits; {@link #ALL} for a search of all hits with at least a minimum score
 * @param minScore hits below this score are dropped; negative infinity drops none
 */
record NearestHits(int k, float minScore) {
    static final int ALL = Integer.MAX_VALUE;

    /** The hits of the search, given the hits of all segments in the order of their scores. */
    TopDocs of(TopDocs merged) {
        ScoreDoc[] wanted = Arrays.stream(merged.scoreDocs)
                .limit(k)
                .takeWhile(hit -> hit.score >= minScore)
                .toArray(ScoreDoc[]::new);
        return new TopDocs(merged.totalHits, wanted);
    }
}
