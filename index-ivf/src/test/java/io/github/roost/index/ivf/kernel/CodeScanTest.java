package io.github.roost.index.ivf.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kernel's scan of codes, against sums written as plainly as can be. */
class CodeScanTest {
    private record Row(int row, float score) {}

    private record Query(byte[] weights, float slope, float bound) {}

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
                queries.add(new Query(weights, random.nextFloat() - .5f, 9_000 * (random.nextFloat() - .5f)));
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
            scan(kernel, run, group, List.of(new Query(weights, 1, Float.POSITIVE_INFINITY)));
            assertThat(found(group, 0))
                    .hasSize(33)
                    .isEqualTo(plainly(rows, run, new Query(weights, 1, Float.POSITIVE_INFINITY)));
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void aRowWhoseTermIsNoNumberIsNeverFoundAndOneOnTheBoundIs(ScanKernel kernel) {
        CodeRun run = CodeRun.allocate(Arena.ofAuto(), 3, 4);
        run.write(0, new byte[] {(byte) 129}, Float.NaN);
        run.write(1, new byte[] {(byte) 130}, 1);
        run.write(2, new byte[] {(byte) 131}, 1);
        CodeGroup group = new CodeGroup();
        scan(kernel, run, group, List.of(new Query(new byte[] {1, 0, 0, 0}, 1, 4)));
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
        scan(kernel, CodeRun.allocate(Arena.ofAuto(), 1, 8), group, List.of(new Query(new byte[8], 1, 0)));
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
                    queries, new Query(Arrays.copyOf(bytes(random, 1, 7)[0], 8), 1, Float.POSITIVE_INFINITY));
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
        group.begin(8);
        assertThatThrownBy(() -> group.add(new byte[4], 0, 1, 0)).hasMessageContaining("of 4");
        for (int i = 0; i < CodeGroup.MAX_QUERIES; i++) {
            group.add(new byte[8], 0, 1, 0);
        }
        assertThatThrownBy(() -> group.add(new byte[8], 0, 1, 0)).hasMessageContaining("no query 64");
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

    private static void scan(ScanKernel kernel, CodeRun run, CodeGroup group, List<Query> queries) {
        group.begin(run.stride());
        for (Query query : queries) {
            group.add(query.weights(), sum(query.weights()), query.slope(), query.bound());
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
            float score = run.term(row) + query.slope() * (float) sum;
            if (score <= query.bound()) {
                near.add(new Row(row, score));
            }
        }
        return near;
    }

    private static CodeRun run(byte[][] rows, Random random) {
        CodeRun run = CodeRun.allocate(Arena.ofAuto(), rows.length, CodeRun.strideOf(rows[0].length));
        for (int row = 0; row < rows.length; row++) {
            run.write(row, rows[row], random.nextFloat() * 100);
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
