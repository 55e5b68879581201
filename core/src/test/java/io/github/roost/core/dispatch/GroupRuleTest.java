package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.spi.GroupRule;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GroupRuleTest {
    private static final GroupRule RULE = GroupRule.DEFAULT;

    @Test
    void groupsAreAsLargeAsTheBudgetAllowsWhereAllWorkersAreBusy() {
        assertThat(RULE.size(0, false)).isEqualTo(4);
        assertThat(RULE.size(1, false)).isEqualTo(64);
        assertThat(RULE.size(3_125, false)).isEqualTo(64);
        assertThat(RULE.size(20_000, false)).isEqualTo(10);
        assertThat(RULE.size(50_000, false)).isEqualTo(4);
        assertThat(RULE.size(Long.MAX_VALUE, false)).isEqualTo(4);
        assertThat(RULE.size(1, true)).isEqualTo(1);
    }

    @Test
    void whoFindsTooFewTasksQueuesOne() {
        assertThat(GroupRule.needsTask(1, 0, 4)).isTrue();
        assertThat(GroupRule.needsTask(4, 1, 4)).isFalse();
        assertThat(GroupRule.needsTask(5, 1, 4)).isTrue();
        assertThat(GroupRule.needsTask(5, 1, 16)).isFalse();
    }

    /** What the queue's promise rests on: whatever the sizes, tasks come to all who wait, and no group is above the most. */
    @Test
    void tasksThatAreQueuedComeToAllWhateverTheSizesBecome() {
        SplittableRandom random = new SplittableRandom(25);
        int waiting = 0;
        int tasks = 0;
        for (int step = 0; step < 100_000; step++) {
            int size = 1 + random.nextInt(64);
            if (tasks == 0 || random.nextInt(100) < 70 + 25 * Integer.signum(random.nextInt(3) - 2)) {
                waiting++;
                tasks += GroupRule.needsTask(waiting, tasks, size) ? 1 : 0;
            } else {
                int taken = GroupRule.taken(waiting, tasks);
                assertThat(taken).isBetween(0, Math.min(waiting, 64));
                tasks--;
                waiting -= taken;
            }
            assertThat(waiting).isLessThanOrEqualTo(tasks * 64);
        }
    }

    @Test
    void theMeanFollowsWhatIsMeasured() {
        long mean = GroupRule.measured(0, 8_000, 4);
        assertThat(mean).isEqualTo(2_000);
        for (int i = 0; i < 100; i++) {
            mean = GroupRule.measured(mean, 40_000, 4);
        }
        assertThat(mean).isBetween(9_900L, 10_000L);
        assertThat(GroupRule.measured(mean, 0, 16)).isPositive();
    }

    @Test
    void refusesWhatCannotBeARule() {
        assertThatThrownBy(() -> new GroupRule(0, 4, 4, 1)).hasMessageContaining("at least 1, got 0");
        assertThatThrownBy(() -> new GroupRule(2, 1, 4, 1)).hasMessageContaining("while workers are free, 2, got 1");
        assertThatThrownBy(() -> new GroupRule(2, 4, 3, 1)).hasMessageContaining("at least the min, 4, got 3");
        assertThatThrownBy(() -> new GroupRule(2, 4, 4, 0)).hasMessageContaining("at least 1 ns, got 0");
    }
}
