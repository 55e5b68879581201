package io.github.roost.index.hnsw.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.testkit.Effort;
import io.github.roost.vector.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every search by neighbors' codes against the one in Java, over random graphs; estimates against distances. */
class NeighborCodesTest {
    private static final GraphSearcher ORACLE = GraphSearchers.available().getLast();

    private static final SearchScratch SCRATCH = SearchScratch.take();

    private record Found(List<Integer> nodes, List<Float> distances, long computed, long expanded) {}

    static List<GraphSearcher> searchers() {
        return GraphSearchers.available();
    }

    private static float[] vector(int dimension, Random random) {
        float[] values = new float[dimension];
        for (int i = 0; i < dimension; i++) {
            values[i] = random.nextInt(4) == 0 ? random.nextInt(3) : (float) random.nextGaussian();
        }
        return values;
    }

    /** A graph of random neighbors, of one or two blocks. */
    private static GraphImage image(Metric metric, int dimension, int nodes, Random random) {
        int[] levelCounts = nodes < 20 ? new int[0] : new int[] {nodes / 5, nodes / 20};
        GraphImage image = GraphImage.allocate(new GraphImage.Shape(
                        metric, false, dimension, 8 + random.nextInt(40), 4, nodes, nodes, 0, 0, levelCounts)
                .withNeighborCodes());
        int length = NeighborCodes.length(dimension);
        MemorySegment rotated = Arena.ofAuto().allocate((long) nodes * length * Float.BYTES, Float.BYTES);
        for (int node = 0; node < nodes; node++) {
            float[] vector = new float[length];
            System.arraycopy(vector(dimension, random), 0, vector, 0, dimension);
            image.setVector(node, vector);
            image.setId(node, node);
            NeighborCodes.rotate(vector);
            MemorySegment.copy(vector, 0, rotated, ValueLayout.JAVA_FLOAT, (long) node * length * Float.BYTES, length);
            setNeighbors(image, 0, node, nodes, random);
        }
        for (int layer = 1; layer <= levelCounts.length; layer++) {
            for (int node = 0; node < levelCounts[layer - 1]; node++) {
                setNeighbors(image, layer, node, levelCounts[layer - 1], random);
            }
        }
        NeighborCodes.Writer writer = new NeighborCodes.Writer(image, rotated);
        for (int node = 0; node < nodes; node++) {
            writer.write(node);
        }
        return image;
    }

    private static void setNeighbors(GraphImage image, int layer, int node, int nodes, Random random) {
        int[] neighbors =
                random.ints(random.nextInt(image.degree(layer) + 1), 0, nodes).toArray();
        image.setNeighbors(layer, node, neighbors, neighbors.length);
    }

    private static SearchScratch begin(GraphImage image, float[] query, int width) {
        SearchScratch scratch = SCRATCH.begin(image, width);
        scratch.setQuery(query);
        return scratch;
    }

    private static Found found(SearchScratch scratch) {
        List<Integer> nodes = new ArrayList<>();
        List<Float> distances = new ArrayList<>();
        for (int i = 0; i < scratch.size(); i++) {
            nodes.add(scratch.node(i));
            distances.add(scratch.distance(i));
        }
        return new Found(nodes, distances, scratch.computed(), scratch.expanded());
    }

