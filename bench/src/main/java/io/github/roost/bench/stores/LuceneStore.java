package io.github.roost.bench.stores;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.jspecify.annotations.Nullable;

/** An index of Lucene with its default graphs, stored fields, and a commit per call. */
final class LuceneStore implements TextStore {
    /** Lucene logs its vector instructions. Strong reference, since an unreferenced logger loses its level. */
    private static final Logger LOG = Logger.getLogger("org.apache.lucene");

    private static final String ID = "id";
    private static final String TEXT = "text";
    private static final String VECTOR = "vector";

    private final Directory directory;
    private final IndexWriter writer;
    private final SearcherManager searchers;

    LuceneStore(Path folder) throws IOException {
        LOG.setLevel(Level.WARNING);
        this.directory = new MMapDirectory(folder);
        this.writer = new IndexWriter(directory, new IndexWriterConfig());
        this.searchers = new SearcherManager(writer, null);
    }

    @Override
    public void add(List<StoredText> added) throws IOException {
        for (StoredText each : added) {
            Document document = new Document();
            document.add(new StringField(ID, each.id(), Field.Store.YES));
            document.add(new StoredField(TEXT, each.text()));
            document.add(new StringField(StoredText.TENANT, each.tenant(), Field.Store.YES));
            document.add(new StringField(StoredText.SOURCE, each.source(), Field.Store.YES));
            document.add(new IntField(StoredText.PAGE, each.page(), Field.Store.YES));
            document.add(new KnnFloatVectorField(VECTOR, each.vector(), VectorSimilarityFunction.DOT_PRODUCT));
            writer.updateDocument(new Term(ID, each.id()), document);
        }
        writer.commit();
        searchers.maybeRefreshBlocking();
    }

    @Override
    public int[] search(float[] vector, int query, Condition condition, int effort) throws IOException {
        IndexSearcher searcher = searchers.acquire();
        try {
            ScoreDoc[] hits = searcher.search(
                            new KnnFloatVectorQuery(VECTOR, vector, effort, filter(condition, query)), K)
                    .scoreDocs;
            StoredFields fields = searcher.storedFields();
            int[] found = new int[hits.length];
            for (int i = 0; i < hits.length; i++) {
                found[i] = TextNumbers.of(fields.document(hits[i].doc).get(ID));
            }
            return found;
        } finally {
            searchers.release(searcher);
        }
    }

    private static @Nullable Query filter(Condition condition, int query) {
        int value = condition.value(query);
        return switch (condition) {
            case ALL -> null;
            case PAGES -> IntField.newRangeQuery(StoredText.PAGE, 0, value - 1);
            case TENANT -> new TermQuery(new Term(StoredText.TENANT, StoredText.tenant(value)));
            case SOURCE -> new TermQuery(new Term(StoredText.SOURCE, StoredText.source(value)));
        };
    }

    @Override
    public List<Integer> efforts() {
        return List.of(K, 20, 40, 80, 160, 320, 640);
    }

    @Override
    public int size() throws IOException {
        IndexSearcher searcher = searchers.acquire();
        try {
            return searcher.count(MatchAllDocsQuery.INSTANCE);
        } finally {
            searchers.release(searcher);
        }
    }

    @Override
    public void close() throws IOException {
        searchers.close();
        writer.close();
        directory.close();
    }
}
