package io.github.roost.index.disk.stall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.roost.core.spi.Indexing;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StallFillingTest {
    private static final long STEP = Indexing.Maintenance.STEP_NANOS;

    /** One worker with one search after the other, in virtual time. */
    private static final class OneWorker {
        private static final long COMPUTE = 15_000;
        private final StallFilling filling;
        private final Random random = new Random(5);
        private final double costOfSwitch;
        long now;
        long searching;
        long alone;
        long filled;

        /** @param costOfSwitch by which a search computes longer after maintenance */
        OneWorker(StallPolicy policy, double costOfSwitch) {
            this.filling = new StallFilling(policy);
            this.costOfSwitch = costOfSwitch;
        }

        void run(int cycles) {
            searching = 0;
            alone = 0;
            filled = 0;
            for (int i = 0; i < cycles; i++) {
                cycle(60_000 + random.nextInt(80_000));
            }
        }

        private void cycle(long stall) {
            long began = now;
            long end = now + stall;
            filling.begins(now, 4);
            boolean any = false;
            while (now < end) {
                long may = filling.mayRun(now);
                if (may == 0) {
                    now += 1_000;
                    continue;
                }
                // A step is a little longer than it may be.
                long step = may + random.nextInt(3_000);
                filling.ran(now, now + step);
                filled += step;
                now += step;
                any = true;
            }
            filling.ends(now);
            now += COMPUTE + (any ? (long) (costOfSwitch * COMPUTE) : 0);
            searching += now - began;
            alone += stall + COMPUTE;
        }

        double slowdown() {
            return (double) searching / alone - 1;
        }

        double filledShare() {
            return (double) filled / searching;
        }
    }

    @Test
    void aPlainPolicyFillsInStepsAndMeasuresNothing() {
        StallFilling filling = new StallFilling(StallPolicy.POLLED);
        filling.begins(0, 1);
        assertThat(filling.isMeasured()).isFalse();
        assertThat(filling.mayRun(10)).isEqualTo(STEP);
        filling.ends(100);
        assertThat(filling.stats()).isEqualTo(StallPolicy.Stats.NONE);
    }

    @ParameterizedTest
    @ValueSource(doubles = {.02, .05, .1, .2})
    void searchesTakeAsMuchLongerAsTheTargetAllows(double target) {
        for (StallPolicy policy : new StallPolicy[] {StallPolicy.POLLED, StallPolicy.BUDGETED}) {
            OneWorker worker = new OneWorker(policy.withLatencyTarget(target), 1.5);
            worker.run(150_000);
            worker.run(150_000);
            assertThat(worker.slowdown()).as(policy.toString()).isLessThan(target + .02);
            assertThat(worker.filledShare()).as(policy.toString()).isGreaterThan(.02);
            assertThat(worker.filling.stats().slowdown()).isCloseTo(worker.slowdown(), within(.02));
        }
    }

    @Test
    void stallsThatAreNotToBeFilledAreLeftEmpty() {
        OneWorker worker = new OneWorker(StallPolicy.UNFILLED, 1.5);
        worker.run(5_000);
        assertThat(worker.filledShare()).isZero();
        assertThat(worker.slowdown()).isCloseTo(0, within(.01));
    }

    @Test
    void whatAStepRunsOnAfterTheBytesAreThereIsItsOverrun() {
        OneWorker worker = new OneWorker(StallPolicy.BUDGETED, 0);
        worker.run(50_000);
        double lost = worker.searching - worker.alone;
        // All that a search loses here is overrun, and half a look where stalls are left empty.
        assertThat(worker.filling.stats().overrunNanos()).isCloseTo((long) lost, withinPercentage(25.0));
    }

    @Test
    void aBudgetKeepsTheExpectedOverrunWithinItsShareOfACycle() {
        OneWorker worker = new OneWorker(new StallPolicy(true, true, .03, Double.NaN), 0);
        worker.run(50_000);
        worker.run(100_000);
        // Steps end up to 3 us after what they may take.
        assertThat(worker.slowdown()).isBetween(.01, .06);
        assertThat(worker.filledShare()).isGreaterThan(.4);
        assertThat((double) worker.filling.stats().overrunNanos()
                        / worker.filling.stats().stalls())
                .isLessThan(.06 * 115_000);
    }

    @Test
    void someStallsAreLeftEmptyInARow() {
        StallFilling filling = new StallFilling(StallPolicy.BUDGETED);
        int empty = 0;
        for (int i = 0; i < StallFilling.BLOCK; i++) {
            filling.begins(i * 100_000L, 2);
            assertThat(filling.isEmpty()).isEqualTo(i < StallFilling.EMPTY);
            assertThat(filling.mayRun(i * 100_000L + 1) == 0).isEqualTo(filling.isEmpty());
            empty += filling.isEmpty() ? 1 : 0;
            filling.ends(i * 100_000L + 50_000);
        }
        assertThat(empty).isEqualTo(StallFilling.EMPTY);
        assertThat(filling.stats().empty()).isEqualTo(StallFilling.EMPTY);
    }

    @Test
    void aStallThatLastsLongIsFilledEvenIfItWasToBeEmpty() {
        StallFilling filling = new StallFilling(StallPolicy.BUDGETED);
        filling.begins(0, 2);
        assertThat(filling.mayRun(999_999)).isZero();
        assertThat(filling.mayRun(1_000_001)).isEqualTo(STEP);
        assertThat(filling.isMeasured()).isFalse();
    }

    @Test
    void sharesOutOfTheirRangeAreRefused() {
        assertThatThrownBy(() -> StallPolicy.POLLED.withLatencyTarget(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the latency target must be above 0 and at most 1, got 0.0");
        assertThatThrownBy(() -> new StallPolicy(true, true, 2, Double.NaN))
                .hasMessage("the overrun must be above 0 and at most 1, got 2.0");
    }
}
