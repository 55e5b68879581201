package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The mark of a sleeping worker whose thread was replaced. */
class WorkerSleepTest {
    @Test
    void aReplacedThreadNeverHidesThatItsSuccessorSleeps() {
        WorkerPool pool = StressTasks.pool();
        IdleWorkers idle = pool.idle();
        Worker worker = pool.worker(0);
        Runner replaced = StressTasks.looking(pool, 0);
        assertThat(StressTasks.fallsAsleep(replaced)).isTrue();
        Runner present = StressTasks.looking(pool, 0);
        assertThat(worker.asleep()).as("the replaced one was woken").isNull();
        assertThat(worker.marksAsleep(replaced))
                .as("but may mark itself for a moment")
                .isTrue();
        assertThat(StressTasks.fallsAsleep(present))
                .as("while the other is marked")
                .isFalse();
        assertThat(worker.unmarks(replaced)).isTrue();

        idle.getsUp(worker, replaced);
        assertThat(StressTasks.fallsAsleep(present)).isTrue();
        idle.getsUp(worker, replaced);
        assertThat(worker.asleep()).isSameAs(present);

        assertThat(idle.wake(worker)).isTrue();
        assertThat(worker.asleep()).isNull();
        assertThat(idle.wake(worker)).isFalse();
        assertThat(idle.idle(0)).as("both look").isEqualTo(2);
    }

    @Test
    void aReplacedThreadMayNotSleep() {
        WorkerPool pool = StressTasks.pool();
        Runner replaced = StressTasks.looking(pool, 0);
        assertThat(replaced.goesOn()).isTrue();
        StressTasks.runner(pool, 0);
        assertThat(replaced.goesOn()).isFalse();
    }
}
