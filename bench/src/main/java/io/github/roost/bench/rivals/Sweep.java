package io.github.roost.bench.rivals;

import java.time.Duration;
import java.util.List;

/**
 * The searches with which a curve is measured.
 *
 * @param k neighbors per search
 * @param widths values of ef, ascending, each at least k
 * @param enough recall from which on an engine searches no wider; over 1 for all widths
 * @param rounds in which the engines take turns
 * @param slice how long each engine searches at each ef in a round
 * @param warmUp how long each engine searches before the first round, 0 if measuring the recall is enough
 */
public record Sweep(int k, List<Integer> widths, double enough, int rounds, Duration slice, Duration warmUp) {
    /** A value of {@link #enough} that no recall reaches. */
    public static final double ALL = 2;
}
