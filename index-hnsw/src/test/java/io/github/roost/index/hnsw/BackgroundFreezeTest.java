package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
}
