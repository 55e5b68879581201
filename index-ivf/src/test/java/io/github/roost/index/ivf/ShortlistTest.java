package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.index.ivf.kernel.Smallest;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.ScalarQuantizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShortlistTest {
    private record Row(long id, float score) {}

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 100, 128, 300, 5_000})
    void theBestScoresStayAndAmongEqualOnesTheSmallerIds(int wanted) {
        for (ScanKernel kernel : ScanKernels.available()) {
            theBestScoresStay(kernel, wanted);
        }
    }

    private static void theBestScoresStay(ScanKernel kernel, int wanted) {
        Random random = new Random(wanted);
        for (int trial = 0; trial < 20; trial++) {
            int values = 1 + random.nextInt(trial < 10 ? 8 : 1_000);
            List<Row> rows = new ArrayList<>();
            Shortlist[] parts = {new Shortlist(kernel, wanted, false), new Shortlist(kernel, wanted, false)};
            long[] ids = random.longs(1_300).toArray();
            for (int from = 0; from < ids.length; from += CodeGroup.MAX_ROWS) {
                int to = Math.min(ids.length, from + CodeGroup.MAX_ROWS);
                rows.addAll(offer(
                        parts[random.nextInt(2)],
                        ids,
                        from,
                        to,
                        random.ints(to - from, 0, values).toArray()));
            }
            parts[0].takeAll(parts[1]);
            parts[0].shrink();
            rows.sort(Comparator.comparing(Row::score).thenComparing(Row::id));
            List<Row> best = rows.subList(0, Math.min(wanted, rows.size()));
            assertThat(LongStream.range(0, parts[0].size()).map(i -> parts[0].id((int) i)))
                    .containsExactlyInAnyOrderElementsOf(
                            best.stream().map(Row::id).toList());
            if (rows.size() >= wanted) {
                assertThat(parts[0].bound())
                        .isBetween(
                                best.getLast().score(),
                                rows.size() > wanted ? rows.get(wanted).score() : Float.MAX_VALUE);
            }
        }
    }

    /** A row that is handed over while a search runs is met in the buffer and in its list, with the same score. */
    @Test
    void aRowThatIsMetTwicePushesOutNoBetterOne() {
        Random random = new Random(9);
        for (ScanKernel kernel : ScanKernels.available()) {
            for (int trial = 0; trial < 200; trial++) {
                int wanted = 1 + random.nextInt(12);
                long[] ids = random.longs(16, 0, 10).toArray();
                int[] scores = new int[ids.length];
                Arrays.setAll(scores, i -> (int) (ids[i] * 7 % 5));
                Shortlist shortlist = new Shortlist(kernel, wanted, false);
                List<Row> rows = offer(shortlist, ids, 0, ids.length, scores);
                shortlist.shrink();
                rows.sort(Comparator.comparing(Row::score).thenComparing(Row::id));
                assertThat(IntStream.range(0, shortlist.size()).mapToObj(shortlist::id))
                        .containsExactlyInAnyOrderElementsOf(
                                rows.stream().limit(wanted).map(Row::id).toList());
            }
        }
    }

    /** Rows of one component, so that a score is what the component says. */
    private static List<Row> offer(Shortlist shortlist, long[] ids, int from, int to, int[] components) {
        ScalarCodec codec =
                new ScalarCodec(Metric.INNER_PRODUCT, ScalarQuantizer.ofBytes(1), new ScalarCodec.Loss(255, 0));
        RowBlock block = new RowBlock(0, to - from, new RowLayout(ElementType.INT8, 1, codec, 0));
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < to - from; i++) {
            block.write(i, ids[from + i], new float[] {components[i] % 256 - 128});
            rows.add(new Row(ids[from + i], 127 * (components[i] % 256 - 128)));
        }
        block.publishAll();
        CodeGroup group = new CodeGroup();
        group.begin(Metric.INNER_PRODUCT, codec.quantizer().center());
        // The largest weight is of one unit, so that scores are whole.
        group.add(new float[] {-127});
        ScanKernels.preferred().weigh(group);
        shortlist.begin(group, 0, codec, Float.POSITIVE_INFINITY);
        ScanKernels.preferred().scan(block.codes(), 0, to - from, group);
        shortlist.take(group, 0, block, null);
        return rows;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10, 1_000})
    void theNthSmallestIsWhereSortingPutsIt(int length) {
        Random random = new Random(length);
        float[] extremes = {0, -0f, Float.MAX_VALUE, -Float.MAX_VALUE, Float.POSITIVE_INFINITY, Float.MIN_VALUE, 1};
        for (int trial = 0; trial < 400; trial++) {
            float[] values = new float[length + random.nextInt(3)];
            for (int i = 0; i < values.length; i++) {
                values[i] = switch (trial % 4) {
                    case 0 -> random.nextInt(5);
                    case 1 -> (float) random.nextGaussian();
                    case 2 -> (float) Math.exp(80 * random.nextDouble() - 40);
                    default -> extremes[random.nextInt(1 + random.nextInt(extremes.length))];
                };
            }
            float[] sorted = Arrays.copyOf(values, length);
            Arrays.sort(sorted);
            int n = random.nextInt(length);
            // As numbers: the two zeros are one.
            assertThat(Smallest.nth(values, length, n) == sorted[n])
                    .as("%d of %s", n, Arrays.toString(sorted))
                    .isTrue();
        }
    }

    @Test
    void whatIsFreedServesTheNext() {
        ScanKernel kernel = ScanKernels.preferred();
        Random random = new Random(7);
        for (int trial = 0; trial < 50; trial++) {
            List<Shortlist> shortlists = new ArrayList<>();
            for (int i = 0; i < 1 + trial % 3; i++) {
                Shortlist shortlist = new Shortlist(kernel, 1 + random.nextInt(20), false);
                assertThat(shortlist.size()).isZero();
                assertThat(shortlist.bound()).isEqualTo(Float.POSITIVE_INFINITY);
                shortlists.add(shortlist);
            }
            long[][] ids = new long[shortlists.size()][];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = random.longs(CodeGroup.MAX_ROWS).toArray();
                offer(shortlists.get(i), ids[i], 0, ids[i].length, new int[ids[i].length]);
            }
            for (int i = 0; i < ids.length; i++) {
                Shortlist shortlist = shortlists.get(i);
                shortlist.shrink();
                long[] smallest =
                        Arrays.stream(ids[i]).sorted().limit(shortlist.size()).toArray();
                assertThat(IntStream.range(0, shortlist.size()).mapToLong(shortlist::id))
                        .containsExactlyInAnyOrder(
                                Arrays.stream(smallest).boxed().toArray(Long[]::new));
            }
            shortlists.forEach(Shortlist::free);
        }
    }
}
