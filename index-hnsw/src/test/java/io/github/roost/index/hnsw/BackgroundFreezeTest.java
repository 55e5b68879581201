package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.OrchestratorClosedException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class BackgroundFreezeTest {
    @Test
    @Timeout(60)
    void anErrorIsToldToThoseWhoWaitAndTheNextRequestIsServed() throws Exception {
        Error error = new OutOfMemoryError("for this test");
        AtomicInteger steps = new AtomicInteger();
        try (BackgroundFreeze freeze = new BackgroundFreeze("test", () -> {
            if (steps.incrementAndGet() == 1) {
                throw error;
            }
            return false;
        })) {
            freeze.request();
            assertThatThrownBy(freeze::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasCause(error);
            freeze.request();
            freeze.await();
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
        try (BackgroundFreeze freeze = new BackgroundFreeze("test", () -> {
            if (steps.incrementAndGet() == 1) {
                throw error;
            }
            return false;
        })) {
            freeze.request();
            assertThatThrownBy(freeze::await).isInstanceOf(IllegalStateException.class);
            // A thread that died has come to this, or is still on its way.
            freeze.request();
            freeze.await();
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
    private static String loggedWhile(Runnable failing) throws InterruptedException {
        PrintStream err = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        AtomicInteger steps = new AtomicInteger();
        try (BackgroundFreeze freeze = new BackgroundFreeze("test", () -> {
            if (steps.incrementAndGet() == 1) {
                failing.run();
            }
            return false;
        })) {
            freeze.request();
            assertThatThrownBy(freeze::await).isInstanceOf(IllegalStateException.class);
            // The thread logs before it looks for the next request.
            freeze.request();
            freeze.await();
        } finally {
            System.setErr(err);
        }
        return logged.toString(StandardCharsets.UTF_8);
    }
}
