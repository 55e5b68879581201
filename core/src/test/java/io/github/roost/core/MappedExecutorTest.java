package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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
    void callablesReturnAndThrow() throws Exception {
        assertThat(executor.submit(() -> 42).get()).isEqualTo(42);
        assertThatThrownBy(() -> executor.submit(() -> {
                            throw new IllegalStateException("no");
                        })
                        .get())
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void aRunnableThatThrowsDoesNotHurtTheWorker() throws Exception {
        executor.execute(() -> {
            throw new IllegalStateException("no");
        });
        assertThat(executor.submit(() -> 1).get()).isEqualTo(1);
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
    void shutdownRunsWhatWasAcceptedAndRefusesMore() throws Exception {
        List<Integer> ran = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            executor.execute(() -> ran.add(number));
        }
        executor.shutdown();
        assertThat(executor.isShutdown()).isTrue();
        assertThatThrownBy(() -> executor.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(executor.isTerminated()).isTrue();
        assertThat(ran).hasSize(100);
    }

    @Test
    void shutdownNowInterruptsWhatRunsAndReturnsWhatDoesNot() throws Exception {
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
    void awaitTerminationGivesUpInTime() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        executor.submit(() -> release.await(20, TimeUnit.SECONDS));
        executor.shutdown();
        assertThat(executor.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(executor.isTerminated()).isFalse();
        release.countDown();
        assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void nullIsRefused() {
        assertThatThrownBy(() -> executor.execute(null)).isInstanceOf(NullPointerException.class);
    }
}
