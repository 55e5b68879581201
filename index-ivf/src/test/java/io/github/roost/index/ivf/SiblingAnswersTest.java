package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.testkit.Asking;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What depends on the answer of one query may wait for that of another that shared its scans. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SiblingAnswersTest {
    private static final int DIMENSION = 20;
    private static final int NLIST = 4;

    /** Either may be the first of its group. */
    static Stream<Arguments> keptAndWaiting() {
        return Arrays.stream(Kept.values())
                .flatMap(kept -> Stream.of(0, 1).map(waiting -> Arguments.of(kept, waiting)));
    }

    @ParameterizedTest
    @MethodSource("keptAndWaiting")
    void anActionThatDependsOnOneAnswerMayWaitForAnother(Kept kept, int waiting) throws Exception {
        Random random = new Random(7);
        float[][] rows = Stream.generate(() -> WholeNumbers.vector(DIMENSION, random))
                .limit(200)
                .toArray(float[][]::new);
        Orchestrator one = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .build();
        try {
            IvfTable table = kept.builder().nlist(NLIST).build(one, rows);
            BusyWorker busy = new BusyWorker(one, table);
            List<CompletableFuture<SearchResult>> answers = Asking.all(table, List.of(rows[3], rows[3]), 5, NLIST);
            CompletableFuture<SearchResult> other = answers.get(1 - waiting);
            CompletableFuture<SearchResult> both = answers.get(waiting).thenApply(ownAnswer -> other.join());
            // Before this all lists wait for the worker, so the queries lie in the same batch queues.
            busy.close();
            assertThat(both.get(5, TimeUnit.SECONDS))
                    .isEqualTo(answers.get(waiting).get(5, TimeUnit.SECONDS));
        } finally {
            // Not for long: a worker that waits for itself waits for ever.
            one.close(Duration.ofSeconds(1));
        }
    }
}
