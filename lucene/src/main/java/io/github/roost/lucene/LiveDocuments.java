package io.github.roost.lucene;

import io.github.roost.vector.IdFilter;
import java.io.IOException;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/** Map from a table's ids to the live documents of one reader. Immutable. */
final class LiveDocuments {
    private final DocumentsById documents = new DocumentsById();
    private final IdFilter all =
            IdFilter.of(id -> document(id) != DocumentsById.NONE).cached();

    private LiveDocuments() {}

    /**
     * Reads the ids of all live documents, in linear time. Documents without an id are skipped.
     *
     * @param idField field with ids as numeric doc values
     * @throws IllegalStateException if two live documents have the same id
     */
    static LiveDocuments of(IndexReader reader, String idField) throws IOException {
        LiveDocuments rows = new LiveDocuments();
        for (LeafReaderContext segment : reader.leaves()) {
            NumericDocValues ids = DocValues.getNumeric(segment.reader(), idField);
            Bits live = segment.reader().getLiveDocs();
            for (int doc = ids.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = ids.nextDoc()) {
                if (live == null || live.get(doc)) {
                    rows.put(idField, ids.longValue(), segment.docBase + doc);
                }
            }
        }
        return rows;
    }

    private void put(String idField, long id, int document) {
        int other = documents.put(id, document);
        if (other != DocumentsById.NONE) {
            throw new IllegalStateException("live documents must differ in " + idField + ", got " + id
                    + " for documents " + other + " and " + document);
        }
    }

    /** The reader-wide number of a row's document, or -1 if it has no live document. */
    int document(long id) {
        return documents.get(id);
    }

    /** Allows every row with a live document. */
    IdFilter all() {
        return all;
    }

    /** Allows the rows whose live documents match a query. */
    IdFilter matching(Query rewritten, IndexSearcher searcher) throws IOException {
        FixedBitSet matching = new FixedBitSet(searcher.getIndexReader().maxDoc());
        Weight weight = searcher.createWeight(rewritten, ScoreMode.COMPLETE_NO_SCORES, 1);
        for (LeafReaderContext segment : searcher.getIndexReader().leaves()) {
            Scorer scorer = weight.scorer(segment);
            if (scorer != null) {
                DocIdSetIterator matches = scorer.iterator();
                for (int doc = matches.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = matches.nextDoc()) {
                    matching.set(segment.docBase + doc);
                }
            }
        }
        return IdFilter.of(id -> {
            int document = document(id);
            return document != DocumentsById.NONE && matching.get(document);
        });
    }
}
