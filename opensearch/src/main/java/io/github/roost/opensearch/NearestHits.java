package io.github.roost.opensearch;

import java.util.Arrays;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;

/**
 * Which of the hits of all segments are hits of the search. Immutable.
 *
 * @param k how many at most
 * @param minScore hits below this are left out; negative infinity leaves out none
 */
record NearestHits(int k, float minScore) {
    /** The hits, of those of all segments in order of their scores. */
    TopDocs of(TopDocs merged) {
        ScoreDoc[] wanted = Arrays.stream(merged.scoreDocs)
                .limit(k)
                .takeWhile(hit -> hit.score >= minScore)
                .toArray(ScoreDoc[]::new);
        return new TopDocs(merged.totalHits, wanted);
    }
}
