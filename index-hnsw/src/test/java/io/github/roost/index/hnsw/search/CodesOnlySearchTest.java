package io.github.roost.index.hnsw.search;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.index.hnsw.graph.CodedRows;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every search of images that have codes and no vectors, against the one in Java. */
class CodesOnlySearchTest {
    private static final GraphSearcher ORACLE = GraphSearchers.available().getLast();
    private static final int DEGREE = 8;
    private static final int LABELS = 10_000;

    private record Hits(List<Integer> ordinals, List<Float> distances, long computed) {}

    static List<GraphSearcher> searchers() {
        return GraphSearchers.available();
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void everySearchFindsTheSameUnderAFilterByLabel(GraphSearcher searcher) throws IOException {
        Random random = new Random(11);
        for (int trial = 0; trial < 100; trial++) {
            Metric metric = trial % 3 == 0 ? Metric.INNER_PRODUCT : Metric.SQUARED_L2;
            int degree = trial % 4 == 0 ? 0 : DEGREE;
            GraphImage image = image(metric, 1 + random.nextInt(200), 1 + random.nextInt(300), degree, random);
            BitSet allowed = labels(random);
            float[] query = gaussian(image.shape().dimension(), random);
            int width = 1 + random.nextInt(40);

            Hits expected = search(ORACLE, image, query, width, allowed, Integer.MAX_VALUE);
            assertThat(search(searcher, image, query, width, allowed, Integer.MAX_VALUE))
                    .describedAs("%s, trial %d", searcher.name(), trial)
                    .isEqualTo(expected);
            assertThat(expected.ordinals()).allMatch(ordinal -> allowed.get(labelOf(ordinal)));
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aSearchThatIsEndedListsWhatItHasFoundAndLeavesNoMarks(GraphSearcher searcher) throws IOException {
        Random random = new Random(12);
        for (int degree : new int[] {DEGREE, 0}) {
            GraphImage image = image(Metric.SQUARED_L2, 20, 2_000, degree, random);
            float[] query = gaussian(20, random);
            Hits all = search(searcher, image, query, 100, null, Integer.MAX_VALUE);
            for (int pieces = 1; pieces < 30; pieces++) {
                Hits some = search(searcher, image, query, 100, null, pieces);
                assertThat(some.computed()).isLessThan(all.computed());
                assertThat(some.distances()).isSorted();
            }
            assertThat(search(searcher, image, query, 100, null, Integer.MAX_VALUE))
                    .isEqualTo(all);
        }
    }

    /** Also under a filter whose bits are indexed by label. */
    @ParameterizedTest
    @MethodSource("searchers")
    void withoutLinksAllAllowedNodesAreCompared(GraphSearcher searcher) throws IOException {
        Random random = new Random(15);
        GraphImage image = image(Metric.SQUARED_L2, 20, 1_000, 0, random);
        BitSet allowed = labels(random);
        float[] query = gaussian(20, random);
        Hits all = search(searcher, image, query, 1_000, null, Integer.MAX_VALUE);
        assertThat(all.ordinals()).hasSize(1_000).doesNotHaveDuplicates();
        assertThat(search(searcher, image, query, 1_000, allowed, Integer.MAX_VALUE)
                        .ordinals())
                .isEqualTo(all.ordinals().stream()
                        .filter(ordinal -> allowed.get(labelOf(ordinal)))
                        .toList());
        assertThat(search(searcher, image, query, 10, null, Integer.MAX_VALUE).ordinals())
                .isEqualTo(all.ordinals().subList(0, 10));
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aNeighborThatIsNoNodeIsAnErrorAndTheNextSearchIsRight(GraphSearcher searcher) throws IOException {
        Random random = new Random(13);
        float[] query = gaussian(20, random);
        GraphImage whole = image(Metric.SQUARED_L2, 20, 500, DEGREE, random);
        Hits expected = search(ORACLE, whole, query, 500, null, Integer.MAX_VALUE);
        for (int level : new int[] {0, 1, 2}) {
            GraphImage damaged = image(Metric.SQUARED_L2, 20, 500, DEGREE, random);
            for (int wrong : new int[] {damaged.nodes(level), Integer.MAX_VALUE}) {
                for (int node = 0; node < damaged.nodes(level); node++) {
                    damaged.setNeighbors(level, node, new int[] {1, wrong}, 2);
                }
                assertThatThrownBy(() -> search(searcher, damaged, query, 500, null, Integer.MAX_VALUE))
                        .isInstanceOf(DamagedImageException.class);
                assertThat(search(searcher, whole, query, 500, null, Integer.MAX_VALUE))
                        .isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("searchers")
    void aLabelThatNoFilterHasIsAnError(GraphSearcher searcher) throws IOException {
        Random random = new Random(14);
        float[] query = gaussian(20, random);
        BitSet all = new BitSet();
        all.set(0, LABELS);
        for (int degree : new int[] {DEGREE, 0}) {
            GraphImage image = image(Metric.SQUARED_L2, 20, 500, degree, random);
            for (int wrong : new int[] {LABELS, Integer.MAX_VALUE, -1}) {
                for (int node = 0; node < 500; node++) {
                    image.setOrdinalAndLabel(node, node, wrong);
                }
                assertThatThrownBy(() -> search(searcher, image, query, 10, all, Integer.MAX_VALUE))
                        .isInstanceOf(DamagedImageException.class);
            }
        }
    }

    /** @param pieces after which the search is ended */
    private static Hits search(
            GraphSearcher searcher, GraphImage image, float[] query, int width, @Nullable BitSet allowed, int pieces) {
        SearchScratch scratch = SearchScratch.take();
        boolean through = false;
        try {
            scratch.begin(image, width);
            scratch.setQuery(query);
            NodeSet set = NodeSet.ALL;
            if (allowed != null) {
                long[] words = Arrays.copyOf(allowed.toLongArray(), LABELS / Long.SIZE + 1);
                set = NodeSet.ofLabels(words, LABELS, scratch);
            }
            int left = pieces;
            while (!searcher.searchOn(image, scratch, width, width, set, GraphSearcher.TILE)) {
                if (--left == 0) {
                    searcher.endSearch(scratch);
                }
            }
            through = true;
            return hits(image, scratch);
        } finally {
            if (!through) {
                scratch.abandon();
            }
            scratch.giveBack();
        }
    }

    private static Hits hits(GraphImage image, SearchScratch scratch) {
        List<Integer> ordinals = new ArrayList<>();
        List<Float> distances = new ArrayList<>();
        for (int i = 0; i < scratch.size(); i++) {
            ordinals.add(image.ordinal(scratch.node(i)));
            distances.add(scratch.distance(i));
        }
        return new Hits(ordinals, distances, scratch.computed());
    }

    private static int labelOf(int ordinal) {
        return 7 * ordinal + 3;
    }

    /** @param degree max neighbors of a node; 0 for no links */
    private static GraphImage image(Metric metric, int dimension, int nodes, int degree, Random random)
            throws IOException {
        int[] levelCounts = nodes < 50 || degree == 0 ? new int[0] : new int[] {nodes / 5, nodes / 20};
        GraphImage image = GraphImage.allocate(new GraphImage.Shape(
                metric, GraphImage.Content.CODES, dimension, degree, degree / 2, nodes, nodes, 0, 0, levelCounts));
        float[][] vectors = new float[nodes][];
        for (int node = 0; node < nodes; node++) {
            vectors[node] = gaussian(dimension, random);
        }
        try (CodedRows codes = CodedRows.ofFloats(
                "test",
                metric,
                dimension,
                nodes,
                (row, into) -> System.arraycopy(vectors[row], 0, into, 0, dimension),
                false,
                () -> {})) {
            codes.copyCenter(image);
            for (int node = 0; node < nodes; node++) {
                codes.copy(node, image, node);
                image.setOrdinalAndLabel(node, node, labelOf(node));
            }
        }
        for (int layer = 0; layer <= levelCounts.length; layer++) {
            for (int node = 0; node < image.nodes(layer); node++) {
                int[] neighbors =
                        random.ints(image.degree(layer), 0, image.nodes(layer)).toArray();
                image.setNeighbors(layer, node, neighbors, neighbors.length);
            }
        }
        return image;
    }

    private static BitSet labels(Random random) {
        BitSet labels = new BitSet();
        int share = 1 + random.nextInt(5);
        for (int label = 0; label < LABELS; label++) {
            labels.set(label, random.nextInt(share) == 0);
        }
        return labels;
    }
}
