package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Searches that run in their submitters' threads, since the queue is full, belong to the orchestrator as those on workers do. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InCallersTest {
    private final Orchestrator orchestrator = Machines.orchestrator(1, 1)
            .ringCapacity(1)
            .overloadPolicy(OverloadPolicy.callerRuns())
            .build();
    private final MappingId id = orchestrator.register("table").id();
    private final CountDownLatch workerGoesOn = new CountDownLatch(1);
    private final CountDownLatch callerGoesOn = new CountDownLatch(1);
    private final CountDownLatch inCaller = new CountDownLatch(1);

    @AfterEach
    void close() {
        workerGoesOn.countDown();
        callerGoesOn.countDown();
        orchestrator.close();
    }

    private CompletableFuture<Integer> occupyTheWorker() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Integer> running = orchestrator.submit(
                (query, context) -> {
                    begun.countDown();
                    workerGoesOn.await();
                    return query;
                },
                1,
                id);
        begun.await();
        return running;
    }

    private static Thread caller(Runnable submits) {
        return Thread.ofPlatform().daemon().start(submits);
    }

    @Test
    void aQueryOfAnotherThatACallerRunsFailsWhenTheOrchestratorIsClosed() throws Exception {
        Indexing.GroupSearch<String, String> blocks = (group, context) -> {
            inCaller.countDown();
            callerGoesOn.await();
            return Step.done(true);
        };
        var queue = orchestrator.indexing().batchQueue(id, blocks, GroupRule.ALONE);
        CompletableFuture<Integer> running = occupyTheWorker();
        CompletableFuture<String> waits = orchestrator.indexing().submitShared(queue, "waits", SubmitOptions.DEFAULT);
        Thread caller = caller(() -> {
            var _ = orchestrator.indexing().submitShared(queue, "runs", SubmitOptions.DEFAULT);
        });
        inCaller.await();
        workerGoesOn.countDown();
        assertThat(running.join()).isEqualTo(1);
        assertThat(orchestrator.close(Duration.ofMillis(100))).isFalse();
        assertThatThrownBy(waits::join).hasCauseInstanceOf(OrchestratorClosedException.class);
        callerGoesOn.countDown();
        caller.join();
    }

    @Test
    void aSearchThatWasAcceptedSubmitsAnotherWhileTheOrchestratorCloses() throws Exception {
        var _ = occupyTheWorker();
        var _ = orchestrator.submit((query, context) -> query, 1, id);
        CompletableFuture<CompletableFuture<Integer>> nested = new CompletableFuture<>();
        Thread caller = caller(() -> nested.complete(orchestrator.submit(
                (Integer query, SearchContext context) -> {
                    inCaller.countDown();
                    callerGoesOn.await();
                    return orchestrator
                            .submit((inner, within) -> inner + 1, query, id)
                            .join();
                },
                1,
                id)));
        inCaller.await();
        CompletableFuture<Boolean> closed =
                CompletableFuture.supplyAsync(() -> orchestrator.close(Duration.ofSeconds(30)));
        while (true) {
            try {
                var _ = orchestrator.submit((query, context) -> query, 1, id);
            } catch (OrchestratorClosedException closing) {
                break;
            }
        }
        workerGoesOn.countDown();
        callerGoesOn.countDown();
        assertThat(nested.join().join()).isEqualTo(2);
        assertThat(closed.join()).isTrue();
        caller.join();
    }

    @Test
    void aSearchInACallerDoesNotCloseTheOrchestrator() throws Exception {
        var _ = occupyTheWorker();
        var _ = orchestrator.submit((query, context) -> query, 1, id);
        CompletableFuture<Boolean> closes =
                orchestrator.submit((query, context) -> orchestrator.close(Duration.ofSeconds(50)), 1, id);
        assertThatThrownBy(closes::join)
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("an orchestrator cannot be closed from inside one of its searches");
    }
}
