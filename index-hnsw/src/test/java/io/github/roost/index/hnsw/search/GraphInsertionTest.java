package io.github.roost.index.hnsw.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Insertion by one thread against the one in Java, and by several against what must hold of every graph. */
class GraphInsertionTest {
    /** Components so small that all sums are exact, in whatever order, and so are codes. */
    private static final int MAX = 100;

    /** Every native search, with vectors and with codes. */
    static List<Arguments> natives() {
        return GraphSearchers.available().stream()
                .filter(searcher -> searcher instanceof NativeSearch)
                .flatMap(searcher -> Stream.of(Arguments.of(searcher, false), Arguments.of(searcher, true)))
                .toList();
    }

    private static float[][] rows(int count, int dimension, Random random) {
        float[][] rows = new float[count][dimension];
        for (float[] row : rows) {
            for (int i = 0; i < dimension; i++) {
                row[i] = random.nextInt(-MAX, MAX + 1);
            }
        }
        return rows;
    }

    private static int[] levelCounts(int nodes, int m) {
        return IntStream.iterate(nodes / m, count -> count > 0, count -> count / m)
                .toArray();
    }

    private static GraphInsertion begun(
            GraphSearcher searcher, boolean coded, float[][] rows, int m, int width, float maxCover) {
        GraphInsertion graph = new GraphInsertion(
                searcher, rows[0].length, m, width, maxCover, rows.length, levelCounts(rows.length, m), coded);
        for (int node = 0; node < rows.length; node++) {
            graph.setVector(node, rows[node]);
        }
        graph.encode(() -> {});
        return graph;
    }

    private static List<List<Integer>> lists(GraphInsertion graph) {
        List<List<Integer>> lists = new ArrayList<>();
        for (int level = 0; level <= graph.image.levels(); level++) {
            int[] into = new int[graph.image.degree(level)];
            for (int node = 0; node < graph.image.nodes(level); node++) {
                int count = graph.neighbors(level, node, into);
                lists.add(Arrays.stream(into, 0, count).boxed().toList());
            }
        }
        return lists;
    }

