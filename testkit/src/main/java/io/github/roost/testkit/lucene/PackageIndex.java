package io.github.roost.testkit.lucene;

import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.QueryBuilder;

/**
 * The Debian packages as a Lucene index, one document per package: name and synopsis as text, section as a term, embedding as a vector, and the
 * row in the data set, which identifies the package in tables outside Lucene. Also makes the queries for such an index.
 */
public final class PackageIndex {
    /** The package's name, stored and searched by words. */
    public static final String NAME = "name";
    /** The package's description, searched by words. */
    public static final String SYNOPSIS = "synopsis";
    /** Debian's section, one term. */
    public static final String SECTION = "section";
    /** The embedding, compared by Euclidean distance. */
    public static final String VECTOR = "vector";
    /** Row in the data set, as a doc value and as a term. */
    public static final String ROW = "row";

    /** The constant of reciprocal rank fusion that Cormack et al. (2009) found to suit many collections. */
    private static final int FUSION_CONSTANT = 60;

    private static final QueryBuilder WORDS = new QueryBuilder(new StandardAnalyzer());

    private PackageIndex() {}

    /**
     * Writes an index of some segments of nearly equal size, without merging them.
     *
     * @param segments number of segments, at least 1
     * @param directory empty
     */
    public static void write(DebianPackages packages, int segments, Directory directory) throws IOException {
        int rows = packages.packages().size();
        Vectors.requireRange("segments", segments, 1, rows);
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer())
                .setMergePolicy(NoMergePolicy.INSTANCE)
                .setUseCompoundFile(false);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            int segment = 0;
            for (int row = 0; row < rows; row++) {
                writer.addDocument(document(packages, row));
                if ((row + 1L) * segments / rows > segment) {
                    segment++;
                    writer.flush();
                }
            }
        }
    }

    /** Makes the document of a row. */
    public static Document document(DebianPackages packages, int row) {
        DebianPackages.Package described = packages.packages().get(row);
        Document document = new Document();
        document.add(new TextField(NAME, described.name(), Store.YES));
        document.add(new TextField(SYNOPSIS, described.synopsis(), Store.NO));
        document.add(new StringField(SECTION, described.section(), Store.NO));
        document.add(new KnnFloatVectorField(VECTOR, packages.vectors()[row], VectorSimilarityFunction.EUCLIDEAN));
        document.add(new NumericDocValuesField(ROW, row));
        document.add(new StringField(ROW, Integer.toString(row), Store.NO));
        return document;
    }

    /** The term that identifies a row's document, for deletion. */
    public static Term row(int row) {
        return new Term(ROW, Integer.toString(row));
    }

    /** A query for the packages of a section. */
    public static Query section(String name) {
        return new TermQuery(new Term(SECTION, name));
    }

    /** A query for the k packages with the nearest embeddings. */
    public static Query meaning(float[] embedding, int k) {
        return new KnnFloatVectorQuery(VECTOR, embedding, k);
    }

    /** A query for packages whose name or synopsis has some of the words, scored by BM25. */
    public static Query words(String text) {
        Query inSynopsis = WORDS.createBooleanQuery(SYNOPSIS, text);
        Query inName = WORDS.createBooleanQuery(NAME, text);
        if (inSynopsis == null || inName == null) {
            return new MatchNoDocsQuery("no words in \"" + text + "\"");
        }
        return new BooleanQuery.Builder()
                .add(inSynopsis, Occur.SHOULD)
                .add(inName, Occur.SHOULD)
                .build();
    }

    /**
     * The best hits by words and by meaning: two searches, merged by reciprocal rank fusion, since a BM25 score and a distance have no common
     * scale.
     *
     * @param meaning a vector query, such as {@link #meaning}
     * @param depth number of hits taken from each search, at least k
     * @param k number of hits to return
     */
    public static TopDocs fused(IndexSearcher searcher, Query words, Query meaning, int depth, int k)
            throws IOException {
        List<TopDocs> rankings = List.of(searcher.search(words, depth), searcher.search(meaning, depth));
        return TopDocs.rrf(k, FUSION_CONSTANT, rankings.toArray(TopDocs[]::new));
    }
}
