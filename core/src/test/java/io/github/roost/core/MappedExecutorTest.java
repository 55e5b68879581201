package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MappedExecutorTest {
    private final Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
    private final ExecutorService executor =
            orchestrator.executor(orchestrator.register("table").id());

    @AfterEach
    void close() {
        orchestrator.close();
    }

    @Test
    void invokeAllAndInvokeAnyWorkAlsoInsideATask() throws Exception {
        List<Callable<Integer>> calls =
                IntStream.range(0, 20).<Callable<Integer>>mapToObj(i -> () -> i).toList();
        Callable<Integer> all = () -> {
            int sum = 0;
            for (Future<Integer> future : executor.invokeAll(calls)) {
                sum += future.get();
            }
            return sum;
        };
        assertThat(all.call()).isEqualTo(190);
        assertThat(executor.submit(all).get()).isEqualTo(190);
        assertThat(executor.invokeAny(calls)).isBetween(0, 19);
    }

    @Test
    void anInterruptOfShutdownNowDoesNotOutliveItsTask() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        executor.execute(() -> {
            started.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
        });
        Runnable queued = () -> {
            throw new AssertionError("must not run");
        };
        started.await();
        executor.execute(queued);
        assertThat(executor.shutdownNow()).containsExactly(queued);
        interrupted.await();
        assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(orchestrator
                        .executor(orchestrator.register("other").id())
                        .submit(() -> Thread.currentThread().isInterrupted())
                        .get())
                .isFalse();
    }

    @Test
    void theInterruptOfACancelledTaskDoesNotReachTheOneThatWaitsForIt() throws Exception {
        CompletableFuture<Future<?>> inner = new CompletableFuture<>();
        CountDownLatch innerRuns = new CountDownLatch(1);
        Future<Boolean> outer = executor.submit(() -> {
            Future<?> waitedFor = executor.submit(() -> {
                innerRuns.countDown();
                while (!Thread.currentThread().isInterrupted()) {
                    Thread.onSpinWait();
                }
            });
            inner.complete(waitedFor);
            assertThatThrownBy(waitedFor::get).isInstanceOf(CancellationException.class);
            return Thread.interrupted();
        });
        innerRuns.await();
        assertThat(inner.join().cancel(true)).isTrue();
        assertThat(outer.get()).isFalse();
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // the future that the task returns is waited for at the end
    void theInterruptOfATaskDoesNotReachTheOneThatItWaitsFor() throws Exception {
        Callable<Boolean> asking = () -> Thread.currentThread().isInterrupted();
        MappingId id = orchestrator.register("search").id();
        SearchFunction<Integer, Boolean> search = (query, context) -> asking.call();
        for (Callable<Future<Boolean>> waitedFor : List.<Callable<Future<Boolean>>>of(
                () -> executor.submit(asking), () -> orchestrator.submit(search, 0, id))) {
            Future<Future<Boolean>> outer = executor.submit(() -> {
                Future<Boolean> inner = waitedFor.call();
                Thread.currentThread().interrupt();
                assertThatThrownBy(inner::get).isInstanceOf(InterruptedException.class);
                Thread.currentThread().interrupt();
                assertThatThrownBy(() -> inner.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
                return inner;
            });
            assertThat(outer.get().get()).isFalse();
        }
    }

    @Test
    void aFullRingRefusesAsExecutorsDo() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        try (Orchestrator small = Machines.orchestrator(1, 1).ringCapacity(2).build()) {
            ExecutorService view = small.executor(small.register("table").id());
            Future<Integer> running = view.submit(() -> {
                begun.countDown();
                gate.await();
                return 1;
            });
            begun.await();
            Future<Integer> second = view.submit(() -> 2);
            Future<Integer> third = view.submit(() -> 3);
            assertThatThrownBy(() -> view.submit(() -> 4))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageContaining("domain 0");
            gate.countDown();
            assertThat(running.get() + second.get() + third.get()).isEqualTo(6);
        }
    }

    @Test
    void aFutureThatCloseLeftNoTimeForIsNotWaitedForInVain() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Future<Integer> running = executor.submit(() -> {
            begun.countDown();
            gate.await();
            return 1;
        });
        begun.await();
        Future<Integer> queued = executor.submit(() -> 2);
        assertThat(orchestrator.close(Duration.ofMillis(10))).isFalse();
        for (Future<Integer> future : List.of(running, queued)) {
            assertThatThrownBy(() -> future.get(5, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(OrchestratorClosedException.class);
        }
        gate.countDown();
    }

    @Test
    void futuresOfACompletionServiceThatCloseLeftNoTimeForAreNotWaitedForInVain() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        executor.execute(() -> {
            begun.countDown();
            awaitUninterruptibly(gate);
        });
        begun.await();
        ExecutorCompletionService<Integer> service = new ExecutorCompletionService<>(executor);
        Future<Integer> queued = service.submit(() -> 1);
        FutureTask<Integer> own = new FutureTask<>(() -> 2);
        executor.execute(own);
        assertThat(orchestrator.close(Duration.ofMillis(10))).isFalse();
        assertThat(service.take()).isSameAs(queued);
        assertThatThrownBy(() -> queued.get(5, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(OrchestratorClosedException.class);
        assertThat(own).isCancelled();
        gate.countDown();
    }

    @Test
    void whatATaskRunsBeforeItWouldWaitForItIsNotReturnedAsNeverRun() throws Exception {
        CountDownLatch innerRuns = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        ExecutorService other =
                orchestrator.executor(orchestrator.register("other").id());
        AtomicInteger ran = new AtomicInteger();
        Future<Integer> outer = executor.submit(() -> other.submit(() -> {
                    innerRuns.countDown();
                    awaitUninterruptibly(go);
                    return ran.incrementAndGet();
                })
                .get());
        innerRuns.await();
        assertThat(other.shutdownNow()).isEmpty();
        go.countDown();
        assertThat(outer.get()).isEqualTo(1);
        assertThat(other.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).hasValue(1);
    }

    @Test
    void aTimedWaitInsideATaskEndsInTimeAlsoWhereWhatItWaitsForDoesNot() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        Future<Boolean> outer = executor.submit(() -> {
            Future<Integer> inner = executor.submit(() -> {
                never.await();
                return 1;
            });
            try {
                inner.get(5, TimeUnit.MILLISECONDS);
                return false;
            } catch (TimeoutException e) {
                return true;
            }
        });
        assertThat(outer.get()).isTrue();
        never.countDown();
    }

    @Test
    void theInterruptOfShutdownNowDoesNotReachBatchWorkThatYielded() throws Exception {
        MappingId id = orchestrator.register("batch").id();
        CountDownLatch batchRuns = new CountDownLatch(1);
        CountDownLatch innerRuns = new CountDownLatch(1);
        AtomicBoolean innerDone = new AtomicBoolean();
        CompletableFuture<Boolean> batch = orchestrator.submit(
                (query, context) -> {
                    batchRuns.countDown();
                    while (!innerDone.get()) {
                        orchestrator.indexing().yieldToSearches();
                    }
                    return Thread.currentThread().isInterrupted();
                },
                0,
                id,
                SubmitOptions.BATCH);
        batchRuns.await();
        executor.execute(() -> {
            innerRuns.countDown();
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
            innerDone.set(true);
        });
        innerRuns.await();
        executor.shutdownNow();
        assertThat(batch.get()).isFalse();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
