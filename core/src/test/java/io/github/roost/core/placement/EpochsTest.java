package io.github.roost.core.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.mapping.Mapping;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EpochsTest {
    private final Mapping mapping = Mapping.of(2, new int[] {0, 1});
    private final Epochs epochs = new Epochs(mapping, 2);

    private Epoch publish() {
        Epoch before = epochs.publish(mapping);
        epochs.retireEmpty();
        return before;
    }

    @Test
    void anEmptyEpochRetiresAsSoonAsItIsSuperseded() {
        Epoch epoch = epochs.current();
        assertThat(epoch.retired()).isNotDone();
        publish();
        assertThat(epoch.retired()).isDone();
        assertThat(epochs.current().mapping().epoch()).isEqualTo(1);
    }

    @Test
    void theLastTaskOutRetiresTheEpochWhateverDomainItRanOn() {
        Epoch epoch = epochs.current();
        epoch.enter(0, 3);
        publish();
        epoch.exitOwn(1);
        epoch.exit(17);
        epochs.retireEmpty();
        assertThat(epoch.retired()).isNotDone();
        assertThat(epochs.unfinished()).isEqualTo(1);
        epoch.exit(0);
        epochs.retireEmpty();
        assertThat(epoch.retired()).isDone();
        assertThat(epochs.unfinished()).isZero();
    }

    @Test
    void oneSlowTaskHoldsBackAnyNumberOfLaterEpochsAndThenLetsThemAllGo() {
        Epoch slow = epochs.current();
        slow.enter(0, 1);
        List<Epoch> later = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            publish();
            later.add(epochs.current());
        }
        assertThat(later).noneMatch(epoch -> epoch.retired().isDone());
        slow.exit(0);
        epochs.retireEmpty();
        assertThat(later.removeLast().retired()).isNotDone();
        assertThat(later).allMatch(epoch -> epoch.retired().isDone());
    }

    @Test
    void epochsRetireInOrderThoughTheLaterIsEmptyFirst() {
        Epoch first = epochs.current();
        first.enter(0, 1);
        Epoch second = epochs.publish(mapping) == first ? epochs.current() : first;
        publish();
        assertThat(second.retired()).isNotDone();
        first.exit(0);
        epochs.retireEmpty();
        assertThat(first.retired()).isDone();
        assertThat(second.retired()).isDone();
    }

    @Test
    void onlyEpochsThatExistCanBeWaitedFor() {
        publish();
        assertThat(epochs.retired(0)).isDone();
        assertThat(epochs.retired(1)).isNotDone();
        assertThatThrownBy(() -> epochs.retired(2)).hasMessageContaining("between 0 and 1, got 2");
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
                    Epoch epoch = epochs.current();
                    epoch.enter(domain, 1);
                    if (epoch == epochs.current()) {
                        // Entered and still current: from here to the exit it must not retire.
                        Thread.onSpinWait();
                        if (epoch.retired().isDone()) {
                            retiredTooEarly.incrementAndGet();
                        }
                    }
                    epoch.exit(1 - domain);
                }
            }));
        }
        List<Epoch> superseded = new ArrayList<>();
        for (int round = 0; round < 20_000; round++) {
            superseded.add(publish());
        }
        stop.set(true);
        for (Thread dispatcher : dispatchers) {
            dispatcher.join();
        }
        epochs.retireEmpty();
        assertThat(retiredTooEarly).hasValue(0);
        assertThat(superseded).allMatch(epoch -> epoch.retired().isDone());
    }
}
