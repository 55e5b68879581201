package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The mark of a sleeping worker whose thread was replaced. */
class WorkerSleepTest {
    @Test
    void aReplacedThreadNeverHidesThatItsSuccessorSleeps() {
        WorkerPool pool = StressTasks.pool();
        Worker worker = pool.worker(0);
        Runner replaced = StressTasks.runner(pool, 0);
        worker.parks(replaced);
        Runner present = StressTasks.runner(pool, 0);
        assertThat(StressTasks.parks(present)).isTrue();

        worker.getsUp(replaced);
        assertThat(worker.isParked()).isTrue();
        worker.parks(replaced);
        worker.getsUp(replaced);
        assertThat(worker.isParked()).isTrue();

        assertThat(worker.wake()).isTrue();
        assertThat(worker.isParked()).isFalse();
        assertThat(worker.wake()).isFalse();
    }

    @Test
    void aReplacedThreadMayNotSleep() {
        WorkerPool pool = StressTasks.pool();
        Runner replaced = StressTasks.runner(pool, 0);
        assertThat(StressTasks.parks(replaced)).isTrue();
        StressTasks.runner(pool, 0);
        assertThat(replaced.mayTakeSomething()).isTrue();
    }
}
