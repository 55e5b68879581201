package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StealingTest {
    private static final int ROUNDS = 10_000;

    /** Queues of which a thief may see the lengths; a task is the number of the worker it was taken from. */
    private static class Queues implements Stealing.Victims<Integer> {
        private final int[] waiting;
        private final int[] batch;
        private final List<Integer> requested = new ArrayList<>();
        private final List<Integer> gatesAsked = new ArrayList<>();
        private final Set<Integer> open = new HashSet<>();

        Queues(int workers) {
            waiting = new int[workers];
            batch = new int[workers];
        }

        @Override
        public int waiting(int worker) {
            requested.add(worker);
            return waiting[worker];
        }

        @Override
        public int waitingBatch(int worker) {
            requested.add(worker);
            return batch[worker];
        }

        @Override
        public int crossing(int worker) {
            return waiting[worker];
        }

        @Override
        public boolean gateOpens(int domain) {
            gatesAsked.add(domain);
            return open.contains(domain);
        }

        @Override
        public @Nullable Integer take(int victim, boolean ofBatch) {
            requested.add(victim);
            int[] from = ofBatch ? batch : waiting;
            if (from[victim] == 0) {
                return null;
            }
            from[victim]--;
            return victim;
        }

        @Override
        public @Nullable Integer takeAcross(int victim) {
            return take(victim, false);
        }
    }

    private final SplittableRandom random = new SplittableRandom(11);

    private Stealing<Integer> thief(WorkerLayout layout, SchedulingPolicy scheduling, int worker, Queues queues) {
        return new Stealing<>(layout, StealOrder.of(scheduling, layout, worker), queues, random::nextInt);
    }

    @Test
    void ofTwoTheFullerIsTakenFrom() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(1, 3));
        Queues queues = new Queues(3);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        for (int round = 0; round < ROUNDS; round++) {
            queues.waiting[1] = 1 + round % 2 * 4;
            queues.waiting[2] = 3;
            assertThat(thief.interactive()).isEqualTo(round % 2 == 0 ? 2 : 1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 16, 96})
    void aLookAsksNoMoreThanTwoOfALevelHoweverManyThereAre(int workers) {
        WorkerLayout layout = WorkerLayout.of(Machines.of(1, workers));
        Queues queues = new Queues(workers);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.WORK_STEALING, 0, queues);
        Set<Integer> all = new HashSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            queues.requested.clear();
            assertThat(thief.interactive()).isNull();
            assertThat(queues.requested)
                    .hasSize(Math.min(2, workers - 1))
                    .doesNotHaveDuplicates()
                    .doesNotContain(0);
            all.addAll(queues.requested);
        }
        assertThat(all).as("everyone has a turn").hasSize(workers - 1);
    }

    @Test
    void aLookMayMissTheOnlyTaskButNotForLong() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(1, 16));
        Queues queues = new Queues(16);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        int found = 0;
        for (int round = 0; round < ROUNDS; round++) {
            queues.waiting[7] = 1;
            found += thief.interactive() == null ? 0 : 1;
        }
        assertThat(found / (double) ROUNDS).isBetween(2 / 15.0 - .02, 2 / 15.0 + .02);
    }

    @Test
    void batchWorkIsLookedForAtTheSameTwo() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(1, 16));
        Queues queues = new Queues(16);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        for (int round = 0; round < ROUNDS; round++) {
            queues.requested.clear();
            Arrays.fill(queues.batch, 0);
            assertThat(thief.interactive()).isNull();
            List<Integer> drawn = List.copyOf(queues.requested);
            assertThat(thief.batch()).isNull();
            assertThat(queues.requested).containsExactly(drawn.get(0), drawn.get(1), drawn.get(0), drawn.get(1));
            queues.batch[drawn.get(0)] = 1;
            queues.batch[drawn.get(1)] = 2;
            assertThat(thief.batch()).isEqualTo(drawn.get(1));
        }
    }

    @Test
    void interactiveWorkLeavesBatchWorkAlone() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(1, 3));
        Queues queues = new Queues(3);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        Arrays.fill(queues.batch, 9);
        queues.waiting[2] = 1;
        assertThat(thief.interactive()).isEqualTo(2);
        assertThat(thief.interactive()).isNull();
        assertThat(queues.batch).containsExactly(9, 9, 9);
    }

    @Test
    void aThiefWithOneVictimDrawsNothing() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(2, 2));
        Queues queues = new Queues(4);
        Stealing<Integer> thief =
                new Stealing<>(layout, StealOrder.of(SchedulingPolicy.HOME_DOMAIN, layout, 0), queues, bound -> {
                    throw new AssertionError("draws one of " + bound);
                });
        queues.waiting[1] = 1;
        assertThat(thief.interactive()).isEqualTo(1);
        assertThat(thief.gated()).isNull();
        assertThat(thief.gatedAnywhere()).isNull();
    }

    @Test
    void otherDomainsAreAskedOnlyWhereTheGateIsOpenAndNearOnesFirst() {
        WorkerLayout layout = WorkerLayout.of(Machines.packages(2, 2, 4));
        Queues queues = new Queues(16);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        Arrays.fill(queues.waiting, 4, 16, 100_000);
        assertThat(thief.interactive()).isNull();
        assertThat(thief.gated()).isNull();
        assertThat(thief.gatedAnywhere()).isNull();
        queues.open.add(3);
        assertThat(thief.gatedAnywhere()).isBetween(12, 15);
        queues.open.add(1);
        for (int round = 0; round < ROUNDS; round++) {
            assertThat(thief.gated()).isBetween(4, 7);
        }
    }

    @Test
    void behindAnOpenGateTheOnlyTaskOfADomainIsFound() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(2, 16));
        Queues queues = new Queues(32);
        queues.open.add(1);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        for (int round = 0; round < ROUNDS; round++) {
            int only = 16 + round % 16;
            queues.waiting[only] = 1;
            assertThat(thief.gated()).isEqualTo(only);
        }
    }

    @Test
    void ofTwoOpenDomainsTheFullerIsTakenFrom() {
        // Domains of one worker each, so that a domain has the number of its worker.
        WorkerLayout layout = WorkerLayout.of(Machines.of(3, 1));
        Queues queues = new Queues(3);
        queues.open.addAll(List.of(1, 2));
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        for (int round = 0; round < ROUNDS; round++) {
            queues.waiting[1] = 1 + round % 2 * 4;
            queues.waiting[2] = 3;
            assertThat(thief.gated()).isEqualTo(round % 2 == 0 ? 2 : 1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 12, 24})
    void aLookAsksNoMoreThanTwoDomainsAndTheLastLookAsksAll(int domains) {
        WorkerLayout layout = WorkerLayout.of(Machines.of(domains, 1));
        Queues queues = new Queues(domains);
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, queues);
        for (int round = 0; round < ROUNDS; round++) {
            queues.gatesAsked.clear();
            assertThat(thief.gated()).isNull();
            assertThat(queues.gatesAsked)
                    .hasSize(Math.min(2, domains - 1))
                    .doesNotHaveDuplicates()
                    .doesNotContain(0);
            int only = 1 + round % (domains - 1);
            queues.open.add(only);
            queues.waiting[only] = 1;
            assertThat(thief.gatedAnywhere()).isEqualTo(only);
            queues.open.remove(only);
        }
    }

    @Test
    void aTaskThatWasTakenMeanwhileIsNoTask() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(1, 2));
        Queues taken = new Queues(2) {
            @Override
            public int waiting(int worker) {
                return 1;
            }
        };
        assertThat(thief(layout, SchedulingPolicy.HOME_DOMAIN, 0, taken).interactive())
                .isNull();
    }

    @Test
    void roundRobinStealsFromNobody() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(2, 2));
        Queues queues = new Queues(4);
        Arrays.fill(queues.waiting, 5);
        queues.open.addAll(List.of(0, 1));
        Stealing<Integer> thief = thief(layout, SchedulingPolicy.ROUND_ROBIN, 0, queues);
        assertThat(thief.interactive()).isNull();
        assertThat(thief.batch()).isNull();
        assertThat(thief.gated()).isNull();
        assertThat(thief.gatedAnywhere()).isNull();
        assertThat(queues.requested).isEmpty();
    }
}
