package io.github.roost.bench.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What each of several things costs, from the cost of several sums of them: least squares of the relative errors, where no
 * cost may be negative. Not thread-safe.
 */
final class NonNegativeFit {
    private static final int ROUNDS = 20;
    /** Relative. */
    private static final double USUAL_ERROR = .05;

    private final int unknowns;
    /** Each as parts of the measured sum, so that all sums weigh the same. */
    private final List<double[]> rows = new ArrayList<>();

    private final List<String> names = new ArrayList<>();
    private final List<Double> sums = new ArrayList<>();
    private double[] weights = {};

    NonNegativeFit(int unknowns) {
        this.unknowns = unknowns;
    }

    /** Adds what was measured of a sum, in nanoseconds; of the same sum measured again the least counts. */
    void add(String name, double[] counts, double measured) {
        if (counts.length != unknowns || !(measured > 0)) {
            throw new IllegalArgumentException(
                    "a sum must have " + unknowns + " counts and be positive, got " + counts.length + ", " + measured);
        }
        int again = names.indexOf(name);
        if (again >= 0) {
            if (sums.get(again) <= measured) {
                return;
            }
            names.remove(again);
            sums.remove(again);
            rows.remove(again);
        }
        names.add(name);
        sums.add(measured);
        rows.add(Arrays.stream(counts).map(count -> count / measured).toArray());
    }

    /** The costs. Sums that are far off weigh the less for it (Huber, 1964): something else ran while they were measured. */
    double[] costs() {
        weights = new double[rows.size()];
        Arrays.fill(weights, 1);
        double[] costs = nonNegative();
        for (int round = 0; round < ROUNDS; round++) {
            for (int sum = 0; sum < weights.length; sum++) {
                double off = Math.abs(explained(rows.get(sum), costs) - 1);
                weights[sum] = Math.min(1, USUAL_ERROR / Math.max(USUAL_ERROR, off));
            }
            costs = nonNegative();
        }
        return costs;
    }

    /** What would be negative is taken for nothing, the most negative first, and the rest is fitted again. */
    private double[] nonNegative() {
        boolean[] used = new boolean[unknowns];
        Arrays.fill(used, true);
        while (true) {
            double[] costs = leastSquares(used);
            int worst = -1;
            double worstShare = 0;
            for (int i = 0; i < unknowns; i++) {
                double share = costs[i] * mean(i);
                if (share < worstShare) {
                    worst = i;
                    worstShare = share;
                }
            }
            if (worst < 0) {
                return costs;
            }
            used[worst] = false;
        }
    }

    /** Each sum, and what the costs say of it, for people. */
    List<String> report(double[] costs) {
        List<String> lines = new ArrayList<>();
        for (int sum = 0; sum < rows.size(); sum++) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%s: %.1f us, of which the costs explain %.2f",
                    names.get(sum),
                    sums.get(sum) / 1e3,
                    explained(rows.get(sum), costs)));
        }
        return lines;
    }

    /** The root of the mean squared relative error that costs leave. */
    double error(double[] costs) {
        return Math.sqrt(rows.stream()
                .mapToDouble(row -> Math.pow(explained(row, costs) - 1, 2))
                .average()
                .orElse(0));
    }

    private double explained(double[] row, double[] costs) {
        double sum = 0;
        for (int i = 0; i < unknowns; i++) {
            sum += row[i] * costs[i];
        }
        return sum;
    }

    private double mean(int unknown) {
        return rows.stream().mapToDouble(row -> row[unknown]).average().orElse(0);
    }

    /** By the normal equations, each unknown in units of its mean; those not used are 0. */
    private double[] leastSquares(boolean[] used) {
        double[][] equations = new double[unknowns][unknowns + 1];
        double[] unit = new double[unknowns];
        Arrays.setAll(unit, i -> mean(i) > 0 ? 1 / mean(i) : 0);
        for (int i = 0; i < unknowns; i++) {
            if (!used[i] || unit[i] == 0) {
                equations[i][i] = 1;
                continue;
            }
            for (int sum = 0; sum < rows.size(); sum++) {
                double[] row = rows.get(sum);
                double a = weights[sum] * row[i] * unit[i];
                equations[i][unknowns] += a;
                for (int j = 0; j < unknowns; j++) {
                    equations[i][j] += used[j] ? a * row[j] * unit[j] : 0;
                }
            }
            // So that two that were always measured in proportion share what they cost.
            equations[i][i] *= 1 + 1e-9;
        }
        double[] solved = solve(equations);
        for (int i = 0; i < unknowns; i++) {
            solved[i] *= unit[i];
        }
        return solved;
    }

    /** Gaussian elimination with pivots. */
    private static double[] solve(double[][] equations) {
        int n = equations.length;
        for (int column = 0; column < n; column++) {
            int pivot = column;
            for (int row = column + 1; row < n; row++) {
                pivot = Math.abs(equations[row][column]) > Math.abs(equations[pivot][column]) ? row : pivot;
            }
            double[] chosen = equations[pivot];
            equations[pivot] = equations[column];
            equations[column] = chosen;
            for (int row = 0; row < n; row++) {
                if (row != column) {
                    double factor = equations[row][column] / chosen[column];
                    for (int i = column; i <= n; i++) {
                        equations[row][i] -= factor * chosen[i];
                    }
                }
            }
        }
        double[] solved = new double[n];
        Arrays.setAll(solved, i -> equations[i][n] / equations[i][i]);
        return solved;
    }
}