    @ParameterizedTest
    @MethodSource("natives")
    void oneThreadMakesTheGraphOfTheInsertionInJava(GraphSearcher searcher, boolean coded) {
        Random random = new Random(1);
        for (int trial = 0; trial < 12; trial++) {
            float[][] rows = rows(1 + random.nextInt(500), 1 + random.nextInt(24), random);
            int m = 2 + random.nextInt(9);
            int width = 1 + random.nextInt(200);
            float maxCover = trial % 3 == 0 ? 1 : 1.5f;
            JavaInsertion oracle = new JavaInsertion(rows, levelCounts(rows.length, m), m, width, maxCover);
            try (GraphInsertion graph = begun(searcher, coded, rows, m, width, maxCover)) {
                for (int node = 0; node < rows.length; node++) {
                    graph.insert(node, () -> {});
                    oracle.insert(node);
                }
                assertThat(lists(graph)).describedAs("trial %d", trial).isEqualTo(oracle.lists());
                IntStream.range(0, rows.length).forEach(graph::trim);
                oracle.trim();
                assertThat(lists(graph)).describedAs("trial %d", trial).isEqualTo(oracle.lists());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("natives")
    void whatSeveralThreadsInsertTogetherIsLinkedByTrueDistancesAndFound(GraphSearcher searcher, boolean coded)
            throws Exception {
        float[][] rows = rows(4_000, 16, new Random(2));
        int m = 4;
        int threads = 4;
        try (GraphInsertion graph = begun(searcher, coded, rows, m, 40, 1.2f);
                ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            AtomicInteger next = new AtomicInteger();
            for (; next.get() < 64; next.getAndIncrement()) {
                graph.insert(next.get(), () -> {});
            }
            CyclicBarrier together = new CyclicBarrier(threads);
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                running.add(pool.submit(() -> {
                    together.await();
                    for (int node = next.getAndIncrement(); node < rows.length; node = next.getAndIncrement()) {
                        graph.insert(node, () -> {});
                    }
                    return null;
                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
            requireWhole(graph, rows);
            assertThat(recall(graph, rows, searcher)).isGreaterThan(.9);
        }
    }

    private static void requireWhole(GraphInsertion graph, float[][] rows) {
        for (int level = 0; level <= graph.image.levels(); level++) {
            for (int node = 0; node < graph.image.nodes(level); node++) {
                List<Integer> seen = new ArrayList<>();
                for (int i = 0; i < graph.image.degree(level) && graph.image.neighbor(level, node, i) >= 0; i++) {
                    int other = graph.image.neighbor(level, node, i);
                    assertThat(other).isNotEqualTo(node).isLessThan(graph.image.nodes(level));
                    assertThat(graph.length(level, node, i))
                            .describedAs("layer %d, node %d, neighbor %d", level, node, other)
                            .isEqualTo(JavaInsertion.distance(rows[node], rows[other]));
                    seen.add(other);
                }
                assertThat(seen).doesNotHaveDuplicates();
                assertThat(seen.isEmpty()).isEqualTo(graph.image.nodes(level) == 1);
            }
        }
    }

    /** The share of rows that a search for them finds. */
    private static double recall(GraphInsertion graph, float[][] rows, GraphSearcher searcher) {
        SearchScratch scratch = SearchScratch.take();
        int found = 0;
        for (float[] row : rows) {
            scratch.begin(graph.image, 20);
            scratch.setQuery(row);
            searcher.search(graph.image, scratch, 20, 20, NodeSet.ALL, () -> {});
            found += scratch.size() > 0 && scratch.distance(0) == 0 ? 1 : 0;
        }
        scratch.giveBack();
        return (double) found / rows.length;
    }

    @ParameterizedTest
    @MethodSource("natives")
    void anInsertionThatIsCutIsTheSame(GraphSearcher searcher, boolean coded) {
        float[][] rows = rows(300, 600, new Random(3));
        try (GraphInsertion graph = begun(searcher, coded, rows, 8, 50, 1);
                GraphInsertion other = begun(searcher, coded, rows, 8, 50, 1)) {
            AtomicInteger pieces = new AtomicInteger();
            SearchScratch between = SearchScratch.take();
            for (int node = 0; node < rows.length; node++) {
                graph.insert(node, () -> {
                    // What runs between two pieces may search, too, in memory of its own.
                    if (pieces.incrementAndGet() % 100 == 0) {
                        between.begin(graph.image, 5);
                        searcher.search(graph.image, between, 5, 5, NodeSet.ALL, () -> {});
                    }
                });
                other.insert(node, () -> {});
            }
            between.giveBack();
            assertThat(pieces).hasValueGreaterThan(rows.length * 2);
            assertThat(lists(graph)).isEqualTo(lists(other));
        }
    }

    @ParameterizedTest
    @MethodSource("natives")
    void anInsertionThatIsCancelledLeavesNoMarkForTheNextSearch(GraphSearcher searcher, boolean coded) {
        float[][] rows = rows(300, 600, new Random(4));
        try (GraphInsertion graph = begun(searcher, coded, rows, 8, 50, 1);
                GraphInsertion next = begun(searcher, coded, rows, 8, 50, 1);
                GraphInsertion expected = begun(searcher, coded, rows, 8, 50, 1)) {
            for (int node = 0; node < 200; node++) {
                graph.insert(node, () -> {});
            }
            for (int cancelledAfter = 0; cancelledAfter < (coded ? 5 : 20); cancelledAfter++) {
                AtomicInteger left = new AtomicInteger(cancelledAfter);
                assertThatThrownBy(() -> graph.insert(200, () -> {
                            if (left.getAndDecrement() == 0) {
                                throw new CancellationException();
                            }
                        }))
                        .isInstanceOf(CancellationException.class);
            }
            for (int node = 0; node < rows.length; node++) {
                next.insert(node, () -> {});
                expected.insert(node, () -> {});
            }
            assertThat(lists(next)).isEqualTo(lists(expected));
        }
    }

    /** Rows of which one is near to all others, and covers them. */
    @ParameterizedTest
    @MethodSource("natives")
    void everyNodeIsInSomeListThoughOneIsNearAllOthers(GraphSearcher searcher, boolean coded) {
        float[][] rows = rows(3_000, 24, new Random(4));
        rows[0] = new float[24];
        try (GraphInsertion graph = begun(searcher, coded, rows, 4, 60, 1)) {
            for (int node = 0; node < rows.length; node++) {
                graph.insert(node, () -> {});
            }
            IntStream.range(0, rows.length).forEach(graph::trim);
            assertThat(inLists(graph)).hasSizeLessThan(rows.length - 1);

            graph.linkRare(() -> {});

            requireWhole(graph, rows);
            assertThat(inLists(graph)).hasSizeGreaterThanOrEqualTo(rows.length - 1);
            assertThat(lists(graph)).allMatch(list -> list.size() <= 8);
        }
    }

    private static Set<Integer> inLists(GraphInsertion graph) {
        Set<Integer> all = new HashSet<>();
        int[] into = new int[graph.image.degree(0)];
        for (int node = 0; node < graph.image.shape().nodes(); node++) {
            int count = graph.neighbors(0, node, into);
            Arrays.stream(into, 0, count).forEach(all::add);
        }
        return all;
    }

    @Test
    void theSearchInJavaInsertsNothing() {
        assertThatThrownBy(() ->
                        new GraphInsertion(GraphSearchers.available().getLast(), 3, 4, 5, 1, 6, new int[0], false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("nodes are inserted by a native library, got the search in java");
    }
}
