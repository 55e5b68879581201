package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.testkit.Machines;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WatchTest {
    /** Armed again at once, it stays armed for some looks; without anything to watch it must rest in the end. */
    @Test
    void aWatchThatIsArmedAgainAndAgainRestsOnceNobodyArmsIt() {
        WorkerPool pool = StressTasks.pool(
                WorkerLayout.of(Machines.of(2, 1)), new TrafficMonitor(2, 2), CrossDomainGate.DEFAULT, 16);
        pool.start();
        try {
            for (int round = 0; round < 20; round++) {
                pool.watch().arm();
                assertThat(rests(pool)).as("round %d", round).isTrue();
            }
            pool.watch().armForOverdue();
            assertThat(rests(pool)).isTrue();
        } finally {
            pool.terminate();
        }
    }

    private static boolean rests(WorkerPool pool) {
        long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (pool.watch().isArmed() && System.nanoTime() < giveUp) {
            Thread.onSpinWait();
        }
        return !pool.watch().isArmed();
    }
}
