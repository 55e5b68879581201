package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.dispatch.Backlog;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.testkit.Machines;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

/** A submitter notes a backlog, and is held up before it writes that down until the queue is empty again. */
class StaleBacklogTest {
    @Test
    @SuppressWarnings("unchecked")
    void aBacklogThatIsNotedTooLateEndsAtTheNextLook() throws Exception {
        WorkerPool pool = StressTasks.pool(
                WorkerLayout.of(Machines.of(2, 1)), new TrafficMonitor(2), new CrossDomainGate(2, 200_000), 16);
        AtomicReferenceArray<Backlog> backlogs = (AtomicReferenceArray<Backlog>)
                MethodHandles.privateLookupIn(CrossDomainHelp.class, MethodHandles.lookup())
                        .findVarHandle(CrossDomainHelp.class, "backlogs", AtomicReferenceArray.class)
                        .get(pool.help());
        backlogs.set(0, new Backlog(System.nanoTime() - 1_000_000_000, Backlog.NEVER, 0));
        // A queue that is empty opens no gate, whatever was noted.
        assertThat(pool.help().gateOpens(1, 0)).isFalse();
        // And the watch looks once, not for ever.
        assertThat(pool.watch().watchOnce()).isEqualTo(Long.MAX_VALUE);
        assertThat(backlogs.get(0)).isEqualTo(Backlog.NONE);
    }
}
