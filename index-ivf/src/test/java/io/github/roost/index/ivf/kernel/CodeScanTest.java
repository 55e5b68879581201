package io.github.roost.index.ivf.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.MadeUp;
import io.github.roost.vector.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kernel's scan of codes, against sums written as plainly as can be. */
class CodeScanTest {
    private record Row(int row, float score) {}

    private record Query(byte[] weights, float base, float slope, float bound, boolean fine) {
        Query(byte[] weights, float base, float slope, float bound) {
            this(weights, base, slope, bound, false);
        }
    }

    static List<ScanKernel> kernels() {
        return ScanKernels.available();
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void findsWhatThePlainSumsFindInEveryDimension(ScanKernel kernel) {
        Random random = new Random(31);
        CodeGroup group = new CodeGroup();
        for (int dimension = 1; dimension <= 300; dimension += dimension < 40 ? 1 : 13) {
            byte[][] rows = bytes(random, 1 + random.nextInt(CodeGroup.MAX_ROWS), dimension);
            CodeRun run = run(rows, random);
            List<Query> queries = new ArrayList<>();
            for (int i = 0; i < 1 + random.nextInt(20); i++) {
                byte[] weights = Arrays.copyOf(bytes(random, 1, dimension)[0], run.stride());
                queries.add(new Query(
                        weights,
                        10 * random.nextFloat(),
                        random.nextFloat() - .5f,
                        9_000 * (random.nextFloat() - .5f),
                        random.nextInt(4) == 0));
            }
            scan(kernel, run, group, queries);
            for (int query = 0; query < queries.size(); query++) {
                assertThat(found(group, query))
                        .as("%s, dimension %d, query %d of %d", kernel.name(), dimension, query, queries.size())
                        .isEqualTo(plainly(rows, run, queries.get(query)));
            }
        }
    }

    /** The largest sums that there can be, where a kernel that saturates would show it. */
    @ParameterizedTest
    @MethodSource("kernels")
    void theLargestBytesTimesTheLargestWeightsAreExact(ScanKernel kernel) {
        for (int weight : new int[] {127, -127}) {
            byte[][] rows = new byte[33][4_096];
            for (int row = 0; row < rows.length; row++) {
                Arrays.fill(rows[row], (byte) (row % 2 == 0 ? 255 : 0));
            }
            byte[] weights = new byte[4_096];
            Arrays.fill(weights, (byte) weight);
            CodeGroup group = new CodeGroup();
            CodeRun run = run(rows, new Random(1));
            scan(kernel, run, group, List.of(new Query(weights, 0, 1, Float.POSITIVE_INFINITY)));
            assertThat(found(group, 0))
                    .hasSize(33)
                    .isEqualTo(plainly(rows, run, new Query(weights, 0, 1, Float.POSITIVE_INFINITY)));
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void aRowWhoseTermIsNoNumberIsNeverFoundAndOneOnTheBoundIs(ScanKernel kernel) {
        CodeRun run = CodeRun.allocate(Arena.ofAuto(), 3, 4);
        run.write(0, new byte[] {(byte) 129}, Float.NaN, 1);
        run.write(1, new byte[] {(byte) 130}, 1, 1);
        run.write(2, new byte[] {(byte) 131}, 1, 1);
        CodeGroup group = new CodeGroup();
        scan(kernel, run, group, List.of(new Query(new byte[] {1, 0, 0, 0}, 0, 1, 4)));
        assertThat(found(group, 0)).containsExactly(new Row(1, 3), new Row(2, 4));
        group.lowerBound(0, 3);
        kernel.scan(run, 0, 3, group);
        assertThat(found(group, 0)).containsExactly(new Row(1, 3));
        group.lowerBound(0, 5);
        kernel.scan(run, 0, 3, group);
        assertThat(found(group, 0)).containsExactly(new Row(1, 3));
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void rowsThatDoNotFitTheGroupOrTheRunAreRefused(ScanKernel kernel) {
        CodeGroup group = new CodeGroup();
        CodeRun run = CodeRun.allocate(Arena.ofAuto(), 300, 8);
        scan(kernel, CodeRun.allocate(Arena.ofAuto(), 1, 8), group, List.of(new Query(new byte[8], 0, 1, 0)));
        assertThatThrownBy(() -> kernel.scan(CodeRun.allocate(Arena.ofAuto(), 1, 4), 0, 1, group))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the rows' 4, got 8");
        for (int[] range : new int[][] {{0, 257}, {8, 16}, {-16, 16}, {16, 0}, {288, 301}}) {
            assertThatThrownBy(() -> kernel.scan(run, range[0], range[1], group))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("got " + range[0] + " to " + range[1]);
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void aPartOfARunIsScannedAndItsRowsKeepTheirNumbers(ScanKernel kernel) {
        Random random = new Random(2);
        byte[][] rows = bytes(random, 350, 7);
        CodeRun run = run(rows, random);
        CodeGroup group = new CodeGroup();
        for (int queries : new int[] {1, 3}) {
            List<Query> all = Collections.nCopies(
                    queries, new Query(Arrays.copyOf(bytes(random, 1, 7)[0], 8), 3, 1, Float.POSITIVE_INFINITY));
            scan(kernel, run(Arrays.copyOf(rows, 1), random), group, all);
            for (int[] range : new int[][] {{0, 256}, {32, 50}, {32, 32}, {96, 350}}) {
                kernel.scan(run, range[0], range[1], group);
                assertThat(found(group, queries - 1))
                        .isEqualTo(plainly(rows, run, all.getFirst()).subList(range[0], range[1]));
            }
        }
    }

    @Test
    void sizesThatDoNotFitAreRefused() {
        CodeRun run = CodeRun.allocate(Arena.ofAuto(), 40, 8);
        assertThatThrownBy(() -> new CodeRun(run.codes(), run.terms(), 49, 8)).hasMessageContaining("do not fit");
        assertThatThrownBy(() -> new CodeRun(run.codes(), run.terms(), 1, 6)).hasMessageContaining("multiple of 4");
        CodeGroup group = new CodeGroup();
        group.begin(Metric.SQUARED_L2, new float[8]);
        assertThatThrownBy(() -> group.add(new float[4])).hasMessageContaining("of 4");
        for (int i = 0; i < CodeGroup.MAX_QUERIES; i++) {
            group.add(new float[8]);
        }
        assertThatThrownBy(() -> group.add(new float[8])).hasMessageContaining("no query 64");
    }

    /** Ordinary numbers, and numbers whose squares leave the range of float. */
    @ParameterizedTest
    @MethodSource("kernels")
    void weightsAreThoseOfPlainJavaToTheBit(ScanKernel kernel) {
        ScanKernel plain = ScanKernels.available().stream()
                .filter(each -> each.name().equals("java"))
                .findFirst()
                .orElseThrow();
        Random random = new Random(5);
        for (int dimension = 1; dimension <= 200; dimension += dimension < 40 ? 1 : 31) {
            for (Metric metric : Metric.values()) {
                float factor = (float) Math.pow(10, random.nextInt(75) - 37);
                CodeGroup[] groups = {new CodeGroup(), new CodeGroup()};
                float[] center = MadeUp.gaussian(1, dimension, random)[0];
                float[][] queries = MadeUp.gaussian(3, dimension, random);
                for (float[] query : queries) {
                    for (int d = 0; d < dimension; d++) {
                        query[d] = Math.clamp(query[d] * factor, -Float.MAX_VALUE, Float.MAX_VALUE);
                    }
                }
                queries[1][dimension / 2] *= factor < 1e30 ? 1e3f : 1;
                queries[2] = center;
                for (CodeGroup group : groups) {
                    group.begin(metric, center);
                    for (float[] query : queries) {
                        group.add(query);
                    }
                }
                kernel.weigh(groups[0]);
                plain.weigh(groups[1]);
                for (Function<CodeGroup, MemorySegment> part : List.<Function<CodeGroup, MemorySegment>>of(
                        group -> group.weights.asSlice(0, 3L * group.stride),
                        group -> group.starts.asSlice(0, 12),
                        group -> group.fine.asSlice(0, 12),
                        CodeScanTest::lowWeights,
                        group -> group.slopes.asSlice(0, 12),
                        group -> group.bases.asSlice(0, 12),
                        group -> group.lengths.asSlice(0, 12),
                        group -> group.errors.asSlice(0, 12))) {
                    assertThat(part.apply(groups[0]).mismatch(part.apply(groups[1])))
                            .as("%s, %s, dimension %d, factor %s", kernel.name(), metric, dimension, factor)
                            .isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void aRowIsReadAsItWasWritten() {
        Random random = new Random(2);
        byte[][] rows = bytes(random, 50, 7);
        CodeRun run = run(rows, random);
        for (int row = 0; row < rows.length; row++) {
            assertThat(run.read(row)).startsWith(rows[row]).hasSize(8);
        }
    }

    private static MemorySegment lowWeights(CodeGroup group) {
        MemorySegment fine = MemorySegment.ofArray(new byte[group.size() * (group.stride + Integer.BYTES)]);
        for (int query = 0; query < group.size(); query++) {
            if (group.fine.getAtIndex(ValueLayout.JAVA_INT, query) != 0) {
                long at = (long) query * (group.stride + Integer.BYTES);
                fine.asSlice(at).copyFrom(group.lowWeights.asSlice((long) query * group.stride, group.stride));
                fine.asSlice(at + group.stride).copyFrom(group.lowStarts.asSlice(4L * query, 4));
            }
        }
        return fine;
    }

    private static void scan(ScanKernel kernel, CodeRun run, CodeGroup group, List<Query> queries) {
        float[] none = new float[run.stride()];
        group.begin(Metric.INNER_PRODUCT, none);
        for (int i = 0; i < queries.size(); i++) {
            Query query = queries.get(i);
            group.add(none);
            MemorySegment.copy(
                    query.weights(), 0, group.weights, ValueLayout.JAVA_BYTE, (long) i * run.stride(), run.stride());
            group.starts.setAtIndex(ValueLayout.JAVA_INT, i, -128 * sum(query.weights()));
            MemorySegment.copy(
                    query.weights(), 0, group.lowWeights, ValueLayout.JAVA_BYTE, (long) i * run.stride(), run.stride());
            group.lowStarts.setAtIndex(ValueLayout.JAVA_INT, i, -128 * sum(query.weights()));
            group.fine.setAtIndex(ValueLayout.JAVA_INT, i, query.fine() ? 1 : 0);
            group.bases.setAtIndex(ValueLayout.JAVA_FLOAT, i, query.base());
            group.slopes.setAtIndex(ValueLayout.JAVA_FLOAT, i, query.slope());
            group.bound(i, query.bound());
        }
        kernel.scan(run, 0, run.count(), group);
    }

    private static int sum(byte[] weights) {
        int sum = 0;
        for (byte weight : weights) {
            sum += weight;
        }
        return sum;
    }

    private static List<Row> found(CodeGroup group, int query) {
        List<Row> found = new ArrayList<>();
        float[] scores = new float[group.found(query)];
        long[] rows = new long[scores.length];
        group.copyScores(query, scores, 0);
        group.copyPlaces(query, 0, rows, 0);
        for (int i = 0; i < scores.length; i++) {
            found.add(new Row((int) rows[i], scores[i]));
        }
        return found;
    }

    private static List<Row> plainly(byte[][] rows, CodeRun run, Query query) {
        List<Row> near = new ArrayList<>();
        for (int row = 0; row < rows.length; row++) {
            int sum = 0;
            for (int d = 0; d < rows[row].length; d++) {
                sum += ((rows[row][d] & 255) - 128) * query.weights()[d];
            }
            float score = query.base()
                    + (run.term(row)
                            + query.slope() * (run.scale(row) * (query.fine() ? sum + sum * 0x1p-7f : (float) sum)));
            if (score <= query.bound()) {
                near.add(new Row(row, score));
            }
        }
        return near;
    }

    private static CodeRun run(byte[][] rows, Random random) {
        CodeRun run = CodeRun.allocate(Arena.ofAuto(), rows.length, CodeRun.strideOf(rows[0].length));
        for (int row = 0; row < rows.length; row++) {
            run.write(row, rows[row], random.nextFloat() * 100, random.nextFloat());
        }
        return run;
    }

    private static byte[][] bytes(Random random, int count, int length) {
        byte[][] bytes = new byte[count][length];
        for (byte[] each : bytes) {
            random.nextBytes(each);
        }
        return bytes;
    }
}
