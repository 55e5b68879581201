package io.github.roost.simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Fits unknown unit costs to measured sums of them: least squares of the relative errors, with non-negative costs. Not thread-safe. */
final class NonNegativeFit {
    private static final int ROUNDS = 20;
    /** A relative error; sums with larger errors are weighted down. */
    private static final double USUAL_ERROR = .05;

    private final int unknowns;
    /** Each row is divided by its measured sum, so that all sums weigh the same. */
    private final List<double[]> rows = new ArrayList<>();

    private final List<String> names = new ArrayList<>();
    private final List<Double> sums = new ArrayList<>();
    private double[] weights = {};

    NonNegativeFit(int unknowns) {
        this.unknowns = unknowns;
    }

    /** Adds a measured sum, in nanoseconds; if a sum of this name was added before, the smaller one counts. */
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

    /** Fits the costs. Sums with large errors get less weight (Huber, 1964): something else ran while they were measured. */
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

    /** Sets the most negative cost to 0 and fits again, until none is negative. */
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

    /** One line per sum for people: the measurement, and the part that the costs explain. */
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

    /** Solves the normal equations, each unknown in units of its mean; unused unknowns are 0. */
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
            // A ridge term, so that two unknowns with proportional counts share their cost.
            equations[i][i] *= 1 + 1e-9;
        }
        double[] solved = solve(equations);
        for (int i = 0; i < unknowns; i++) {
            solved[i] *= unit[i];
        }
        return solved;
    }

    /** Gaussian elimination with partial pivoting. */
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
