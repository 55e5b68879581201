package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.testkit.lucene.PackageIndex;
import io.github.roost.testkit.lucene.Packages;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.SearcherFactory;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** The code that docs/guide/lucene.md shows stands here, and runs. */
@TestInstance(Lifecycle.PER_CLASS)
class LuceneGuideTest {
    private static final float[] QUERY = Packages.SOME.phrases().getFirst().vector();

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:2 pu:1").read())
            .build();

    private Directory directory;
    private DirectoryReader reader;

    @BeforeAll
    void open() throws IOException {
        directory = Packages.index();
        reader = DirectoryReader.open(directory);
    }

    @AfterAll
    void close() throws IOException {
        reader.close();
        orchestrator.close();
        directory.close();
    }

    static IndexWriterConfig inRoostFormat() {
        return new IndexWriterConfig().setCodec(new RoostCodec());
    }

    static IndexWriterConfig builtByWorkers(Orchestrator orchestrator) {
        GraphBuilds builds = GraphBuilds.on(orchestrator);
        return new IndexWriterConfig().setCodec(new RoostCodec(new RoostVectorsFormat(16, 100, builds)));
    }

    static Query nearest(float[] vector) {
        return new KnnFloatVectorQuery("vector", vector, 10, null, new SearchEffort(64));
    }

    @Test
    void vectorsInRoostFormatAreFound() throws IOException {
        areFound(inRoostFormat());
        areFound(builtByWorkers(orchestrator));
    }

    private static void areFound(IndexWriterConfig config) throws IOException {
        float[][] vectors = Packages.SOME.vectors();
        try (Directory written = new ByteBuffersDirectory()) {
            try (IndexWriter writer = new IndexWriter(written, config)) {
                for (float[] vector : vectors) {
                    Document document = new Document();
                    document.add(new KnnFloatVectorField("vector", vector));
                    writer.addDocument(document);
                }
                writer.forceMerge(1);
            }
            try (DirectoryReader found = DirectoryReader.open(written)) {
                TopDocs hits = new IndexSearcher(found).search(nearest(vectors[17]), 10);
                assertThat(hits.scoreDocs).hasSize(10);
                assertThat(hits.scoreDocs[0].score).isEqualTo(1);
            }
        }
    }

    static IndexSearcher searchedByRoost(Directory directory) throws IOException {
        return new IndexSearcher(RoostReader.over(DirectoryReader.open(directory)));
    }

    static IndexSearcher onWorkers(DirectoryReader reader, Orchestrator orchestrator) {
        Registration index = orchestrator.register("packages");
        return new IndexSearcher(reader, orchestrator.executor(index.id()));
    }

    static IndexSearcher atHome(DirectoryReader reader, Orchestrator orchestrator) throws IOException {
        return new SegmentHomes(orchestrator, "packages").searcher(reader);
    }

    static SearcherManager reopening(IndexWriter writer, Orchestrator orchestrator) throws IOException {
        SegmentHomes homes = new SegmentHomes(orchestrator, "packages");
        return new SearcherManager(homes.reader(DirectoryReader.open(writer)), new SearcherFactory() {
            @Override
            public IndexSearcher newSearcher(IndexReader next, @Nullable IndexReader previous) throws IOException {
                return homes.searcher((DirectoryReader) next);
            }
        });
    }

    static RoostTable vectorsOf(float[][] embeddings, long[] rows, Orchestrator orchestrator) {
        IvfTable table = IvfTable.builder().name("packages").build(orchestrator, rows, embeddings);
        return RoostTable.of(table, table.nlist() / 4, "row");
    }

    static TopDocs nearestPythonPackages(IndexSearcher searcher, RoostTable vectors, float[] query) throws IOException {
        Query python = new TermQuery(new Term("section", "python"));
        return searcher.search(new RoostKnnQuery(vectors, query, 10, python), 10);
    }

    @Test
    void allSearchersOfTheGuideFindTheSame() throws IOException {
        List<String> expected = meaning(new IndexSearcher(reader));
        assertThat(expected).hasSize(10);
        assertThat(meaning(onWorkers(reader, orchestrator))).isEqualTo(expected);
        assertThat(meaning(atHome(reader, orchestrator))).isEqualTo(expected);
        IndexSearcher ofRoost = searchedByRoost(directory);
        try (IndexReader closed = ofRoost.getIndexReader()) {
            assertThat(closed).isInstanceOf(RoostReader.class);
            assertThat(meaning(ofRoost)).hasSize(10).first().isEqualTo(expected.getFirst());
        }
        try (Directory written = Packages.index();
                IndexWriter writer = new IndexWriter(written, new IndexWriterConfig(new StandardAnalyzer()));
                SearcherManager manager = reopening(writer, orchestrator)) {
            IndexSearcher searcher = manager.acquire();
            assertThat(meaning(searcher)).isEqualTo(expected);
            manager.release(searcher);
        }
    }

    private static List<String> meaning(IndexSearcher searcher) throws IOException {
        return Arrays.stream(searcher.search(PackageIndex.meaning(QUERY, 10), 10).scoreDocs)
                .map(hit -> hit.doc + " " + hit.score)
                .toList();
    }

    @Test
    void theTableOfTheGuideFindsPythonPackages() throws IOException {
        long[] rows = new long[Packages.SOME.vectors().length];
        Arrays.setAll(rows, row -> row);
        RoostTable vectors = vectorsOf(Packages.SOME.vectors(), rows, orchestrator);
        TopDocs hits = nearestPythonPackages(atHome(reader, orchestrator), vectors, QUERY);
        // Rows are documents here: the index was written in their order.
        assertThat(hits.scoreDocs)
                .hasSize(10)
                .allSatisfy(
                        hit -> assertThat(Packages.SOME.packages().get(hit.doc).section())
                                .isEqualTo("python"));
    }
}
