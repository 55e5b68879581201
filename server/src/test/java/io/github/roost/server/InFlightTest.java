package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class InFlightTest {
    private static final int THREADS = 4;

    private final InFlight inFlight = new InFlight();

    /** Fails in some of the repetitions where entering looks at the door and counts in two steps. */
    @RepeatedTest(50)
    void nobodyComesInOnceTheDoorIsShutAndAllHaveLeft() throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger late = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(THREADS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                begun.countDown();
                while (inFlight.enter()) {
                    if (over.get()) {
                        late.incrementAndGet();
                    }
                    inFlight.exit();
                }
            }));
        }
        begun.await();

        assertThat(inFlight.drain(Duration.ofMinutes(1))).isTrue();
        over.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(late).hasValue(0);
        assertThat(inFlight.requests()).isZero();
        assertThat(inFlight.enter()).isFalse();
    }

    @Test
    void whoStaysTooLongIsNotWaitedFor() {
        assertThat(inFlight.enter()).isTrue();

        assertThat(inFlight.drain(Duration.ofMillis(1))).isFalse();
        assertThat(inFlight.requests()).isOne();
    }

    @Test
    void anInterruptEndsTheWaiting() {
        assertThat(inFlight.enter()).isTrue();
        Thread.currentThread().interrupt();

        assertThat(inFlight.drain(Duration.ofMinutes(1))).isFalse();
        assertThat(Thread.interrupted()).isTrue();
    }
}
