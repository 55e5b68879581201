package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.util.FixedBitSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NearHitsTest {
    private static final int DOCUMENTS = 1_000;

    private final SplittableRandom random = new SplittableRandom(3);
    private final NearHits hits = new NearHits();
    /** The best hit of each group of ten documents, or of each document. */
    private final TreeMap<Integer, Float> expected = new TreeMap<>();

    private void fill(int adds) {
        for (int i = 0; i < adds; i++) {
            int document = random.nextInt(DOCUMENTS);
            float score = random.nextInt(1_000_000) / 1e6f;
            hits.add(document, score);
            expected.merge(document, score, Math::max);
        }
    }

    private Scorer sorted(@Nullable FixedBitSet whole) {
        return hits.sorted(whole).scorer(2);
    }

    @Test
    void documentsComeInTheirOrderEachWithItsBestScore() throws IOException {
        fill(700);
        Scorer scorer = sorted(null);
        assertThat(scorer.docID()).isEqualTo(-1);
        assertThat(scorer.iterator().cost()).isEqualTo(expected.size());
        for (int document : expected.keySet()) {
            assertThat(scorer.iterator().nextDoc()).isEqualTo(document);
            assertThat(scorer.docID()).isEqualTo(document);
            assertThat(scorer.score() / 2).isEqualTo(expected.get(document));
        }
        assertThat(scorer.iterator().nextDoc()).isEqualTo(DocIdSetIterator.NO_MORE_DOCS);
    }

    @Test
    void hitsOfManyVectorsTakeNoMoreMemoryThanOfFew() throws IOException {
        for (int vector = 0; vector < 100; vector++) {
            for (int document = 0; document < DOCUMENTS; document++) {
                float score = random.nextInt(1_000_000) / 1e6f;
                hits.add(document, score);
                expected.merge(document, score, Math::max);
            }
            assertThat(hits.size()).isLessThanOrEqualTo(3 * DOCUMENTS);
            hits.sortIfMany(null);
        }
        Scorer scorer = sorted(null);
        for (int document : expected.keySet()) {
            assertThat(scorer.iterator().nextDoc()).isEqualTo(document);
            assertThat(scorer.score() / 2).isEqualTo(expected.get(document));
        }
    }

    @Test
    void advancingFindsTheNextDocument() throws IOException {
        fill(300);
        Scorer scorer = sorted(null);
        for (int target = 0; target < DOCUMENTS; target += 1 + random.nextInt(20)) {
            if (target <= scorer.docID()) {
                continue;
            }
            Integer next = expected.ceilingKey(target);
            assertThat(scorer.iterator().advance(target))
                    .isEqualTo(next == null ? DocIdSetIterator.NO_MORE_DOCS : next);
        }
        assertThat(scorer.iterator().advance(DocIdSetIterator.NO_MORE_DOCS)).isEqualTo(DocIdSetIterator.NO_MORE_DOCS);
        assertThat(scorer.docID()).isEqualTo(DocIdSetIterator.NO_MORE_DOCS);
    }

    @Test
    void ofTheChunksOfADocumentTheBestIsLeft() throws IOException {
        fill(2_000);
        FixedBitSet whole = new FixedBitSet(DOCUMENTS + 10);
        TreeMap<Integer, Float> best = new TreeMap<>();
        for (int document = 9; document < whole.length(); document += 10) {
            whole.set(document);
        }
        expected.forEach((chunk, score) -> best.merge(whole.nextSetBit(chunk), score, Math::max));
        Scorer scorer = sorted(whole);
        for (int document : best.keySet()) {
            int chunk = scorer.iterator().nextDoc();
            assertThat(whole.nextSetBit(chunk)).isEqualTo(document);
            assertThat(expected.get(chunk)).isEqualTo(best.get(document));
            assertThat(scorer.score() / 2).isEqualTo(best.get(document));
        }
        assertThat(scorer.iterator().nextDoc()).isEqualTo(DocIdSetIterator.NO_MORE_DOCS);
    }

    @Test
    void whatIsNotKeptIsForgotten() throws IOException {
        hits.add(4, 1);
        hits.add(2, .5f);
        hits.keepFirst(1);
        Scorer scorer = sorted(null);
        assertThat(scorer.iterator().nextDoc()).isEqualTo(4);
        assertThat(scorer.iterator().nextDoc()).isEqualTo(DocIdSetIterator.NO_MORE_DOCS);
    }
}
