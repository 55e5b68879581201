package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.Random;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class MeasuredRecallTest {
    private static final int K = 10;
    private static final int DIMENSION = 24;
    /** Nearer to the target recall of .9 than what the sample of rows leads to. */
    private static final double NEARLY = .85;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read())
            .recallShare(.1)
            .recallAlarm(.9)
            .build();
    private final float[][] rows = gaussian(2_000, DIMENSION, new Random(1));
    /** A poor graph. */
    private final HnswTable table = HnswTable.builder()
            .layout(GraphLayout.FLOAT32)
            .m(3)
            .efConstruction(10)
            .build(orchestrator, rows);
    /** Queries unlike the rows: far away from all. */
    private final float[][] queries = gaussian(40, DIMENSION, new Random(2));

    MeasuredRecallTest() {
        for (float[] query : queries) {
            query[0] += 8;
        }
    }

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private void search(SearchRequest options, Predicate<Registration.@Nullable Recall> until)
            throws InterruptedException {
        do {
            for (float[] query : queries) {
                var _ = table.search(with(options, query)).join();
                Thread.sleep(1);
            }
        } while (!until.test(table.stats().recall()));
    }

    private static SearchRequest with(SearchRequest options, float[] query) {
        SearchRequest request = SearchRequest.of(query, options.k());
        return Double.isNaN(options.targetRecall())
                ? request.effort(options.effortOr(K))
                : request.targetRecall(options.targetRecall());
    }

    private double recall(SearchRequest options) {
        ExactSearch exact = new ExactSearch(rows);
        double hits = 0;
        for (float[] query : queries) {
            SearchResult found = table.search(with(options, query)).join();
            hits += ExactSearch.hits(exact.search(query, K), found);
        }
        return hits / K / queries.length;
    }

    @Test
    void aLowEffortRaisesTheAlarmAndAHighOneClearsIt() throws InterruptedException {
        SearchRequest narrow = SearchRequest.of(queries[0], K).effort(K);
        assertThat(recall(narrow)).isLessThan(.8);
        search(narrow, measured -> measured != null && measured.alarm());
        search(narrow.effort(1_000), measured -> measured != null && !measured.alarm());
    }

    @Test
    void queriesUnlikeTheRowsReachTheirTargetRecallAfterAWhile() throws InterruptedException {
        SearchRequest target = SearchRequest.of(queries[0], K).targetRecall(.9);
        double before = recall(target);
        assertThat(before).isLessThan(.82);
        search(target, measured -> recall(target) > NEARLY);
    }
}
