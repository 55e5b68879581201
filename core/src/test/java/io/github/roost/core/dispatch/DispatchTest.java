package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DispatchTest {
    private final WorkerLayout genoa = WorkerLayout.of(Machines.of(12, 8));
    private final WorkerLayout twoSockets = WorkerLayout.of(Machines.packages(2, 2, 2));

    @Test
    void aTableKeepsToOneWorkerOfItsHomeWhileThatIsNotBehind() {
        Mapping mapping = Mapping.of(12, new int[] {3, 3, 7});
        Dispatcher dispatcher = new HomeDomainDispatcher(genoa);
        Set<Integer> workers = new HashSet<>();
        for (long ticket = 0; ticket < 100; ticket++) {
            workers.add(dispatcher.worker(0, mapping, worker -> 0, ticket));
        }
        assertThat(workers).hasSize(1).allMatch(worker -> genoa.domainOf(worker) == 3);
    }

    @Test
    void aBusyWorkerIsPassedOverForALessLoadedOneOfTheSameDomain() {
        Mapping mapping = Mapping.of(12, new int[] {3});
        Dispatcher dispatcher = new HomeDomainDispatcher(genoa);
        int usual = dispatcher.worker(0, mapping, worker -> 0, 5);
        for (long ticket = 0; ticket < 100; ticket++) {
            int other = dispatcher.worker(0, mapping, worker -> worker == usual ? 9 : 1, ticket);
            assertThat(other).isNotEqualTo(usual);
            assertThat(genoa.domainOf(other)).isEqualTo(3);
        }
    }

    @Test
    void whileNobodySleepsATaskLeavesItsWorkerForOneWithAtMostHalfTheLoad() {
        Mapping mapping = Mapping.of(12, new int[] {3});
        Dispatcher dispatcher = new HomeDomainDispatcher(genoa);
        int usual = dispatcher.worker(0, mapping, worker -> 0, 5);
        int[][] loads = {{1, 0}, {2, 2}, {9, 5}, {2, 1}, {9, 4}};
        for (int[] pair : loads) {
            LoadView nobodySleeps = new LoadView() {
                @Override
                public int load(int worker) {
                    return worker == usual ? pair[0] : pair[1];
                }

                @Override
                public boolean noneAsleepBeside(int worker) {
                    return worker == usual;
                }
            };
            boolean leaves = pair[0] > 1 && 2 * pair[1] <= pair[0];
            assertThat(new Random(3).longs(100))
                    .allMatch(ticket -> leaves == (dispatcher.worker(0, mapping, nobodySleeps, ticket) != usual));
        }
    }

    /** Each of 128 searches in flight is of a table by Zipf's law; the worker that ends one submits the next. */
    @Test
    void theQueueOfAnIdWithMoreTrafficThanItsWorkerServesStaysShort() {
        WorkerLayout sixteen = WorkerLayout.of(Machines.of(1, 16));
        Mapping mapping = Mapping.of(1, new int[58]);
        Dispatcher dispatcher = new HomeDomainDispatcher(sixteen);
        int[] waiting = new int[16];
        LoadView busy = new LoadView() {
            @Override
            public int load(int worker) {
                return 1 + waiting[worker];
            }

            @Override
            public boolean noneAsleepBeside(int worker) {
                return true;
            }
        };
        double[] shares = IntStream.range(0, 58).mapToDouble(i -> 1. / (i + 1)).toArray();
        double sum = Arrays.stream(shares).sum();
        Random random = new Random(5);
        int stolen = 0;
        int longest = 0;
        int tasks = 20_000;
        for (int task = 0; task < 112 + tasks; task++) {
            double drawn = random.nextDouble(sum);
            int table = 0;
            for (; table < 57 && drawn >= shares[table]; table++) {
                drawn -= shares[table];
            }
            int worker = dispatcher.worker(table, mapping, busy, random.nextLong());
            longest = Math.max(longest, ++waiting[worker]);
            if (task >= 112) {
                int thief = random.nextInt(16);
                if (waiting[thief] > 0) {
                    waiting[thief]--;
                } else {
                    stolen++;
                    IntStream.range(0, 16)
                            .filter(victim -> waiting[victim] > 0)
                            .findAny()
                            .ifPresent(victim -> waiting[victim]--);
                }
            }
        }
        assertThat(longest).isLessThan(40);
        assertThat((double) stolen / tasks).isLessThan(.15);
    }

    @Test
    void whileNobodySleepsATaskWaitsNearItsCallerIfThatIsSaidToBeBetter() {
        Mapping mapping = Mapping.of(12, new int[] {3});
        Dispatcher dispatcher = new HomeDomainDispatcher(genoa);
        int usual = dispatcher.worker(0, mapping, worker -> 0, 5);
        int near = genoa.workerIn(3, 0) == usual ? genoa.workerIn(3, 1) : genoa.workerIn(3, 0);
        for (boolean noneAsleep : new boolean[] {false, true}) {
            LoadView load = new LoadView() {
                @Override
                public int load(int worker) {
                    return 0;
                }

                @Override
                public boolean noneAsleepBeside(int worker) {
                    return noneAsleep;
                }

                @Override
                public int nearCaller(int worker) {
                    return near;
                }
            };
            assertThat(dispatcher.worker(0, mapping, load, 5)).isEqualTo(noneAsleep ? near : usual);
        }
    }

    @Test
    void ofSeveralHomesALessLoadedOneIsTaken() {
        Mapping mapping = Mapping.of(12, new int[] {0}).edit(1).homes(0, 2, 5).build();
        Dispatcher dispatcher = new HomeDomainDispatcher(genoa);
        for (long ticket = 0; ticket < 100; ticket++) {
            int worker = dispatcher.worker(0, mapping, w -> genoa.domainOf(w) == 2 ? 4 : 0, ticket << 16 | ticket);
            assertThat(genoa.domainOf(worker)).isEqualTo(5);
        }
    }

    @Test
    void roundRobinTakesEveryWorkerInTurn() {
        Dispatcher dispatcher = Dispatcher.of(SchedulingPolicy.ROUND_ROBIN, genoa);
        assertThat(IntStream.range(0, 96).map(ticket -> dispatcher.worker(0, Mapping.empty(12), w -> 0, ticket)))
                .containsExactlyElementsOf(IntStream.range(0, 96).boxed().toList());
    }

    @Test
    void stealingGoesFromNearToFar() {
        StealOrder order = StealOrder.nearestFirst(twoSockets, 2);
        assertThat(order.victims()).isEqualTo(1);
        assertThat(order.victim(0)).isEqualTo(3);
        assertThat(order.gatedLevels()).isEqualTo(2);
        assertThat(IntStream.range(0, order.gated(0)).map(i -> order.gated(0, i)))
                .containsExactly(0);
        assertThat(IntStream.range(0, order.gated(1)).map(i -> order.gated(1, i)))
                .containsExactly(2, 3);
    }

    @Test
    void blindStealingKnowsNoDistanceAndNoStealingNobody() {
        assertThat(StealOrder.anywhere(twoSockets, 2).victims()).isEqualTo(7);
        assertThat(StealOrder.none().victims()).isZero();
        assertThat(StealOrder.none().gatedLevels()).isZero();
    }
}
