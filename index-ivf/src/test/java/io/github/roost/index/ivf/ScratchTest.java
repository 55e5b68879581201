package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.memory.ScratchMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Searches of threads that live no longer than a search. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScratchTest {
    private static final int DIMENSION = 20;
    private static final int ROWS = 2_000;
    /** So many that the nearest are found by the centroids' bytes, where the kernel is faster with these. */
    private static final int NLIST = 128;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(60)))
            .build();

    private final float[][] rows = rows(new Random(3));

    private static float[][] rows(Random random) {
        return Stream.generate(() -> WholeNumbers.vector(DIMENSION, random))
                .limit(ROWS)
                .toArray(float[][]::new);
    }

    @AfterEach
    void close() {
        orchestrator.close();
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void aThreadPerSearchAllocatesNothingForIt(Kept kept) throws Exception {
        try (IvfTable table = kept.builder().nlist(NLIST).build(orchestrator, rows)) {
            SearchFunction<float[], SearchResult> here = table.searchFunction(10, 4);
            int searches = 2_000;
            List<Future<SearchResult>> answers = new ArrayList<>();
            long before = ScratchMemory.allocations();
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < searches; i++) {
                    float[] query = rows[i % ROWS];
                    answers.add(threads.submit(
                            i % 2 == 0
                                    ? () -> here.search(query, SearchContext.outside((nodes, bytes) -> {}))
                                    : () -> table.search(SearchRequest.of(query, 10)
                                                    .effort(4)
                                                    .filter(IdFilter.of(id -> id % 2 == 0)))
                                            .join()));
                }
            }
            for (Future<SearchResult> answer : answers) {
                assertThat(answer.get().size()).isPositive();
            }
            // A kind of scratch for each thread that may run at once has a handful of pieces, some of which grow.
            int running = Runtime.getRuntime().availableProcessors() + 2;
            assertThat(ScratchMemory.allocations() - before)
                    .isLessThan(Math.max(100, 100L * running))
                    .isLessThan(searches / 2);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void aFilterMaySearchTheTableThatAsksIt(Kept kept) {
        try (IvfTable table = kept.builder().nlist(4).build(orchestrator, Arrays.copyOf(rows, 200))) {
            LongPredicate searching =
                    id -> table.search(rows[(int) id], 1, 4).join().ids()[0] == id && id % 2 == 1;
            SearchResult found = table.search(
                            SearchRequest.of(rows[7], 5).effort(4).filter(IdFilter.of(searching)))
                    .join();
            SearchResult expected = table.search(
                            SearchRequest.of(rows[7], 5).effort(4).filter(IdFilter.of(id -> id % 2 == 1)))
                    .join();
            assertThat(found).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void filtersThatThrowCostNoScratch(Kept kept) {
        try (IvfTable table = kept.builder().nlist(4).build(orchestrator, Arrays.copyOf(rows, 200))) {
            table.search(SearchRequest.of(rows[0], 5).effort(4).filter(IdFilter.of(id -> true)))
                    .join();
            long before = ScratchMemory.allocations();
            for (int i = 0; i < 300; i++) {
                assertThatThrownBy(() -> table.search(
                                        SearchRequest.of(rows[0], 5).effort(4).filter(IdFilter.of(id -> {
                                            throw new IllegalStateException("filter");
                                        })))
                                .join())
                        .hasRootCauseMessage("filter");
            }
            assertThat(ScratchMemory.allocations() - before).isLessThan(100);
        }
    }
}
