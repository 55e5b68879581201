package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.topology.system.ProcessMaskThreadFactory;
import io.github.roost.topology.system.TimeSlice;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimeSliceTest {
    @Test
    void aThreadHasTheSliceThatItWasGivenAndNoOtherThreadHasIt() throws Exception {
        long usual = TimeSlice.nanos();
        assumeThat(usual).as("slices, Linux 6.12 and later").isPositive();
        long given = inThread(() -> {
            assertThat(TimeSlice.set(7_000_000)).isTrue();
            return TimeSlice.nanos();
        });
        assertThat(given).isEqualTo(7_000_000);
        assertThat(TimeSlice.nanos()).isEqualTo(usual);
    }

    @Test
    void aThreadThatIsStartedByOneWithALongSliceHasTheUsualOne() throws Exception {
        long usual = TimeSlice.nanos();
        assumeThat(usual).as("slices, Linux 6.12 and later").isPositive();
        ThreadFactory threads = new ProcessMaskThreadFactory(Thread.ofPlatform().factory());
        long started = inThread(() -> {
            assertThat(TimeSlice.set(7_000_000)).isTrue();
            FutureTask<Long> slice = new FutureTask<>(TimeSlice::nanos);
            threads.newThread(slice).start();
            return slice.get();
        });
        assertThat(started).isEqualTo(usual);
    }

    @Test
    void whereThreadsHaveNoSliceNothingIsChanged() throws Exception {
        assumeThat(TimeSlice.nanos()).as("no slices").isZero();
        assertThat(inThread(() -> TimeSlice.set(7_000_000))).isFalse();
        assertThat(TimeSlice.nanos()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 99_999, 100_000_001, Long.MAX_VALUE})
    void aSliceOutOfRangeIsRefused(long nanos) {
        long before = TimeSlice.nanos();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TimeSlice.set(nanos))
                .withMessage("a time slice of " + nanos + " ns is not between 100000 and 100000000 ns");
        assertThat(TimeSlice.nanos()).isEqualTo(before);
    }

    private static <T> T inThread(Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().start(task);
        return task.get();
    }
}
