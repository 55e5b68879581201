package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CrossingsTest {
    private static final int WORKERS = 8;
    private static final long AGE = 200_000;

    private final WorkerLayout layout = WorkerLayout.of(Machines.of(4, WORKERS));
    private final Made made = new Made(4);
    private final Crossings aged = of(SchedulingPolicy.HOME_DOMAIN);
    private final Crossings gated = of(SchedulingPolicy.HOME_DOMAIN_GATED);
    private final Crossings ungated = of(SchedulingPolicy.HOME_DOMAIN_UNGATED);

    private Crossings of(SchedulingPolicy scheduling) {
        return new Crossings(layout, scheduling, new CrossDomainGate(AGE), made);
    }

    /** Domains whose workers are idle and where nothing waits, except where a test says otherwise. */
    private static final class Made implements Crossings.Domains {
        private final int[] waiting;
        private final int[] idle;
        private final int[] old;
        private final CrossingCost[] costs;

        Made(int domains) {
            waiting = new int[domains];
            old = new int[domains];
            idle = new int[domains];
            Arrays.fill(idle, WORKERS);
            costs = new CrossingCost[domains];
            Arrays.fill(costs, CrossingCost.UNKNOWN);
        }

        void queue(int domain, int tasks, int ofThemOld) {
            idle[domain] = 0;
            waiting[domain] = tasks;
            old[domain] = ofThemOld;
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
        public long old(int domain) {
            return old[domain];
        }

        @Override
        public CrossingCost cost(int domain) {
            return costs[domain];
        }
    }

    private static List<Integer> helpers(Crossings crossings) {
        List<Integer> woken = new ArrayList<>();
        crossings.helpers(woken::add);
        return woken;
    }

    @Test
    void aTaskCrossesWhenItIsOldHoweverFewWait() {
        made.queue(1, 1_000, 0);
        assertThat(aged.mayTake(2, 1)).isFalse();
        assertThat(helpers(aged)).isEmpty();
        made.queue(1, 1, 1);
        made.idle[2] = 1;
        made.idle[3] = 0;
        assertThat(aged.mayTake(2, 1)).isTrue();
        assertThat(helpers(aged)).as("of those with an idle worker").containsExactly(2, 0);
    }

    @Test
    void everyDomainWithOldTasksIsHelped() {
        made.queue(1, 3, 2);
        made.queue(3, 1, 1);
        assertThat(helpers(aged)).containsExactly(2, 0, 0, 2);
    }

    @Test
    void aTaskIsOldAfterTheTimeThatItWouldLose() {
        assertThat(aged.boundNanos(1))
                .as("while a worker of the domain is idle")
                .isEqualTo(4 * AGE);
        made.idle[1] = 0;
        made.idle[2] = 0;
        assertThat(aged.boundNanos(1)).isEqualTo(AGE);
        CrossingCost slow = CrossingCost.UNKNOWN;
        for (int i = 0; i < 100; i++) {
            slow = slow.crossed(3_000_000, 1_000).atHome(1_000_000, 1_000);
        }
        made.costs[1] = slow;
        assertThat(aged.boundNanos(1)).isBetween(1_999_000L, 2_001_000L);
        assertThat(aged.boundNanos(2)).isEqualTo(AGE);
    }

    @ParameterizedTest
    @CsvSource({"8, 16, true", "8, 15, false", "7, 1000, false"})
    void theGateOfTheArticleIsForAWholeIdleDomainBesideABacklog(int idle, int waiting, boolean may) {
        made.queue(1, waiting, waiting);
        Arrays.fill(made.idle, idle);
        made.idle[1] = 0;
        assertThat(gated.mayTake(2, 1)).isEqualTo(may);
        assertThat(helpers(gated)).isEqualTo(may ? List.of(2, 3, 0) : List.of());
    }

    @Test
    void withoutAGateAnyoneMayTakeAndTheWatcherWakesNobody() {
        made.queue(1, 1, 0);
        assertThat(ungated.mayTake(0, 1)).isTrue();
        assertThat(helpers(ungated)).isEmpty();
        assertThat(ungated.wakesNext(2, 1)).isTrue();
        made.waiting[1] = 0;
        assertThat(ungated.wakesNext(2, 1)).isFalse();
    }

    @Test
    void aThiefWakesTheNextOfItsDomainWhileThereAreOldTasks() {
        made.queue(1, 5, 2);
        made.idle[2] = 1;
        assertThat(aged.wakesNext(2, 1)).isTrue();
        made.idle[2] = 0;
        assertThat(aged.wakesNext(2, 1)).as("nobody left to wake").isFalse();
        made.idle[2] = 1;
        made.queue(1, 4, 0);
        assertThat(aged.wakesNext(2, 1)).as("the rest is young").isFalse();
    }

    @Test
    void looksAreCloserWhileAWorkerOfAnotherDomainIsIdle() {
        assertThat(aged.nextLook()).as("nothing waits").isEqualTo(Long.MAX_VALUE);
        made.queue(1, 1, 0);
        assertThat(aged.nextLook()).isEqualTo(AGE / 2);
        Arrays.fill(made.idle, 0);
        assertThat(aged.nextLook()).as("nobody could help").isEqualTo(Crossings.LONGEST_LOOK_NANOS);
        made.idle[1] = 1;
        assertThat(aged.nextLook()).as("idle at home").isEqualTo(Crossings.LONGEST_LOOK_NANOS);
    }

    @ParameterizedTest
    @CsvSource({"0, 20000", "30000, 20000", "1000000000, 1000000"})
    void looksAreNeitherCloserThanTheyAreWorthNorRare(long age, long interval) {
        made.queue(1, 1, 0);
        assertThat(new Crossings(layout, SchedulingPolicy.HOME_DOMAIN, new CrossDomainGate(age), made).nextLook())
                .isEqualTo(interval);
    }
}
