package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.TableClosedException;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.spi.BuildWork;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MergeSchedulerTest {
    private final Orchestrator orchestrator =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();
    private final LiveTable table = LiveTable.builder().build(orchestrator, 1);

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private MergeScheduler<LiveTable> merge(Predicate<BuildWork> step) {
        return new MergeScheduler<>(table, "test", () -> new BuildWork(orchestrator, "test"), step);
    }

    /** A step that goes on until the work of its run is cancelled or it is let go on. */
    private static final class Endless implements Predicate<BuildWork> {
        private final Semaphore begun = new Semaphore(0);
        private final Semaphore ends = new Semaphore(0);
        private final Semaphore cancelled = new Semaphore(0);

        @Override
        public boolean test(BuildWork work) {
            begun.release();
            while (!ends.tryAcquire()) {
                try {
                    work.yieldToSearches();
                } catch (CancellationException end) {
                    cancelled.release();
                    throw end;
                }
                Thread.onSpinWait();
            }
            return false;
        }
    }

    @Test
    @Timeout(60)
    void aRunIsCancelledWithTheLastMergeThatItServes() {
        Endless step = new Endless();
        try (MergeScheduler<LiveTable> merge = merge(step)) {
            TableBuild<LiveTable> first = merge.start();
            step.begun.acquireUninterruptibly();
            // Both are served by the next run.
            TableBuild<LiveTable> second = merge.start();
            TableBuild<LiveTable> third = merge.start();
            assertThat(first.cancel()).isTrue();
            step.cancelled.acquireUninterruptibly();
            assertThatThrownBy(first::join).isInstanceOf(CancellationException.class);
            assertThat(first.cancel()).isTrue();

            step.begun.acquireUninterruptibly();
            assertThat(second.cancel()).isTrue();
            assertThat(third.result()).isNotDone();
            step.ends.release();
            assertThat(third.join()).isSameAs(table);
            assertThat(third.progress()).isEqualTo(1);
            assertThat(third.cancel()).isFalse();
            assertThat(step.cancelled.availablePermits()).isZero();
        }
    }

    @Test
    @Timeout(60)
    void aRunThatTheTableHasAskedForOutlivesAMergeThatIsCancelled() {
        Endless step = new Endless();
        try (MergeScheduler<LiveTable> merge = merge(step)) {
            merge.request();
            step.begun.acquireUninterruptibly();
            merge.request();
            TableBuild<LiveTable> cancelled = merge.start();
            step.ends.release();
            step.begun.acquireUninterruptibly();
            assertThat(cancelled.cancel()).isTrue();
            TableBuild<LiveTable> unbegun = merge.start();
            assertThat(unbegun.cancel()).isTrue();
            step.ends.release();
            TableBuild<LiveTable> last = merge.start();
            step.begun.acquireUninterruptibly();
            step.ends.release();
            assertThat(last.join()).isSameAs(table);
            assertThat(step.cancelled.availablePermits()).isZero();
            assertThat(step.begun.availablePermits()).isZero();
        }
    }

    @Test
    @Timeout(60)
    void closingEndsTheRunUnderWayAndNoneBeginsAfterwards() {
        Endless step = new Endless();
        MergeScheduler<LiveTable> merge = merge(step);
        TableBuild<LiveTable> first = merge.start();
        step.begun.acquireUninterruptibly();
        TableBuild<LiveTable> second = merge.start();
        merge.close();
        assertThatThrownBy(first::join).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(second::join).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(merge::start).isInstanceOf(TableClosedException.class);
        step.cancelled.acquireUninterruptibly();
        merge.request();
        assertThat(step.begun.availablePermits()).isZero();
    }

    @Test
    @Timeout(60)
    void anErrorIsToldToThoseWhoWaitAndTheNextRequestIsServed() throws Exception {
        Error error = new OutOfMemoryError("for this test");
        AtomicInteger steps = new AtomicInteger();
        try (MergeScheduler<LiveTable> merge = merge(work -> {
            if (steps.incrementAndGet() == 1) {
                throw error;
            }
            return false;
        })) {
            assertThatThrownBy(() -> merge.start().join())
                    .isInstanceOf(IllegalStateException.class)
                    .hasCause(error);
            merge.start().join();
            assertThat(steps).hasValue(2);
        }
    }

    @Test
    @Timeout(60)
    void anErrorThatCannotEvenBeLoggedKeepsNoRequestWaiting() throws Exception {
        Error error = new OutOfMemoryError() {
            private static final long serialVersionUID = 1;

            @Override
            public String getMessage() {
                throw new OutOfMemoryError("for the message");
            }
        };
        AtomicInteger steps = new AtomicInteger();
        CountDownLatch ended = new CountDownLatch(1);
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, uncaught) -> ended.countDown());
        try (MergeScheduler<LiveTable> merge = merge(work -> {
            if (steps.incrementAndGet() == 1) {
                throw error;
            }
            return false;
        })) {
            assertThatThrownBy(() -> merge.start().join()).isInstanceOf(IllegalStateException.class);
            // A thread that died has come to this, or is still on its way.
            merge.start().join();
            assertThat(steps).hasValue(2);
            assertThat(ended.getCount()).isOne();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    @Test
    @Timeout(60)
    void thatTheOrchestratorWasClosedIsNoAlarm() throws Exception {
        Orchestrator closed =
                Orchestrator.builder().topology(Fixtures.twoDomains()).build();
        closed.close();
        assertThat(loggedWhile(() -> closed.indexing().runBatch("test", 1, piece -> {})))
                .isEmpty();
        assertThat(loggedWhile(() -> {
                    throw new IllegalStateException(new OrchestratorClosedException());
                }))
                .isEmpty();
        assertThat(loggedWhile(() -> {
                    throw new IllegalStateException("for this test");
                }))
                .contains("WARN")
                .contains("for this test");
    }

    /** What is logged while a step fails. */
    private String loggedWhile(Runnable failing) {
        PrintStream err = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        AtomicInteger steps = new AtomicInteger();
        try (MergeScheduler<LiveTable> merge = merge(work -> {
            if (steps.incrementAndGet() == 1) {
                failing.run();
            }
            return false;
        })) {
            assertThatThrownBy(() -> merge.start().join())
                    .isInstanceOfAny(IllegalStateException.class, OrchestratorClosedException.class);
            // The thread logs before it looks for the next request.
            merge.start().join();
        } finally {
            System.setErr(err);
        }
        return logged.toString(StandardCharsets.UTF_8);
    }
}
