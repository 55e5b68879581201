package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.testkit.lucene.PackageIndex;
import io.github.roost.testkit.lucene.Packages;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Words and meaning in one search, with segments at home. */
@TestInstance(Lifecycle.PER_CLASS)
class HybridTest {
    private static final int DEPTH = 50;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:2 pu:1").read())
            .build();

    private Directory directory;
    private DirectoryReader reader;
    private IndexSearcher searcher;

    @BeforeAll
    void open() throws IOException {
        directory = Packages.index();
        reader = DirectoryReader.open(directory);
        searcher = new SegmentHomes(orchestrator, "packages").searcher(reader);
    }

    @AfterAll
    void close() throws IOException {
        reader.close();
        orchestrator.close();
        directory.close();
    }

    @Test
    void whatIsRightByWordsAndByMeaningComesFirst() throws IOException {
        assertThat(byWords("edit video clips", 5)).contains("shotcut");
        assertThat(byMeaning("edit video clips", 3).indexOf("shotcut")).isEqualTo(2);
        assertThat(byBoth("edit video clips", 1)).containsExactly("shotcut");

        assertThat(byWords("encrypt a disk partition", 4).indexOf("cryptsetup-bin"))
                .isEqualTo(3);
        assertThat(byBoth("encrypt a disk partition", 1)).containsExactly("cryptsetup-bin");
    }

    @Test
    void meaningMakesUpForWordsThatMislead() throws IOException {
        String[] chess = {"ethereal-chess", "games-chess", "gnome-chess", "phalanx", "xboard"};
        assertThat(byWords("play chess against the computer", 5)).doesNotContain("xboard");
        assertThat(byBoth("play chess against the computer", 5)).containsExactlyInAnyOrder(chess);
    }

    @Test
    void aTableOfRoostMayBeTheMeaning() throws IOException {
        IvfTable table = IvfTable.builder().nlist(16).build(orchestrator, Packages.SOME.vectors());
        DebianPackages.Query phrase = phrase("play chess against the computer");
        Query near = new RoostKnnQuery(RoostTable.of(table, 16, PackageIndex.ROW), phrase.vector(), DEPTH);
        TopDocs hits = PackageIndex.fused(searcher, PackageIndex.words(phrase.text()), near, DEPTH, 5);
        assertThat(names(hits))
                .containsExactlyInAnyOrder("ethereal-chess", "games-chess", "gnome-chess", "phalanx", "xboard");
    }

    @Test
    void theScoreIsTheSumOfReciprocalRanks() throws IOException {
        for (DebianPackages.Query phrase : Packages.SOME.phrases()) {
            Map<Integer, Double> expected = new HashMap<>();
            for (Query query :
                    List.of(PackageIndex.words(phrase.text()), PackageIndex.meaning(phrase.vector(), DEPTH))) {
                ScoreDoc[] ranking = searcher.search(query, DEPTH).scoreDocs;
                for (int rank = 1; rank <= ranking.length; rank++) {
                    expected.merge(ranking[rank - 1].doc, 1.0 / (60 + rank), Double::sum);
                }
            }
            List<Double> best = expected.values().stream()
                    .sorted((one, other) -> Double.compare(other, one))
                    .toList();
            ScoreDoc[] hits = fused(phrase, 10).scoreDocs;
            assertThat(hits).hasSize(10);
            for (int i = 0; i < hits.length; i++) {
                assertThat((double) hits[i].score)
                        .isCloseTo(expected.get(hits[i].doc), within(1e-6))
                        .isCloseTo(best.get(i), within(1e-6));
            }
        }
    }

    private List<String> byWords(String text, int k) throws IOException {
        return names(searcher.search(PackageIndex.words(text), k));
    }

    private List<String> byMeaning(String text, int k) throws IOException {
        return names(searcher.search(PackageIndex.meaning(phrase(text).vector(), k), k));
    }

    private List<String> byBoth(String text, int k) throws IOException {
        return names(fused(phrase(text), k));
    }

    private TopDocs fused(DebianPackages.Query phrase, int k) throws IOException {
        Query meaning = PackageIndex.meaning(phrase.vector(), DEPTH);
        return PackageIndex.fused(searcher, PackageIndex.words(phrase.text()), meaning, DEPTH, k);
    }

    private static DebianPackages.Query phrase(String text) {
        return Packages.SOME.phrases().stream()
                .filter(phrase -> phrase.text().equals(text))
                .findFirst()
                .orElseThrow();
    }

    private List<String> names(TopDocs hits) throws IOException {
        List<String> names = new ArrayList<>();
        for (ScoreDoc hit : hits.scoreDocs) {
            names.add(searcher.storedFields().document(hit.doc).get(PackageIndex.NAME));
        }
        return names;
    }
}
