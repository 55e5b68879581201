package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class WakePolicyTest {
    private static final int WORKERS = 8;
    private static final CrossDomainGate GATE = new CrossDomainGate(2, 200_000, 8, 2_000_000);
    private static final Backlog YOUNG = new Backlog(0, Backlog.NEVER, 0);
    private static final long SUSTAINED = 200_000;

    private final WorkerLayout layout = WorkerLayout.of(Machines.of(4, WORKERS));
    private final Made made = new Made(4);
    private final WakePolicy gated = new WakePolicy(layout, SchedulingPolicy.HOME_DOMAIN, GATE, made);
    private final WakePolicy ungated = new WakePolicy(layout, SchedulingPolicy.HOME_DOMAIN_UNGATED, GATE, made);

    /** Domains of which all sleep and none waits, but for what a test says. */
    private static final class Made implements WakePolicy.Domains {
        private final int[] waiting;
        private final int[] idle;
        private final int[] stolen;
        private final long[] idleNanos;
        private final Backlog[] backlogs;
        private final CrossingCost[] crossings;

        Made(int domains) {
            waiting = new int[domains];
            idle = new int[domains];
            stolen = new int[domains];
            idleNanos = new long[domains];
            Arrays.fill(idleNanos, Long.MAX_VALUE);
            backlogs = new Backlog[domains];
            Arrays.fill(idle, WORKERS);
            Arrays.fill(backlogs, Backlog.NONE);
            crossings = new CrossingCost[domains];
            Arrays.fill(crossings, CrossingCost.UNKNOWN);
        }

        void queue(int domain, int tasks, Backlog backlog) {
            idle[domain] = 0;
            waiting[domain] = tasks;
            backlogs[domain] = backlog;
        }

        @Override
        public int waiting(int domain) {
            return waiting[domain];
        }

        @Override
        public int idle(int domain) {
            return idle[domain];
        }

        @Override
        public int crossings(int domain) {
            return stolen[domain];
        }

        @Override
        public long idleNanos(int domain) {
            return idleNanos[domain];
        }

        @Override
        public Backlog backlog(int domain) {
            return backlogs[domain];
        }

        @Override
        public CrossingCost crossing(int domain) {
            return crossings[domain];
        }
    }

    private static CrossingCost slowerByHalf() {
        CrossingCost cost = CrossingCost.UNKNOWN;
        for (int i = 0; i < 100; i++) {
            cost = cost.crossed(1_500, 1_000).atHome(1_000, 1_000, 1);
        }
        return cost;
    }

    /** A half of a task's time, for each of 8 workers: 4 tasks that wait. */
    @Test
    void whereTheWaitIsLongerThanWhatCrossingCostsThoseWithWorkersToSpareTakeAtOnce() {
        made.queue(1, WORKERS / 2, Backlog.NONE);
        made.crossings[1] = slowerByHalf();
        assertThat(gated.opens(2, 1, 0)).isFalse();
        assertThat(gated.helperOf(1)).isEqualTo(-1);
        made.waiting[1]++;
        assertThat(gated.opens(2, 1, 0)).isTrue();
        assertThat(gated.helperOf(1)).isEqualTo(2);

        made.idle[2] = 1;
        assertThat(gated.opens(2, 1, 0)).as("its reserve").isFalse();
        assertThat(gated.helperOf(1)).isEqualTo(3);

        made.idle[1] = 1;
        assertThat(gated.helperOf(1)).as("has one of its own").isEqualTo(-1);
    }

    /** As much again: 8 tasks that wait. */
    @Test
    void whereMostWorkersAreAtWorkTheWaitMustBeLongerThanWhatOthersLoseToo() {
        made.queue(1, WORKERS, Backlog.NONE);
        made.crossings[1] = slowerByHalf();
        Arrays.fill(made.idle, WORKERS / 2 - 1);
        made.idle[1] = 0;
        assertThat(gated.opens(2, 1, 0)).isFalse();
        assertThat(gated.helperOf(1)).isEqualTo(-1);
        made.idle[3] = WORKERS / 2;
        assertThat(gated.helperOf(1)).isEqualTo(3);
        made.waiting[1]++;
        assertThat(gated.opens(2, 1, 0)).isTrue();
        assertThat(gated.helperOf(1)).isEqualTo(2);
    }

    /** Half of the mean time of a task: 500 ns. */
    @Test
    void whereMostWorkersAreAtWorkOneMustHaveBeenIdleForAsLongAsATaskLoses() {
        made.queue(1, WORKERS + 1, Backlog.NONE);
        made.crossings[1] = slowerByHalf();
        Arrays.fill(made.idle, WORKERS / 2 - 1);
        made.idle[1] = 0;
        Arrays.fill(made.idleNanos, 490);
        assertThat(gated.opens(2, 1, 0)).isFalse();
        assertThat(gated.helperOf(1)).isEqualTo(-1);
        made.idleNanos[3] = 510;
        assertThat(gated.opens(3, 1, 0)).isTrue();
        assertThat(gated.helperOf(1)).isEqualTo(3);

        made.idle[2] = WORKERS / 2;
        assertThat(gated.opens(2, 1, 0)).as("half of its workers are idle").isTrue();
    }

    @Test
    void whereTooFewTasksHaveCrossedTheCostOfAllDomainsStandsIn() {
        made.queue(1, WORKERS / 2 + 1, Backlog.NONE);
        made.crossings[1] = CrossingCost.UNKNOWN.atHome(1_000, 1_000, 1);
        assertThat(gated.opens(2, 1, 0)).isFalse();
        made.crossings[3] = slowerByHalf();
        assertThat(gated.opens(2, 1, 0)).isTrue();
        assertThat(gated.helperOf(1)).isEqualTo(2);
        made.waiting[1]--;
        assertThat(gated.opens(2, 1, 0)).isFalse();

        made.crossings[1] = CrossingCost.UNKNOWN;
        made.waiting[1]++;
        assertThat(gated.opens(2, 1, 0)).as("its tasks report no traffic").isFalse();
    }

    @Test
    void aTaskCrossesToMeasureTheCostWhereverWorkersAreIdle() {
        made.queue(1, 1, Backlog.NONE);
        made.crossings[1] = CrossingCost.UNKNOWN.atHome(1_000, 1_000, 64);
        Arrays.fill(made.idleNanos, 0);
        assertThat(gated.opens(2, 1, 0)).isTrue();
        made.waiting[1] = 0;
        assertThat(gated.opens(2, 1, 0)).isFalse();
    }

    @Test
    void whereNothingWasMeasuredOnlyBacklogsOpenTheGate() {
        made.queue(1, 2 * WORKERS, Backlog.NONE);
        assertThat(gated.opens(2, 1, SUSTAINED)).isFalse();
        assertThat(gated.helperOf(1)).isEqualTo(-1);
    }

    private static List<Integer> helpers(WakePolicy policy, long now) {
        List<Integer> woken = new ArrayList<>();
        policy.helpers(now, woken::add);
        return woken;
    }

    @Test
    void ofEveryDomainThatMayHelpOneIsWoken() {
        made.queue(1, 40, YOUNG);
        assertThat(helpers(gated, SUSTAINED - 1)).isEmpty();
        assertThat(helpers(gated, SUSTAINED)).containsExactly(2, 3, 0);
        made.idle[3] = WORKERS - 1;
        assertThat(helpers(gated, SUSTAINED)).as("3 has work of its own").containsExactly(2, 0);
    }

    @Test
    void inAFloodDomainsThatAreHalfBusyHelpToo() {
        made.queue(1, 100, new Backlog(0, 0, 0));
        Arrays.fill(made.idle, 2);
        made.idle[1] = 0;
        made.idle[0] = 1;
        assertThat(helpers(gated, 1_999_999)).isEmpty();
        assertThat(helpers(gated, 2_000_000))
                .as("the last idle one of 0 is its reserve")
                .containsExactly(2, 3);
    }

    @Test
    void whoRunsATaskThatHasCrossedIsFreeToHelpInABurst() {
        made.queue(1, 40, YOUNG);
        made.idle[2] = 3;
        made.stolen[2] = WORKERS - 3;
        assertThat(gated.opens(2, 1, SUSTAINED)).isTrue();
        made.stolen[2]--;
        assertThat(gated.opens(2, 1, SUSTAINED)).isFalse();
    }

    @Test
    void aBacklogThatWasRunOffSinceTheLastLookOpensNothing() {
        made.queue(1, 15, YOUNG);
        assertThat(gated.opens(2, 1, SUSTAINED)).isFalse();
        assertThat(helpers(gated, SUSTAINED)).isEmpty();
    }

    @Test
    void aThiefWakesTheNextOfItsDomainWhileTheGateStaysOpen() {
        made.queue(1, 40, YOUNG);
        made.idle[2] = WORKERS - 1;
        made.stolen[2] = 1;
        assertThat(gated.afterSteal(2, 1, SUSTAINED)).isTrue();
        made.idle[2] = 0;
        made.stolen[2] = WORKERS;
        assertThat(gated.afterSteal(2, 1, SUSTAINED)).as("nobody left to wake").isFalse();
        made.idle[2] = WORKERS - 2;
        made.stolen[2] = 1;
        assertThat(gated.afterSteal(2, 1, SUSTAINED)).as("a task of its own").isFalse();
    }

    @Test
    void withoutAGateAnyoneHelpsAsLongAsAnythingWaitsAndNobodyIsWokenLater() {
        made.queue(1, 1, Backlog.NONE);
        made.idle[0] = 0;
        made.idle[2] = 1;
        assertThat(ungated.opens(0, 1, 0)).isTrue();
        assertThat(helpers(ungated, 0)).isEmpty();
        assertThat(ungated.afterSteal(2, 1, 0)).isTrue();
        made.waiting[1] = 0;
        assertThat(ungated.afterSteal(2, 1, 0)).isFalse();
    }

    @Test
    void theNextLookIsWhenAGateMayOpenAndThenNowAndAgain() {
        assertThat(gated.nextLook(0)).isEqualTo(Long.MAX_VALUE);
        made.queue(1, 100, new Backlog(1_000, 5_000, 0));
        assertThat(gated.nextLook(1_000)).isEqualTo(SUSTAINED);
        assertThat(gated.nextLook(151_000)).isEqualTo(50_000);
        assertThat(gated.nextLook(201_000)).as("the burst is open").isEqualTo(WakePolicy.REPEAT_NANOS);
        assertThat(gated.nextLook(1_905_000)).as("the flood is near").isEqualTo(100_000);
        assertThat(gated.nextLook(2_005_000)).isEqualTo(WakePolicy.REPEAT_NANOS);
    }

    @Test
    void whereTheDomainsOwnWorkersHaveNotHadARoundTheNextLookIsThatForLongTasks() {
        made.queue(1, 40, new Backlog(0, Backlog.NEVER, 1));
        assertThat(gated.opens(2, 1, SUSTAINED)).isFalse();
        assertThat(gated.nextLook(1_500_000)).isEqualTo(500_000);
        assertThat(gated.opens(2, 1, 2_000_000)).isTrue();
    }

    @Test
    void looksAreNeverCloserThanTheyAreWorth() {
        made.queue(1, 40, YOUNG);
        assertThat(gated.nextLook(SUSTAINED - 1)).isEqualTo(WakePolicy.SHORTEST_LOOK_NANOS);
    }

    @Test
    void theEarliestOfAllDomainsCounts() {
        made.queue(1, 40, new Backlog(0, Backlog.NEVER, 0));
        made.queue(3, 40, new Backlog(-100_000, Backlog.NEVER, 0));
        assertThat(gated.nextLook(0)).isEqualTo(100_000);
    }
}
