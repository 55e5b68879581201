package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.system.IdleScheduling;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class IdleSchedulingTest {
    @Test
    @EnabledOnOs(OS.LINUX)
    void aThreadRunsOnlyWhereNoOtherWantsToAndNoOtherThreadDoes() throws InterruptedException {
        boolean[] seen = new boolean[3];
        Thread thread = Thread.ofPlatform().start(() -> {
            seen[0] = isIdle();
            seen[1] = IdleScheduling.begin();
            seen[2] = isIdle();
        });
        thread.join();
        assertThat(seen).containsExactly(false, true, true);
        assertThat(isIdle()).isFalse();
    }

    /** Whether the calling thread's policy is {@code SCHED_IDLE}, 5, in the field {@code policy} of {@code proc_pid_stat(5)}. */
    private static boolean isIdle() {
        try {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[38].equals("5");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
