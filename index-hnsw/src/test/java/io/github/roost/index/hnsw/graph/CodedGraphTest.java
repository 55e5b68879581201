package io.github.roost.index.hnsw.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Graphs of exact neighbors over random vectors, against sorting. */
class CodedGraphTest {
    private static final int DIMENSION = 24;
    private static final int ROWS = 1_500;
    private static final int DEGREE = 16;
    private static final Path NAME = Path.of("segment.vex");

    private static final float[][] FLOATS = vectors(new Random(5));
    private static final BuiltGraph EXACT = new Exact(FLOATS);

    @ParameterizedTest
    @EnumSource(Metric.class)
    void aSearchFindsTheNearest(Metric metric) throws IOException {
        Graph graph = open(write(metric), metric);
        Random random = new Random(6);
        int hits = 0;
        for (int i = 0; i < 100; i++) {
            float[] query = vector(random);
            List<Integer> found = search(graph, query, 300, null, Long.MAX_VALUE);
            hits += (int) nearest(metric, query, new BitSet(), 10).stream()
                    .filter(found::contains)
                    .count();
        }
        assertThat(hits).isGreaterThan(950);
    }

    @Test
    void aFilterByLabelIsKept() throws IOException {
        Graph graph = open(write(Metric.SQUARED_L2), Metric.SQUARED_L2);
        BitSet excluded = new BitSet();
        for (int row = 0; row < ROWS; row += 2) {
            excluded.set(row);
        }
        BitSet allowed = new BitSet();
        IntStream.range(0, ROWS).filter(row -> !excluded.get(row)).forEach(row -> allowed.set(label(row)));
        Random random = new Random(7);
        int hits = 0;
        for (int i = 0; i < 50; i++) {
            float[] query = vector(random);
            List<Integer> found = search(graph, query, 300, allowed, Long.MAX_VALUE);
            assertThat(found).noneMatch(excluded::get);
            hits += (int) nearest(Metric.SQUARED_L2, query, excluded, 10).stream()
                    .filter(found::contains)
                    .count();
        }
        assertThat(hits).isGreaterThan(450);
    }

    @Test
    void aSearchThatIsEndedGivesWhatItHasFound() throws IOException {
        Graph graph = open(write(Metric.SQUARED_L2), Metric.SQUARED_L2);
        float[] query = vector(new Random(8));
        int all = search(graph, query, 500, null, Long.MAX_VALUE).size();
        for (int max = 1; max < 100; max += 7) {
            List<Integer> found = search(graph, query, 500, null, max);
            assertThat(found).hasSizeBetween(0, max + max / 4 + 4).doesNotHaveDuplicates();
        }
        assertThat(search(graph, query, 500, null, Long.MAX_VALUE)).hasSize(all);
    }

    /** What a filter allows is far from the query, so that the search visits most nodes and is repeated. */
    @Test
    void theBytesOfASearchCoverTheNodesThatItVisited() throws IOException {
        Graph graph = open(write(Metric.SQUARED_L2), Metric.SQUARED_L2);
        BitSet far = new BitSet();
        IntStream.range(0, ROWS).filter(row -> FLOATS[row][0] > 1.2).forEach(row -> far.set(label(row)));
        float[] query = vector(new Random(12));
        query[0] = -9;
        long fixed = GraphSearch.bytes(0, 4, 0);
        for (int limit : new int[] {50, 300, ROWS}) {
            long visited = visited(graph, query, 4, far, limit);
            assertThat(GraphSearch.bytes(ROWS, 4, limit) - fixed).isGreaterThan(12 * visited + ROWS / 8);
        }
        assertThat(visited(graph, query, 4, far, ROWS)).isGreaterThan(ROWS / 3);
        long nearby = visited(graph, vector(new Random(13)), 4, null, Long.MAX_VALUE);
        assertThat(GraphSearch.bytes(ROWS, 4, Integer.MAX_VALUE) - fixed).isGreaterThan(12 * nearby + ROWS / 8);
        assertThat(GraphSearch.bytes(100_000_000, 64, Integer.MAX_VALUE) - GraphSearch.bytes(100_000_000, 64, 0))
                .as("a search without a filter does not visit all of a large graph")
                .isLessThan(1_000_000);
    }

