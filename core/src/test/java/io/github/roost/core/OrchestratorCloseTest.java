package io.github.roost.core;

import static io.github.roost.core.BlockedWorkers.DOUBLE;
import static io.github.roost.core.BlockedWorkers.FOREVER;
import static io.github.roost.core.BlockedWorkers.await;
import static io.github.roost.core.BlockedWorkers.blocking;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What was accepted before an orchestrator is closed, and what comes after. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrchestratorCloseTest {
    @Test
    void closeDrainsWhatWasAccepted() {
        Orchestrator orchestrator = Machines.orchestrator(2, 2).build();
        Registration table = orchestrator.register("table", 8);
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            futures.add(orchestrator.submit(DOUBLE, i, table.id(i % 8)));
        }
        assertThat(orchestrator.close(Duration.ofSeconds(30))).isTrue();
        assertThat(futures).allSatisfy(future -> assertThat(future).isCompleted());
        assertThatThrownBy(() -> orchestrator.submit(DOUBLE, 1, table.id(0)))
                .isInstanceOf(OrchestratorClosedException.class)
                .hasMessageContaining("closed");
        assertThat(orchestrator.close(Duration.ofSeconds(1))).isTrue();
    }

    @Test
    void closeFailsWhatIsLeftWhenTheTimeIsUp() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Integer> running = orchestrator.submit(blocking(started, release), 0, id);
        CompletableFuture<Integer> queued = orchestrator.submit(DOUBLE, 1, id);
        await(started);
        assertThat(orchestrator.close(Duration.ofMillis(10))).isFalse();
        assertThatThrownBy(running::join).hasCauseInstanceOf(OrchestratorClosedException.class);
        release.countDown();
        assertThatThrownBy(queued::join).hasCauseInstanceOf(OrchestratorClosedException.class);
    }

    @Test
    void closeFailsAlsoASearchInWhoseMidstAnotherRuns() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Integer> outer = orchestrator.submit(
                (query, context) ->
                        orchestrator.submit(blocking(started, release), 0, id).join(),
                0,
                id);
        await(started);
        assertThat(orchestrator.close(Duration.ofMillis(10))).isFalse();
        assertThat(outer).isCompletedExceptionally();
        release.countDown();
        assertThatThrownBy(outer::join).hasCauseInstanceOf(OrchestratorClosedException.class);
    }

    @Test
    void closeWaitsAsLongAsItIsTold() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> future = orchestrator.submit(DOUBLE, 1, id);
        assertThat(orchestrator.close(FOREVER)).isTrue();
        assertThat(future).isCompletedWithValue(2);
        assertThat(orchestrator.close(FOREVER)).isTrue();
    }

    @Test
    void aCallbackOfADeadlineCannotClose() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Integer> running = orchestrator.submit(blocking(started, release), 0, id);
        await(started);
        CompletableFuture<Boolean> closes = orchestrator
                .submit(DOUBLE, 1, id, SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(1)))
                .handle((none, late) -> orchestrator.close(FOREVER));
        assertThatThrownBy(() -> closes.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
        release.countDown();
        assertThat(running.join()).isZero();
        assertThat(orchestrator.close(Duration.ofSeconds(30))).isTrue();
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void closeWithoutATimeoutChangesNothing() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        assertThatThrownBy(() -> orchestrator.close(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("timeout must not be null");
        assertThat(orchestrator.submit(DOUBLE, 1, id).join()).isEqualTo(2);
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void waitingForAsLittleAsALongTellsGivesUpAtOnce() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CompletableFuture<Integer> search = orchestrator.submit(blocking(started, release), 1, id);
            for (long nanos : new long[] {0, -1, Long.MIN_VALUE}) {
                assertThatThrownBy(() -> search.get(nanos, TimeUnit.NANOSECONDS))
                        .isInstanceOf(TimeoutException.class);
            }
            release.countDown();
            assertThat(search.get(Long.MAX_VALUE, TimeUnit.NANOSECONDS)).isEqualTo(1);
        }
    }
}
