package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What {@link ExecutorService} promises, as the tests of JSR 166 check it. Run on the JDK's own pool as well, so that
 * what is asked here is what the interface asks.
 */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ExecutorServiceContract {
    static final int WORKERS = 2;

    private final CountDownLatch gate = new CountDownLatch(1);
    private @SuppressWarnings("NullAway.Init") ExecutorService executor;

    /** An executor of {@link #WORKERS} threads with room for a hundred tasks that wait. */
    abstract ExecutorService open();

    @BeforeEach
    void setUp() {
        executor = open();
    }

    @AfterEach
    void openTheGateAndClose() {
        gate.countDown();
        executor.close();
        afterClose();
    }

    /** Releases what {@link #open} has opened besides. */
    void afterClose() {}

    @Test
    void submittedTasksReturnWhatTheyShould() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        assertThat(executor.submit(() -> ran.set(true)).get()).isNull();
        assertThat(ran).isTrue();
        assertThat(executor.submit(() -> {}, "result").get()).isEqualTo("result");
        assertThat(executor.submit(() -> "called").get()).isEqualTo("called");
        assertThat(executor.submit(() -> "called").get(10, TimeUnit.SECONDS)).isEqualTo("called");
    }

    @Test
    void whatATaskThrowsIsTheCauseOfWhatGetThrows() {
        IllegalStateException thrown = new IllegalStateException("task");
        assertThatThrownBy(executor.submit((Callable<Object>) () -> {
                    throw thrown;
                })::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isSameAs(thrown);
    }

    @Test
    void anExceptionOutOfExecuteLeavesTheExecutorAtWork() throws Exception {
        for (int i = 0; i < 2 * WORKERS; i++) {
            executor.execute(() -> {
                throw new IllegalStateException("of a test");
            });
        }
        assertThat(executor.submit(() -> 1).get()).isEqualTo(1);
    }

    @Test
    void nullsAreRefused() {
        assertThatNullPointerException().isThrownBy(() -> executor.execute(null));
        assertThatNullPointerException().isThrownBy(() -> executor.submit((Runnable) null));
        assertThatNullPointerException().isThrownBy(() -> executor.submit((Runnable) null, 1));
        assertThatNullPointerException().isThrownBy(() -> executor.submit((Callable<Object>) null));
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(null));
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(null));
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(null, 1, TimeUnit.SECONDS));
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(null, 1, TimeUnit.SECONDS));
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(returning(1), 1, null));
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(returning(1), 1, null));
        List<Callable<Integer>> withNull = Arrays.asList(() -> 1, null);
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(withNull));
        assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(Arrays.asList(null, null)));
    }

    @Test
    void noTasksAtAll() throws Exception {
        assertThatThrownBy(() -> executor.invokeAny(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> executor.invokeAny(List.of(), 1, TimeUnit.SECONDS))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(executor.invokeAll(List.of())).isEmpty();
        assertThat(executor.invokeAll(List.of(), 1, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void invokeAllReturnsDoneFuturesInOrderWhetherTheyFailedOrNot() throws Exception {
        List<Future<Integer>> futures = executor.invokeAll(List.of(() -> 1, failing(), () -> 3));
        assertThat(futures).hasSize(3).allMatch(Future::isDone);
        assertThat(futures.get(0).get()).isEqualTo(1);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(futures.get(1)::get)
                .withCauseInstanceOf(IllegalStateException.class);
        assertThat(futures.get(2).get()).isEqualTo(3);
    }

    @Test
    void invokeAllWithTooLittleTimeCancelsWhatIsNotDone() throws Exception {
        List<Future<Integer>> futures =
                executor.invokeAll(List.of(() -> 1, this::waitAtTheGate), 200, TimeUnit.MILLISECONDS);
        assertThat(futures).allMatch(Future::isDone);
        assertThat(futures.get(0).get()).isEqualTo(1);
        assertThat(futures.get(1).isCancelled()).isTrue();
    }

    @Test
    void invokeAnyReturnsOneThatSucceedsAndCancelsTheRest() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch waiting = new CountDownLatch(1);
        Callable<Integer> loser = () -> {
            try {
                waiting.countDown();
                return waitAtTheGate();
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
        };
        Callable<Integer> winner = () -> {
            waiting.await();
            return 7;
        };
        assertThat(executor.invokeAny(List.of(failing(), loser, winner))).isEqualTo(7);
        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void invokeAnyFailsWhereAllFail() {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> executor.invokeAny(List.of(failing(), failing())))
                .withCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void invokeAnyGivesUpInTime() {
        assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> executor.invokeAny(List.of(this::waitAtTheGate), 50, TimeUnit.MILLISECONDS));
    }

    @Test
    void getGivesUpInTimeAndWhenInterrupted() throws Exception {
        Future<Integer> future = executor.submit(this::waitAtTheGate);
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> future.get(20, TimeUnit.MILLISECONDS));
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(future::get);
        gate.countDown();
        assertThat(future.get()).isZero();
    }

    @Test
    void cancellingInterruptsARunningTaskIfAskedTo() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Future<?> future = executor.submit(() -> {
            begun.countDown();
            try {
                waitAtTheGate();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
        });
        begun.await();
        assertThat(future.cancel(true)).isTrue();
        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
        assertThatExceptionOfType(CancellationException.class).isThrownBy(future::get);
        assertThat(executor.submit(() -> Thread.currentThread().isInterrupted()).get())
                .isFalse();
    }

    @Test
    void aTaskCancelledBeforeItBeginsNeverRuns() throws Exception {
        occupyAllWorkers();
        AtomicBoolean ran = new AtomicBoolean();
        Future<?> future = executor.submit(() -> ran.set(true));
        assertThat(future.cancel(false)).isTrue();
        gate.countDown();
        executor.submit(() -> {}).get();
        executor.shutdown();
        assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).isFalse();
    }

    @Test
    void shutdownRunsWhatWasAcceptedAndRefusesWhatComes() throws Exception {
        occupyAllWorkers();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 20; i++) {
            executor.execute(ran::incrementAndGet);
        }
        executor.shutdown();
        assertThat(executor.isShutdown()).isTrue();
        assertThat(executor.isTerminated()).isFalse();
        assertThat(executor.awaitTermination(20, TimeUnit.MILLISECONDS)).isFalse();
        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> executor.execute(ran::incrementAndGet));
        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> executor.submit(ran::incrementAndGet));
        assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> executor.invokeAll(returning(1)));
        gate.countDown();
        assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(executor.isTerminated()).isTrue();
        assertThat(ran).hasValue(20);
    }

    @Test
    void shutdownNowReturnsWhatNeverBeganAndInterruptsWhatHas() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(WORKERS);
        CountDownLatch begun = new CountDownLatch(WORKERS);
        for (int i = 0; i < WORKERS; i++) {
            executor.execute(() -> {
                begun.countDown();
                try {
                    waitAtTheGate();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
            });
        }
        begun.await();
        AtomicInteger ran = new AtomicInteger();
        List<Runnable> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Runnable task = ran::incrementAndGet;
            waiting.add(task);
            executor.execute(task);
        }
        assertThat(executor.shutdownNow()).containsExactlyInAnyOrderElementsOf(waiting);
        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(executor.isShutdown()).isTrue();
        assertThat(ran).hasValue(0);
    }

    @Test
    void shuttingDownTwiceIsNoHarm() throws Exception {
        executor.shutdown();
        executor.shutdown();
        assertThat(executor.shutdownNow()).isEmpty();
        assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void awaitTerminationCanBeInterrupted() {
        executor.execute(() -> {
            try {
                waitAtTheGate();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        executor.shutdown();
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> executor.awaitTermination(20, TimeUnit.SECONDS));
    }

    @Test
    void closeWaitsForWhatWasAccepted() {
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 50; i++) {
            executor.execute(ran::incrementAndGet);
        }
        executor.close();
        assertThat(ran).hasValue(50);
        assertThat(executor.isTerminated()).isTrue();
    }

    @Test
    void anInterruptedCloseStopsWhatRuns() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Future<Integer> future = executor.submit(() -> {
            begun.countDown();
            return waitAtTheGate();
        });
        begun.await();
        Thread.currentThread().interrupt();
        executor.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(executor.isTerminated()).isTrue();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(future::get)
                .withCauseInstanceOf(InterruptedException.class);
    }

    @Test
    void whatHappensBeforeSubmissionIsSeenByTheTaskAndWhatItDoesByWhoGetsIt() throws Exception {
        for (int i = 0; i < 2_000; i++) {
            int[] plain = {i};
            executor.submit(() -> {
                        plain[0]++;
                    })
                    .get();
            assertThat(plain[0]).isEqualTo(i + 1);
        }
    }

    private void occupyAllWorkers() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(WORKERS);
        for (int i = 0; i < WORKERS; i++) {
            var _ = executor.submit(() -> {
                begun.countDown();
                return waitAtTheGate();
            });
        }
        begun.await();
    }

    private int waitAtTheGate() throws InterruptedException {
        gate.await();
        return 0;
    }

    private static List<Callable<Integer>> returning(int value) {
        return List.of(() -> value);
    }

    private static Callable<Integer> failing() {
        return () -> {
            throw new IllegalStateException("of a test");
        };
    }
}