    /** The nodes visited by a search and its repetition. */
    private static long visited(Graph graph, float[] query, int width, @Nullable BitSet allowed, long max)
            throws FileFormatException {
        long[] words = allowed == null ? null : Arrays.copyOf(allowed.toLongArray(), label(ROWS) / Long.SIZE + 1);
        long most = 0;
        int next = width;
        for (int repetition = 0; repetition < 2; repetition++) {
            try (GraphSearch search = graph.search(query, next, words, label(ROWS))) {
                while (!search.advance(Math.max(1, max - search.visited()))) {
                    if (search.visited() >= max) {
                        search.end();
                    }
                }
                most = Math.max(most, search.visited());
            }
            next = graph.wider(next);
        }
        return most;
    }

    @Test
    void aSearchThatWasEndedBeforeItBeganFindsNothing() throws IOException {
        Graph graph = open(write(Metric.SQUARED_L2), Metric.SQUARED_L2);
        try (GraphSearch search = graph.search(vector(new Random(9)), 10, null, 0)) {
            search.end();
            assertThat(search.advance(1)).isTrue();
            assertThat(search.size()).isZero();
        }
    }

    @Test
    void bytesAreTheirOwnCodes() throws IOException {
        Random random = new Random(10);
        float[][] bytes = new float[ROWS][DIMENSION];
        for (float[] row : bytes) {
            for (int i = 0; i < DIMENSION; i++) {
                row[i] = (byte) random.nextInt();
            }
        }
        MemorySegment written;
        try (CodedRows rows = CodedRows.ofBytes(
                Metric.SQUARED_L2,
                DIMENSION,
                ROWS,
                (row, into) -> System.arraycopy(bytes[row], 0, into, 0, DIMENSION),
                () -> {})) {
            written = write(rows, new Exact(bytes));
        }
        Graph graph = open(written, Metric.SQUARED_L2);
        float[] query = bytes[17].clone();
        assertThat(search(graph, query, 20, null, Long.MAX_VALUE).getFirst()).isEqualTo(17);
    }

    @Test
    void theGraphIsTheOneThatWasWritten() throws IOException {
        Graph graph = open(write(Metric.SQUARED_L2), Metric.SQUARED_L2);
        BuiltGraph links = EXACT;
        assertThat(graph.nodes()).isEqualTo(ROWS);
        assertThat(graph.levels()).isEqualTo(links.levels());
        assertThat(graph.ordinal(0)).isEqualTo(links.entry());
        for (int level = 0; level <= graph.levels(); level++) {
            for (int node = 0; node < graph.nodes(level); node++) {
                int[] expected = new int[DEGREE];
                int count = links.neighbors(level, graph.ordinal(node), expected);
                List<Integer> found = new ArrayList<>();
                for (int i = 0; i < graph.degree(level) && graph.neighbor(level, node, i) >= 0; i++) {
                    found.add(graph.ordinal(graph.neighbor(level, node, i)));
                }
                assertThat(found)
                        .containsExactlyElementsOf(Arrays.stream(expected)
                                .limit(Math.min(count, graph.degree(level)))
                                .boxed()
                                .toList());
            }
        }
    }

