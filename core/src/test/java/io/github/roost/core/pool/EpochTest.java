package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.mapping.Mapping;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EpochTest {
    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    private volatile Epoch current = epoch();

    private static Epoch epoch() {
        return new Epoch(Mapping.of(2, new int[] {0, 1}));
    }

    @Test
    void anEmptyEpochRetiresAsSoonAsItIsSuperseded() {
        Epoch epoch = epoch();
        assertThat(epoch.retired()).isNotDone();
        epoch.supersede(DONE);
        assertThat(epoch.retired()).isDone();
    }

    @Test
    void theLastTaskOutRetiresTheEpochWhateverDomainItRanOn() {
        Epoch epoch = epoch();
        epoch.enter(0, 3);
        epoch.supersede(DONE);
        epoch.exit(1, 1);
        epoch.exit(-1, 1);
        assertThat(epoch.retired()).isNotDone();
        epoch.exit(0, 1);
        assertThat(epoch.retired()).isDone();
    }

    @Test
    void anEpochRetiresAfterAllBeforeIt() {
        Epoch first = epoch();
        Epoch second = epoch();
        first.enter(0, 1);
        first.supersede(DONE);
        second.supersede(first.retired());
        assertThat(second.retired()).isNotDone();
        first.exit(0, 1);
        assertThat(second.retired()).isDone();
    }

    @Test
    void noEpochRetiresWhileATaskIsInsideAndEveryOneRetiresInTheEnd() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger retiredTooEarly = new AtomicInteger();
        List<Thread> dispatchers = new ArrayList<>();
        for (int thread = 0; thread < 3; thread++) {
            int domain = thread % 2;
            dispatchers.add(Thread.ofPlatform().start(() -> {
                while (!stop.get()) {
                    Epoch epoch = current;
                    epoch.enter(domain, 1);
                    if (epoch == current) {
                        // Entered and still current: from here to the exit it must not retire.
                        Thread.onSpinWait();
                        if (epoch.retired().isDone()) {
                            retiredTooEarly.incrementAndGet();
                        }
                    }
                    epoch.exit(1 - domain, 1);
                }
            }));
        }
        List<Epoch> superseded = new ArrayList<>();
        for (int round = 0; round < 20_000; round++) {
            Epoch before = current;
            current = epoch();
            before.supersede(superseded.isEmpty() ? DONE : superseded.getLast().retired());
            superseded.add(before);
        }
        stop.set(true);
        for (Thread dispatcher : dispatchers) {
            dispatcher.join();
        }
        assertThat(retiredTooEarly).hasValue(0);
        assertThat(superseded).allMatch(epoch -> epoch.retired().isDone());
    }
}
