package io.github.roost.index.hnsw.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.Effort;
import io.github.roost.vector.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every search against the one in Java, over random graphs; scans against sorting. */
class GraphSearcherTest {
    private static final GraphSearcher ORACLE = GraphSearchers.available().getLast();

    private static final SearchScratch SCRATCH = SearchScratch.take();

    private record Hits(List<Integer> nodes, List<Float> distances, long computed) {
        static Hits of(SearchScratch scratch) {
            List<Integer> nodes = new ArrayList<>();
            List<Float> distances = new ArrayList<>();
            for (int i = 0; i < scratch.size(); i++) {
                nodes.add(scratch.node(i));
                distances.add(scratch.distance(i));
            }
            return new Hits(nodes, distances, scratch.computed());
        }
    }

    static List<GraphSearcher> searchers() {
        return GraphSearchers.available();
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void everySearchFindsTheSameAtBitEqualDistances(GraphSearcher searcher) {
        Random random = new Random(1);
        for (int trial = 0; trial < Effort.times(60); trial++) {
            Metric metric = trial % 3 == 0 ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
            boolean coded = trial % 5 < 3;
            int dimension = 1 + random.nextInt(coded ? 300 : 70);
            GraphImage image = image(metric, coded, dimension, 1 + random.nextInt(400), random);
            NodeSet allowed = trial % 2 == 0 ? NodeSet.ALL : some(image, random);
            int width = 1 + random.nextInt(60);
            float[] query = vector(image.shape().dimension(), random);
            if (trial % 4 == 0) {
                // Then the other weights must be of two or three parts; if they differ by more, they are zeros.
                query[random.nextInt(query.length)] *= trial % 12 == 0 ? 1_000 : trial % 12 == 4 ? 1e6f : 1e37f;
            }

            Hits expected = search(ORACLE, image, query, width, allowed);
            assertThat(search(searcher, image, query, width, allowed))
                    .describedAs("%s, trial %d", searcher.name(), trial)
                    .isEqualTo(expected);
            int from = random.nextInt(image.shape().nodes());
            expected = scan(ORACLE, image, query, width, allowed, from);
            assertThat(scan(searcher, image, query, width, allowed, from)).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aScanFindsTheNearestOfTheAllowed(GraphSearcher searcher) {
        Random random = new Random(2);
        GraphImage image = image(Metric.SQUARED_L2, false, 19, 333, random);
        NodeSet allowed = some(image, random);
        float[] query = vector(19, random);
        Integer[] expected = IntStream.range(0, 333)
                .filter(allowed::contains)
                .boxed()
                .sorted((a, b) -> Double.compare(squaredL2(image, a, query), squaredL2(image, b, query)))
                .limit(25)
                .toArray(Integer[]::new);
        Hits found = scan(searcher, image, query, 25, allowed, 0);
        assertThat(found.nodes()).containsExactly(expected);
        assertThat(found.computed()).isEqualTo(allowed.size());
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aScanForSeveralQueriesFindsWhatAScanForEachFinds(GraphSearcher searcher) {
        Random random = new Random(11);
        for (int trial = 0; trial < Effort.times(60); trial++) {
            Metric metric = trial % 3 == 0 ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
            GraphImage image = image(metric, false, 1 + random.nextInt(150), 1 + random.nextInt(300), random);
            NodeSet allowed = offHeap(image, SCRATCH, trial % 2 == 0 ? NodeSet.ALL : some(image, random));
            int width = 1 + random.nextInt(30);
            float[][] queries = new float[1 + random.nextInt(21)][];
            GroupScratch group = GroupScratch.take();
            group.begin(image, queries.length, width);
            for (int query = 0; query < queries.length; query++) {
                queries[query] = vector(image.shape().dimension(), random);
                group.query(query).setQuery(queries[query]);
            }
            int compared = searcher.scanTogether(image, group, allowed, () -> {});
            for (int query = 0; query < queries.length; query++) {
                Hits expected = scan(ORACLE, image, queries[query], width, allowed, 0);
                GraphSearcher.Found found = group.found(query);
                List<Integer> nodes = new ArrayList<>();
                List<Float> distances = new ArrayList<>();
                for (int i = 0; i < found.size(); i++) {
                    nodes.add(found.node(i));
                    distances.add(found.distance(i));
                }
                assertThat(new Hits(nodes, distances, compared))
                        .describedAs("%s, trial %d, query %d", searcher.name(), trial, query)
                        .isEqualTo(expected);
            }
            group.giveBack();
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aSearchLeavesNoMarksForTheNext(GraphSearcher searcher) {
        Random random = new Random(3);
        GraphImage image = image(Metric.SQUARED_L2, true, 8, 300, random);
        float[] query = vector(8, random);
        Hits first = search(searcher, image, query, 20, NodeSet.ALL);
        assertThat(search(searcher, image, query, 20, NodeSet.ALL)).isEqualTo(first);
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void howASearchIsCutDoesNotChangeWhatItFinds(GraphSearcher searcher) {
        Random random = new Random(6);
        for (int trial = 0; trial < Effort.times(60); trial++) {
            Metric metric = trial % 3 == 0 ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
            boolean coded = trial % 2 == 0;
            GraphImage image = image(metric, coded, 1 + random.nextInt(100), 1 + random.nextInt(400), random);
            NodeSet allowed = offHeap(image, SCRATCH, trial % 4 < 2 ? NodeSet.ALL : some(image, random));
            int nodes = image.shape().nodes();
            int width = 1 + random.nextInt(2 * nodes);
            float[] query = vector(image.shape().dimension(), random);
            int budget = GraphSearcher.TILE * (1 + random.nextInt(6));

            SearchScratch scratch = begin(image, query, width);
            int pieces = 1;
            while (!searcher.searchOn(image, scratch, width, 1 + width / 2, allowed, budget)) {
                pieces++;
            }
            Hits inPieces = Hits.of(scratch);
            assertThat(inPieces)
                    .describedAs("%s, trial %d", searcher.name(), trial)
                    .isEqualTo(search(ORACLE, image, query, width, allowed));
            assertThat(pieces * (budget + budget / 4.0 + GraphSearcher.TILE))
                    .isGreaterThanOrEqualTo((double) inPieces.computed());

            int from = random.nextInt(nodes);
            scratch = begin(image, query, width);
            pieces = 1;
            while (!searcher.scanOn(image, scratch, width, allowed, from, nodes, budget)) {
                pieces++;
            }
            inPieces = Hits.of(scratch);
            assertThat(inPieces).isEqualTo(scan(ORACLE, image, query, width, allowed, from));
            assertThat((long) pieces * budget).isGreaterThanOrEqualTo(inPieces.computed());
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aSearchThatScansFindsWhatTheScanOfVectorsFinds(GraphSearcher searcher) {
        Random random = new Random(8);
        for (int trial = 0; trial < Effort.times(60); trial++) {
            Metric metric = trial % 3 == 0 ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
            GraphImage image = image(metric, true, 1 + random.nextInt(100), 1 + random.nextInt(400), random);
            NodeSet allowed = offHeap(image, SCRATCH, trial % 4 == 0 ? NodeSet.ALL : some(image, random));
            int width = image.shape().nodes();
            float[] query = vector(image.shape().dimension(), random);
            int budget = GraphSearcher.TILE * (1 + random.nextInt(6));

            SearchScratch scratch = begin(image, query, width);
            scratch.scan();
            int pieces = 1;
            while (!searcher.searchOn(image, scratch, width, width, allowed, budget)) {
                pieces++;
            }
            Hits found = Hits.of(scratch);
            Hits expected = scan(ORACLE, image, query, width, allowed, 0);
            assertThat(found.nodes()).isEqualTo(expected.nodes());
            assertThat(found.distances()).isEqualTo(expected.distances());
            // Once by code and once by vector.
            assertThat(found.computed()).isEqualTo(2 * expected.computed());
            assertThat((long) pieces * (budget + budget)).isGreaterThanOrEqualTo(found.computed());
            // Narrow, it finds the same as in Java.
            int narrow = 1 + random.nextInt(width);
            begin(image, query, narrow).scan();
            searcher.search(image, SCRATCH, narrow, 1 + narrow / 2, allowed, () -> {});
            Hits nearest = Hits.of(SCRATCH);
            begin(image, query, narrow).scan();
            ORACLE.search(image, SCRATCH, narrow, 1 + narrow / 2, allowed, () -> {});
            assertThat(nearest).isEqualTo(Hits.of(SCRATCH));
            // The next search follows links again.
            assertThat(search(searcher, image, query, narrow, allowed))
                    .isEqualTo(search(ORACLE, image, query, narrow, allowed));
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aSearchThatIsNoLongerWantedEndsSoonAndLeavesNoMarks(GraphSearcher searcher) {
        Random random = new Random(7);
        for (boolean coded : new boolean[] {false, true}) {
            GraphImage image = image(Metric.SQUARED_L2, coded, 40, 5_000, random);
            float[] query = vector(40, random);
            int width = 5_000;
            Hits expected = search(ORACLE, image, query, width, NodeSet.ALL);
            AtomicInteger requested = new AtomicInteger();
            searcher.search(image, begin(image, query, width), width, width, NodeSet.ALL, requested::incrementAndGet);
            int pieces = requested.get() + 1;
            assertThat(pieces).isGreaterThan(10);
            // At every point at which a search can be ended, whatever it is at.
            for (int end = 1; end < pieces; end += end < 20 ? 1 : 7) {
                SearchScratch scratch = begin(image, query, width);
                AtomicInteger left = new AtomicInteger(end);
                CancellationException unwanted = new CancellationException("enough");
                assertThatThrownBy(() -> searcher.search(image, scratch, width, width, NodeSet.ALL, () -> {
                            if (left.decrementAndGet() == 0) {
                                throw unwanted;
                            }
                        }))
                        .isSameAs(unwanted);
                assertThat(left).hasValue(0);
                for (int node = 0; node < image.shape().nodes(); node++) {
                    assertThat(scratch.isVisited(node)).isFalse();
                }
            }
            assertThat(search(searcher, image, query, width, NodeSet.ALL)).isEqualTo(expected);
        }
    }

    @Test
    void aPieceIsShortWhateverTheRowsAre() {
        GraphSearcher searcher = GraphSearchers.preferred();
        for (int dimension = 1; dimension <= 4_096; dimension++) {
            long rowBytes = dimension * (long) Float.BYTES;
            int budget = searcher.budget(rowBytes);
            assertThat(budget % GraphSearcher.TILE).isZero();
            assertThat(budget).isBetween(GraphSearcher.TILE, 384);
            assertThat(budget * rowBytes).isLessThanOrEqualTo(192 << 10);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -4, 3, 6})
    void aBudgetIsOfWholeTiles(int budget) {
        GraphImage image = image(Metric.SQUARED_L2, false, 8, 10, new Random(4));
        for (GraphSearcher searcher : GraphSearchers.available()) {
            SearchScratch scratch = begin(image, new float[8], 1);
            assertThatThrownBy(() -> searcher.searchOn(image, scratch, 1, 1, NodeSet.ALL, budget))
                    .hasMessageContaining("multiple of 4")
                    .hasMessageEndingWith("got " + budget);
        }
    }

    @Test
    void aSearchThatFailsLeavesNoMarksForTheNext() {
        Random random = new Random(5);
        // So few that searches begin at node 0.
        GraphImage image = image(Metric.SQUARED_L2, false, 8, 15, random);
        image.setNeighbors(0, 0, new int[] {3, 4}, 2);
        float[] query = vector(8, random);
        Hits expected = search(ORACLE, image, query, 15, NodeSet.ALL);
        image.setNeighbors(0, 0, new int[] {3, Integer.MAX_VALUE}, 2);
        assertThatThrownBy(() -> search(ORACLE, image, query, 15, NodeSet.ALL))
                .isInstanceOf(DamagedImageException.class);
        image.setNeighbors(0, 0, new int[] {3, 4}, 2);
        assertThat(search(ORACLE, image, query, 15, NodeSet.ALL)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"-1, 5", "3, 2", "0, 11"})
    void nodesOutsideTheTableAreRefused(int from, int to) {
        GraphImage image = image(Metric.SQUARED_L2, false, 8, 10, new Random(4));
        for (GraphSearcher searcher : GraphSearchers.available()) {
            assertThatThrownBy(() -> searcher.scanOn(image, SCRATCH.begin(image, 1), 1, NodeSet.ALL, from, to, 64))
                    .hasMessageContaining("nodes must be within 0 and 10");
        }
    }

    private static Hits search(GraphSearcher searcher, GraphImage image, float[] query, int width, NodeSet allowed) {
        SearchScratch scratch = begin(image, query, width);
        searcher.search(image, scratch, width, 1 + width / 2, offHeap(image, scratch, allowed), () -> {});
        return Hits.of(scratch);
    }

    private static Hits scan(
            GraphSearcher searcher, GraphImage image, float[] query, int width, NodeSet allowed, int from) {
        SearchScratch scratch = begin(image, query, width);
        searcher.scan(
                image,
                scratch,
                width,
                offHeap(image, scratch, allowed),
                from,
                image.shape().nodes(),
                () -> {});
        return Hits.of(scratch);
    }

    private static NodeSet offHeap(GraphImage image, SearchScratch scratch, NodeSet set) {
        return scratch.both(image, set, NodeSet.ALL, () -> {});
    }

    private static SearchScratch begin(GraphImage image, float[] query, int width) {
        SearchScratch scratch = SCRATCH.begin(image, width);
        scratch.setQuery(query);
        return scratch;
    }

    /** A graph of random neighbors: what a search finds in it is arbitrary, but the same for all. */
    private static GraphImage image(Metric metric, boolean coded, int dimension, int nodes, Random random) {
        int degree = 2 + random.nextInt(12);
        int upperDegree = 1 + random.nextInt(6);
        int[] levelCounts = nodes < 20 ? new int[0] : new int[] {nodes / 5, nodes / 20};
        GraphImage image = GraphImage.allocate(
                new GraphImage.Shape(metric, coded, dimension, degree, upperDegree, nodes, nodes, 0, 0, levelCounts));
        for (int node = 0; node < nodes; node++) {
            image.setVector(node, vector(dimension, random));
            setNeighbors(image, 0, node, nodes, random);
            image.setId(node, node);
        }
        for (int layer = 1; layer <= levelCounts.length; layer++) {
            for (int node = 0; node < levelCounts[layer - 1]; node++) {
                setNeighbors(image, layer, node, levelCounts[layer - 1], random);
            }
        }
        image.encode(() -> {});
        return image;
    }

    private static void setNeighbors(GraphImage image, int layer, int node, int nodes, Random random) {
        int[] neighbors =
                random.ints(random.nextInt(image.degree(layer) + 1), 0, nodes).toArray();
        image.setNeighbors(layer, node, neighbors, neighbors.length);
    }

    private static NodeSet some(GraphImage image, Random random) {
        boolean[] members = new boolean[image.shape().nodes()];
        for (int node = 0; node < members.length; node++) {
            members[node] = random.nextInt(3) == 0;
        }
        return NodeSet.of(members.length, node -> members[node]);
    }

    /** Few different values, so that distances tie. */
    private static float[] vector(int dimension, Random random) {
        float[] values = new float[dimension];
        for (int i = 0; i < dimension; i++) {
            values[i] = random.nextBoolean() ? random.nextInt(4) : (float) random.nextGaussian();
        }
        return values;
    }

    private static double squaredL2(GraphImage image, int node, float[] query) {
        float[] vector = new float[query.length];
        image.vector(node, vector);
        double sum = 0;
        for (int i = 0; i < query.length; i++) {
            double difference = query[i] - (double) vector[i];
            sum += difference * difference;
        }
        return sum;
    }

    /** A quarter more than the most nodes of a graph is no positive int. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1_000, 1_717_986_919, Integer.MAX_VALUE - 8})
    void aScratchHasRoomForUpToTheMostNodesOfAGraph(int nodes) {
        assertThat(SearchScratch.roomFor(nodes)).isGreaterThanOrEqualTo(nodes);
    }
}