    @Test
    void somethingElseIsNotOpened() throws IOException {
        MemorySegment written = write(Metric.SQUARED_L2);
        assertNotOpened(written.asSlice(0, 100), Metric.SQUARED_L2, DIMENSION, ROWS, "100 bytes long");
        assertNotOpened(
                written.asSlice(0, written.byteSize() - 8), Metric.SQUARED_L2, DIMENSION, ROWS, "its head says");
        assertNotOpened(written, Metric.INNER_PRODUCT, DIMENSION, ROWS, "under SQUARED_L2, it must be");
        assertNotOpened(written, Metric.SQUARED_L2, DIMENSION + 1, ROWS, "of 24 components");
        assertNotOpened(written, Metric.SQUARED_L2, DIMENSION, ROWS - 1, "1,500 vectors");
        assertNotOpened(Arena.ofAuto().allocate(8_192, 8), Metric.SQUARED_L2, DIMENSION, ROWS, "begins with");
    }

    /** Whatever one number of the head becomes, the graph is refused or can be searched: the JVM goes on. */
    @Test
    void aHeadThatWasChangedIsRefusedOrHarmless() throws IOException {
        MemorySegment written = write(Metric.SQUARED_L2);
        float[] query = vector(new Random(11));
        int[] values = {0, 1, -1, 2, 64, ROWS + 1, Integer.MAX_VALUE, Integer.MIN_VALUE};
        for (long at = 0; at < 256; at += Integer.BYTES) {
            int was = written.get(ValueLayout.JAVA_INT, at);
            for (int value : values) {
                written.set(ValueLayout.JAVA_INT, at, value);
                try {
                    search(open(written, Metric.SQUARED_L2), query, 20, null, Long.MAX_VALUE);
                } catch (FileFormatException refused) {
                    assertThat(refused).hasMessageContaining(NAME.toString());
                }
            }
            written.set(ValueLayout.JAVA_INT, at, was);
        }
        assertThat(search(open(written, Metric.SQUARED_L2), query, 20, null, Long.MAX_VALUE))
                .hasSize(20);
    }

    /** The same for everything behind the head, which is not read when the graph is opened. */
    @Test
    void whatWasChangedBehindTheHeadIsAnErrorOrHarmless() throws IOException {
        Random random = new Random(12);
        int errors = 0;
        for (int trial = 0; trial < 100; trial++) {
            MemorySegment written = write(Metric.SQUARED_L2);
            for (int i = 0; i < 200; i++) {
                long at = 4_096 + random.nextLong(written.byteSize() - 4_096);
                written.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
            }
            BitSet allowed = new BitSet();
            allowed.set(0, label(ROWS));
            try {
                search(
                        open(written, Metric.SQUARED_L2),
                        vector(random),
                        100,
                        trial % 2 == 0 ? null : allowed,
                        Long.MAX_VALUE);
            } catch (FileFormatException refused) {
                errors++;
            }
        }
        assertThat(errors).isBetween(1, 100);
    }

    private void assertNotOpened(MemorySegment memory, Metric metric, int dimension, int nodes, String message) {
        assertThatThrownBy(() -> Graph.open(NAME, memory, metric, dimension, nodes))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining(message);
    }

    private static Graph open(MemorySegment written, Metric metric) throws FileFormatException {
        return Graph.open(NAME, written, metric, DIMENSION, ROWS);
    }

    private @Nullable MemorySegment plain;

    /** A copy of what is written for a metric, to change. */
    private MemorySegment write(Metric metric) throws IOException {
        if (plain == null || metric != Metric.SQUARED_L2) {
            try (CodedRows rows =
                    CodedRows.ofFloats("test", metric, DIMENSION, ROWS, CodedGraphTest::copy, false, () -> {})) {
                plain = write(rows, EXACT);
            }
        }
        MemorySegment copy = Arena.ofAuto().allocate(plain.byteSize(), 64);
        copy.copyFrom(plain);
        return copy;
    }

