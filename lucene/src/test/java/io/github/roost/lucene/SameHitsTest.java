package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.lucene.PackageIndex;
import io.github.roost.testkit.lucene.Packages;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A search finds the same with the same scores, whoever runs it. */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SameHitsTest {
    private static final int QUERIES = 150;
    private static final int K = 10;

    private final Topology machine =
            TopologyReader.synthetic("pack:1 l3:2 core:2 pu:1").read();

    private Directory directory;
    private DirectoryReader reader;
    private Orchestrator orchestrator;

    @BeforeAll
    void open() throws IOException {
        directory = Packages.index();
        reader = DirectoryReader.open(directory);
        orchestrator = Orchestrator.builder().topology(machine).build();
    }

    @AfterAll
    void close() throws IOException {
        orchestrator.close();
        reader.close();
        directory.close();
    }

    /** What Lucene does where it is given nothing to run on. */
    private IndexSearcher plain() {
        return new IndexSearcher(reader);
    }

    /** The ways onto Roost's workers. */
    enum Way {
        EXECUTOR {
            @Override
            IndexSearcher open(DirectoryReader reader, Orchestrator orchestrator) {
                return new IndexSearcher(
                        reader,
                        orchestrator.executor(orchestrator.register("packages").id()));
            }
        },
        SEGMENTS_AT_HOME {
            @Override
            IndexSearcher open(DirectoryReader reader, Orchestrator orchestrator) throws IOException {
                return new SegmentHomes(orchestrator, "packages").searcher(reader);
            }
        };

        abstract IndexSearcher open(DirectoryReader reader, Orchestrator orchestrator) throws IOException;
    }

    @Test
    void theIndexHasAsManySegmentsAsAskedFor() {
        assertThat(reader.leaves()).hasSize(Packages.SEGMENTS);
        assertThat(reader.numDocs()).isEqualTo(Packages.SOME.packages().size());
        assertThat(reader.leaves())
                .allSatisfy(leaf -> assertThat(leaf.reader().maxDoc())
                        .isBetween(reader.maxDoc() / Packages.SEGMENTS, reader.maxDoc() / Packages.SEGMENTS + 1));
    }

    @ParameterizedTest
    @EnumSource
    void vectorsFindTheSame(Way way) throws IOException {
        assertSame(way.open(reader, orchestrator), queries().map(query -> PackageIndex.meaning(query.vector(), K)));
    }

    @ParameterizedTest
    @EnumSource
    void filteredVectorsFindTheSame(Way way) throws IOException {
        assertSame(
                way.open(reader, orchestrator),
                queries()
                        .map(query -> new KnnFloatVectorQuery(
                                PackageIndex.VECTOR, query.vector(), K, PackageIndex.section("python"))));
    }

    @ParameterizedTest
    @EnumSource
    void wordsFindTheSame(Way way) throws IOException {
        assertSame(way.open(reader, orchestrator), queries().map(query -> PackageIndex.words(query.text())));
    }

    @ParameterizedTest
    @EnumSource
    void wordsAndVectorsInOneQueryFindTheSame(Way way) throws IOException {
        assertSame(way.open(reader, orchestrator), queries().map(query -> (Query) new BooleanQuery.Builder()
                .add(PackageIndex.words(query.text()), Occur.SHOULD)
                .add(PackageIndex.meaning(query.vector(), K), Occur.SHOULD)
                .build()));
    }

    private static Stream<DebianPackages.Query> queries() {
        List<DebianPackages.Query> queries = Packages.SOME.queries();
        int step = queries.size() / QUERIES;
        return Stream.concat(
                IntStream.range(0, QUERIES).mapToObj(i -> queries.get(i * step)), Packages.SOME.phrases().stream());
    }

    private void assertSame(IndexSearcher searcher, Stream<? extends Query> queries) throws IOException {
        int found = 0;
        for (Query query : queries.toList()) {
            List<String> expected = hits(plain(), query);
            assertThat(hits(searcher, query)).as(query.toString()).isEqualTo(expected);
            found += expected.size();
        }
        assertThat(found).isGreaterThan(QUERIES * K / 2);
    }

    private static List<String> hits(IndexSearcher searcher, Query query) throws IOException {
        return Arrays.stream(searcher.search(query, K).scoreDocs)
                .map((ScoreDoc hit) -> hit.doc + " " + hit.score)
                .toList();
    }
}