    private static Found search(
            GraphSearcher searcher, GraphImage image, float[] query, int width, NodeSet allowed, int budget) {
        SearchScratch scratch = begin(image, query, width);
        NodeSet readable = scratch.both(image, allowed, NodeSet.ALL, () -> {});
        boolean through = false;
        while (!through) {
            through = searcher.searchOn(image, scratch, width, width, readable, budget);
        }
        return found(scratch);
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void everySearchFindsTheSameHoweverItIsCut(GraphSearcher searcher) {
        Random random = new Random(81);
        for (int trial = 0; trial < Effort.times(60); trial++) {
            Metric metric = trial % 3 == 0 ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
            int dimension = 1 + random.nextInt(trial % 20 == 0 ? 1_100 : 200);
            GraphImage image = image(metric, dimension, 1 + random.nextInt(400), random);
            boolean[] members = new boolean[image.shape().nodes()];
            for (int node = 0; node < members.length; node++) {
                members[node] = random.nextInt(3) == 0;
            }
            NodeSet allowed = trial % 2 == 0 ? NodeSet.ALL : NodeSet.of(members.length, node -> members[node]);
            int width = 1 + random.nextInt(60);
            float[] query = vector(dimension, random);

            Found expected = search(ORACLE, image, query, width, allowed, 1 << 20);
            assertThat(search(searcher, image, query, width, allowed, GraphSearcher.TILE * (1 + random.nextInt(6))))
                    .describedAs("%s, trial %d", searcher.name(), trial)
                    .isEqualTo(expected);
            assertThat(search(searcher, image, query, width, allowed, 1 << 20)).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aSearchThatIsNoLongerWantedLeavesNothingForTheNext(GraphSearcher searcher) {
        Random random = new Random(82);
        GraphImage image = image(Metric.SQUARED_L2, 40, 3_000, random);
        float[] query = vector(40, random);
        Found expected = search(ORACLE, image, query, 500, NodeSet.ALL, 1 << 20);
        AtomicInteger pieces = new AtomicInteger();
        searcher.search(image, begin(image, query, 500), 500, 500, NodeSet.ALL, pieces::incrementAndGet);
        assertThat(pieces.get()).isGreaterThan(3);
        for (int end = 1; end <= pieces.get(); end++) {
            AtomicInteger left = new AtomicInteger(end);
            CancellationException unwanted = new CancellationException("enough");
            assertThatThrownBy(() -> searcher.search(image, begin(image, query, 500), 500, 500, NodeSet.ALL, () -> {
                        if (left.decrementAndGet() == 0) {
                            throw unwanted;
                        }
                    }))
                    .isSameAs(unwanted);
            assertThat(search(searcher, image, query, 500, NodeSet.ALL, 1 << 20))
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aNeighborThatIsNoNodeEndsASearchByName(GraphSearcher searcher) {
        GraphImage image = image(Metric.SQUARED_L2, 8, 15, new Random(83));
        image.setNeighbors(0, 0, new int[] {3, Integer.MAX_VALUE}, 2);
        assertThatThrownBy(() -> searcher.search(image, begin(image, new float[8], 15), 15, 15, NodeSet.ALL, () -> {}))
                .isInstanceOf(DamagedImageException.class);
        image.setNeighbors(0, 0, new int[] {3}, 1);
        assertThat(search(searcher, image, new float[8], 15, NodeSet.ALL, 64))
                .isEqualTo(search(ORACLE, image, new float[8], 15, NodeSet.ALL, 64));
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32, 48, 112, 128, 384, 960, 4_096})
    void aRotationKeepsLengthsAndSpreadsWhatIsInOneComponent(int length) {
        for (int component : new int[] {0, length / 2, length - 1}) {
            float[] values = new float[length];
            values[component] = 3;
            NeighborCodes.rotate(values);
            double squares = 0;
            double max = 0;
            for (float value : values) {
                squares += (double) value * value;
                max = Math.max(max, Math.abs(value));
            }
            assertThat(squares).isCloseTo(9, within(1e-3));
            assertThat(max).isLessThan(3 * 8 / Math.sqrt(length));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Metric.class,
            names = {"SQUARED_L2", "INNER_PRODUCT"})
    void estimatesAreDistancesButForASmallErrorToEitherSide(Metric metric) {
        Random random = new Random(84);
        int dimension = 200;
        GraphImage image = image(metric, dimension, 300, random);
        double error = 0;
        double squares = 0;
        int count = 0;
        for (int node = 0; node < 300; node++) {
            float[] query = vector(dimension, random);
            float distance = distance(image, node, query);
            NeighborCodes.Query codes = new NeighborCodes.Query(query, dimension);
            for (int i = 0; i < image.degree(0) && image.neighbor(0, node, i) >= 0; i++) {
                float[] estimates = codes.estimates(image, node, i / NeighborCodes.BLOCK, distance);
                double off = estimates[i % NeighborCodes.BLOCK] - distance(image, image.neighbor(0, node, i), query);
                error += off;
                squares += off * off;
                count++;
            }
        }
        // Two vectors are some 320 apart; an angle is told to within 1 / sqrt(200), and 3/4 of that.
        double scale = metric == Metric.SQUARED_L2 ? 320 : 160;
        assertThat(error / count).isCloseTo(0, within(.01 * scale));
        assertThat(Math.sqrt(squares / count)).isBetween(.02 * scale, .15 * scale);
    }

    private static float distance(GraphImage image, int node, float[] query) {
        float[] vector = new float[query.length];
        image.vector(node, vector);
        double sum = 0;
        for (int i = 0; i < query.length; i++) {
            double value = vector[i];
            sum += image.shape().metric() == Metric.INNER_PRODUCT
                    ? -query[i] * value
                    : (query[i] - value) * (query[i] - value);
        }
        return (float) sum;
    }

    @Test
    void degreesAreOfWholeBlocks() {
        GraphImage.Shape shape = new GraphImage.Shape(Metric.COSINE, false, 3, 33, 7, 5, 5, 0, 0, new int[0]);
        assertThat(shape.withNeighborCodes().degree()).isEqualTo(64);
        assertThat(shape.withNeighborCodes().stride() % 64).isZero();
    }
}