    private static MemorySegment write(CodedRows rows, BuiltGraph links) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        Graph graph = Graph.of(links, DEGREE, rows, row -> row, CodedGraphTest::label, Arena.ofAuto());
        long bytes = graph.write(piece -> {
            byte[] array = new byte[piece.remaining()];
            piece.get(array);
            file.writeBytes(array);
        });
        MemorySegment memory = Arena.ofAuto().allocate(bytes, 64);
        memory.copyFrom(MemorySegment.ofArray(file.toByteArray()));
        return memory;
    }

    private static int label(int row) {
        return 3 * row + 1;
    }

    private static void copy(int row, float[] into) {
        System.arraycopy(FLOATS[row], 0, into, 0, into.length);
    }

    /** The ordinals found, nearest first by code. */
    private static List<Integer> search(Graph graph, float[] query, int width, @Nullable BitSet allowed, long max)
            throws FileFormatException {
        long[] words = allowed == null ? null : Arrays.copyOf(allowed.toLongArray(), label(ROWS) / Long.SIZE + 1);
        try (GraphSearch search = graph.search(query, width, words, label(ROWS))) {
            while (!search.advance(Math.max(1, max - search.visited()))) {
                if (search.visited() >= max) {
                    search.end();
                }
            }
            List<Integer> found = new ArrayList<>();
            for (int i = 0; i < search.size(); i++) {
                found.add(search.ordinal(i));
            }
            return found;
        }
    }

    private static List<Integer> nearest(Metric metric, float[] query, BitSet excluded, int k) {
        return IntStream.range(0, ROWS)
                .filter(row -> !excluded.get(row))
                .boxed()
                .sorted((a, b) ->
                        Double.compare(distance(metric, query, FLOATS[a]), distance(metric, query, FLOATS[b])))
                .limit(k)
                .toList();
    }

    private static double distance(Metric metric, float[] a, float[] b) {
        double squared = 0;
        double product = 0;
        for (int i = 0; i < a.length; i++) {
            squared += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
            product += (double) a[i] * b[i];
        }
        return metric == Metric.INNER_PRODUCT ? -product : squared;
    }

    private static float[][] vectors(Random random) {
        float[][] all = new float[ROWS][];
        Arrays.setAll(all, row -> vector(random));
        return all;
    }

    /** Of length 1, under which all metrics mean something. */
    private static float[] vector(Random random) {
        float[] values = new float[DIMENSION];
        double squares = 0;
        for (int i = 0; i < DIMENSION; i++) {
            values[i] = (float) random.nextGaussian();
            squares += (double) values[i] * values[i];
        }
        for (int i = 0; i < DIMENSION; i++) {
            values[i] /= (float) Math.sqrt(squares);
        }
        return values;
    }

    /** Half of the neighbors are the nearest rows of the layer, the others any rows of it. */
    private static final class Exact implements BuiltGraph {
        private final int[][][] lists = new int[3][ROWS][];

        Exact(float[][] vectors) {
            Random random = new Random(13);
            for (int level = 0; level < lists.length; level++) {
                int[] rows = rows(level);
                for (int row : rows) {
                    List<Integer> nearest = IntStream.of(rows)
                            .filter(other -> other != row)
                            .boxed()
                            .sorted((a, b) -> Double.compare(
                                    distance(Metric.SQUARED_L2, vectors[row], vectors[a]),
                                    distance(Metric.SQUARED_L2, vectors[row], vectors[b])))
                            .limit(DEGREE / 2)
                            .toList();
                    int[] list = new int[DEGREE];
                    for (int i = 0; i < list.length; i++) {
                        list[i] = i < nearest.size() ? nearest.get(i) : rows[random.nextInt(rows.length)];
                    }
                    lists[level][row] = list;
                }
            }
        }

        @Override
        public int levels() {
            return lists.length - 1;
        }

        @Override
        public int entry() {
            return 0;
        }

        @Override
        public int[] rows(int level) {
            int step = level == 0 ? 1 : level == 1 ? 10 : 100;
            return IntStream.iterate(0, row -> row < ROWS, row -> row + step).toArray();
        }

        @Override
        public int neighbors(int level, int row, int[] into) {
            int[] list = lists[level][row];
            System.arraycopy(list, 0, into, 0, list.length);
            return list.length;
        }
    }
}
