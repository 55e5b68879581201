package io.github.roost.index.ivf.kernel;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kernel that this machine can run, against a scan written as plainly as can be. */
class ScanKernelTest {
    private record Row(long id, float distance) {}

    static List<ScanKernel> kernels() {
        return ScanKernels.available();
    }

    @Test
    void javaIsAlwaysThere() {
        assertThat(kernels()).extracting(ScanKernel::name).endsWith("java").doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void findsTheSameBitsAsThePlainScanInEveryDimension(ScanKernel kernel) {
        Random random = new Random(7);
        for (int dimension = 1; dimension <= 300; dimension += dimension < 40 ? 1 : 13) {
            for (Metric metric : Metric.values()) {
                float[][] rows = gaussian(1 + random.nextInt(70), dimension, random);
                float[][] queries = gaussian(1 + random.nextInt(9), dimension, random);
                int k = 1 + random.nextInt(20);
                List<Reservoir> found = scan(kernel, metric, rows, queries, k);
                for (int q = 0; q < queries.length; q++) {
                    assertThat(nearest(found.get(q)))
                            .as("%s, %s, dimension %d, %d rows, k %d", kernel.name(), metric, dimension, rows.length, k)
                            .isEqualTo(plainly(metric, rows, queries[q], k));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void takesTheLargestDimension(ScanKernel kernel) {
        Random random = new Random(8);
        float[][] rows = gaussian(9, 4096, random);
        float[][] queries = gaussian(5, 4096, random);
        List<Reservoir> found = scan(kernel, Metric.SQUARED_L2, rows, queries, 4);
        for (int q = 0; q < queries.length; q++) {
            assertThat(nearest(found.get(q))).isEqualTo(plainly(Metric.SQUARED_L2, rows, queries[q], 4));
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void amongEqualDistancesTheSmallestIdsStay(ScanKernel kernel) {
        float[][] rows = new float[50][3];
        float[][] queries = {{1, 2, 3}};
        long[] ids = new long[50];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = (i * 37L) % 50;
        }
        Reservoir reservoir =
                scan(kernel, Metric.SQUARED_L2, rows, ids, queries, 5).getFirst();
        assertThat(nearest(reservoir)).extracting(Row::id).containsExactly(0L, 1L, 2L, 3L, 4L);
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void whatIsDroppedOnTheWayIsNeverAmongTheNearest(ScanKernel kernel) {
        Random random = new Random(11);
        for (int wanted : new int[] {1, 2, 3, 10, 100, 999, 1_500}) {
            // From hardly a tie to nothing but ties, with negative distances too.
            for (int values : new int[] {1, 2, 50, 1 << 20}) {
                float[][] rows = new float[2_000][1];
                for (float[] row : rows) {
                    row[0] = random.nextInt(values) - values / 2;
                }
                float[][] queries = {{1}, {-3}, {.5f}, {7}, {2}};
                List<Reservoir> found = scan(kernel, Metric.INNER_PRODUCT, rows, queries, wanted);
                for (int q = 0; q < queries.length; q++) {
                    List<Row> nearest = plainly(Metric.INNER_PRODUCT, rows, queries[q], wanted);
                    assertThat(nearest(found.get(q)))
                            .as("%s, %d wanted, %d values", kernel.name(), wanted, values)
                            .isEqualTo(nearest);
                    assertThat(found.get(q).bound())
                            .isGreaterThanOrEqualTo(nearest.getLast().distance());
                    assertThat(found.get(q).size()).isLessThan(2 * wanted);
                }
            }
        }
    }

    /** As a scan meets a row that is being moved; a reservoir that ran over would write into the next query's. */
    @ParameterizedTest
    @MethodSource("kernels")
    void aRowThatIsMetAtSeveralPlacesDoesNotMakeAReservoirRunOver(ScanKernel kernel) {
        for (int wanted : new int[] {1, 2, 3, 8}) {
            int repeated = 2 * wanted;
            float[][] rows = new float[repeated + 300][1];
            long[] ids = new long[rows.length];
            for (int i = 0; i < rows.length; i++) {
                rows[i][0] = i < repeated ? 1_000 : 1_000 - i;
                ids[i] = i < repeated ? 7 : 100 + i;
            }
            List<Reservoir> found = scan(kernel, Metric.SQUARED_L2, rows, ids, new float[][] {{0}, {2_000}}, wanted);
            assertThat(nearest(found.get(0)))
                    .extracting(Row::id)
                    .as("%s, %d wanted", kernel.name(), wanted)
                    .containsExactlyElementsOf(LongStream.range(0, wanted)
                            .mapToObj(i -> 99L + rows.length - i)
                            .toList());
            assertThat(nearest(found.get(1)))
                    .extracting(Row::id)
                    .as("%s, %d wanted", kernel.name(), wanted)
                    .containsOnly(7L);
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void aRowWithoutANumberNeverGetsIn(ScanKernel kernel) {
        float[][] rows = {{Float.NaN, 0}, {1, 1}, {Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}};
        for (Metric metric : Metric.values()) {
            Reservoir reservoir =
                    scan(kernel, metric, rows, new float[][] {{1, 1}}, 3).getFirst();
            assertThat(nearest(reservoir)).extracting(Row::distance).doesNotContain(Float.NaN);
            assertThat(nearest(reservoir)).extracting(Row::id).contains(1L).doesNotContain(0L);
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void rowsBeyondTheBoundStayOutAndThoseOnItGetIn(ScanKernel kernel) {
        float[][] rows = {{1}, {2}, {3}};
        QueryGroup group = new QueryGroup();
        Reservoir reservoir = new Reservoir(3);
        group.begin(Metric.SQUARED_L2, 1, 3);
        group.add(new float[] {0}, reservoir, 4f);
        kernel.scan(run(rows, ordinals(3)), group);
        group.finish();
        assertThat(nearest(reservoir)).containsExactly(new Row(0, 1), new Row(1, 4));
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void aReservoirGoesOnWhereItsLastScanEnded(ScanKernel kernel) {
        Random random = new Random(9);
        float[][] rows = gaussian(40, 10, random);
        float[] query = gaussian(1, 10, random)[0];
        RowRun run = run(rows, ordinals(40));
        QueryGroup group = new QueryGroup();
        Reservoir reservoir = new Reservoir(6);
        for (RowRun part : List.of(run.slice(0, 17), run.slice(17, 17), run.slice(17, 40))) {
            group.begin(Metric.INNER_PRODUCT, 10, 6);
            group.add(query, reservoir, Float.POSITIVE_INFINITY);
            kernel.scan(part, group);
            group.finish();
        }
        assertThat(nearest(reservoir)).isEqualTo(plainly(Metric.INNER_PRODUCT, rows, query, 6));
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void everyHalfIsTheFloatThatItStandsFor(ScanKernel kernel) {
        int count = 1 << 16;
        MemorySegment vectors = Arena.ofAuto().allocate((long) count * 16 * Short.BYTES, 64);
        MemorySegment ids = Arena.ofAuto().allocate((long) count * Long.BYTES, 64);
        for (int bits = 0; bits < count; bits++) {
            vectors.setAtIndex(ValueLayout.JAVA_SHORT, bits * 16L + bits % 16, (short) bits);
            ids.setAtIndex(ValueLayout.JAVA_LONG, bits, bits);
        }
        float[] ones = new float[16];
        Arrays.fill(ones, 1);
        Reservoir reservoir = new Reservoir(count);
        QueryGroup group = new QueryGroup();
        group.begin(Metric.INNER_PRODUCT, 16, count);
        group.add(ones, reservoir, Float.POSITIVE_INFINITY);
        kernel.scan(new RowRun(vectors, ids, count, 16, Short.BYTES), group);
        group.finish();
        long[] found = reservoir.copyOfIds();
        float[] distances = reservoir.copyOfDistances();
        // All but those that are no number: of 10 bits any but 0, with either sign.
        assertThat(found).hasSize(count - 2 * 1_023).doesNotHaveDuplicates();
        for (int i = 0; i < found.length; i++) {
            assertThat(distances[i]).isEqualTo(0 - Float.float16ToFloat((short) found[i]));
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void pickedRowsHaveTheDistancesOfAScan(ScanKernel kernel) {
        Random random = new Random(10);
        RowPicks picks = new RowPicks();
        for (int dimension : new int[] {300, 1, 16, 17, 129}) {
            for (Metric metric : Metric.values()) {
                float[][] rows = gaussian(50, dimension, random);
                float[] query = gaussian(1, dimension, random)[0];
                long[] ids = random.longs(50).toArray();
                RowRun run = run(rows, ids);
                int[] order = random.ints(1 + random.nextInt(40), 0, 50).toArray();
                picks.begin(metric, query, order.length);
                for (int row : order) {
                    picks.add(run, row);
                }
                kernel.compare(picks);
                for (int i = 0; i < order.length; i++) {
                    assertThat(picks.copyOfDistances()[i]).isEqualTo(PlainScan.distance(metric, rows[order[i]], query));
                    assertThat(picks.copyOfIds()[i]).isEqualTo(ids[order[i]]);
                }
            }
        }
        picks.clear();
        kernel.compare(picks);
    }

    @Test
    void aRowOutsideItsRunCannotBePicked() {
        RowRun run = run(new float[2][16], ordinals(2));
        RowPicks picks = new RowPicks();
        picks.begin(Metric.SQUARED_L2, new float[16], 1);
        assertThatThrownBy(() -> picks.add(run, 2)).hasMessage("row must be between 0 and 1, got 2");
        assertThatThrownBy(() -> picks.add(run, -1)).hasMessage("row must be between 0 and 1, got -1");
        assertThatThrownBy(() -> picks.add(run(new float[1][17], ordinals(1)), 0))
                .hasMessageContaining("got stride 32");
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void stridesThatDisagreeAreRefused(ScanKernel kernel) {
        QueryGroup group = new QueryGroup();
        group.begin(Metric.SQUARED_L2, 17, 1);
        group.add(new float[17], new Reservoir(1), Float.POSITIVE_INFINITY);
        assertThatThrownBy(() -> kernel.scan(run(new float[1][16], ordinals(1)), group))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("16, got 32");
    }

    @Test
    void aRunLargerThanItsMemoryIsRefused() {
        MemorySegment short1 = Arena.ofAuto().allocate(16 * Float.BYTES);
        assertThatThrownBy(() -> new RowRun(short1, short1, 2, 16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("32 components");
        assertThatThrownBy(() -> new RowRun(short1, short1, 1, 15))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("multiple of 16");
    }

    @Test
    void aGroupTakesNoMoreThanItsLimit() {
        QueryGroup group = new QueryGroup();
        group.begin(Metric.SQUARED_L2, 3, 10_000);
        for (int i = 0; i < QueryGroup.limit(10_000); i++) {
            group.add(new float[3], new Reservoir(10_000), Float.POSITIVE_INFINITY);
        }
        assertThatThrownBy(() -> group.add(new float[3], new Reservoir(1), Float.POSITIVE_INFINITY))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static List<Reservoir> scan(ScanKernel kernel, Metric metric, float[][] rows, float[][] queries, int k) {
        return scan(kernel, metric, rows, ordinals(rows.length), queries, k);
    }

    private static List<Reservoir> scan(
            ScanKernel kernel, Metric metric, float[][] rows, long[] ids, float[][] queries, int k) {
        QueryGroup group = new QueryGroup();
        group.begin(metric, queries[0].length, k);
        List<Reservoir> reservoirs = new ArrayList<>();
        for (float[] query : queries) {
            reservoirs.add(new Reservoir(k));
            group.add(query, reservoirs.getLast(), Float.POSITIVE_INFINITY);
        }
        kernel.scan(run(rows, ids), group);
        group.finish();
        return reservoirs;
    }

    private static RowRun run(float[][] rows, long[] ids) {
        int stride = RowRun.strideOf(rows[0].length);
        MemorySegment vectors = Arena.ofAuto().allocate((long) rows.length * stride * Float.BYTES, 64);
        for (int i = 0; i < rows.length; i++) {
            MemorySegment.copy(
                    rows[i], 0, vectors, ValueLayout.JAVA_FLOAT, (long) i * stride * Float.BYTES, rows[i].length);
        }
        MemorySegment idSegment = Arena.ofAuto().allocate((long) ids.length * Long.BYTES, 8);
        MemorySegment.copy(ids, 0, idSegment, ValueLayout.JAVA_LONG, 0, ids.length);
        return new RowRun(vectors, idSegment, rows.length, stride);
    }

    private static long[] ordinals(int count) {
        long[] ids = new long[count];
        for (int i = 0; i < count; i++) {
            ids[i] = i;
        }
        return ids;
    }

    private static List<Row> nearest(Reservoir reservoir) {
        long[] ids = reservoir.copyOfIds();
        float[] distances = reservoir.copyOfDistances();
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ids.length; i++) {
            rows.add(new Row(ids[i], distances[i]));
        }
        rows.sort(Comparator.comparing(Row::distance).thenComparing(Row::id));
        return rows.subList(0, Math.min(reservoir.wanted(), rows.size()));
    }

    private static List<Row> plainly(Metric metric, float[][] rows, float[] query, int k) {
        SearchResult nearest = PlainScan.nearest(metric, rows, ordinals(rows.length), query, k);
        return IntStream.range(0, nearest.size())
                .mapToObj(i -> new Row(nearest.ids()[i], nearest.distances()[i]))
                .toList();
    }
}
