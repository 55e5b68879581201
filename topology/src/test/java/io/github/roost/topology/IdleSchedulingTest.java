package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.system.IdleScheduling;
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
            seen[0] = IdleScheduling.isOn();
            seen[1] = IdleScheduling.begin();
            seen[2] = IdleScheduling.isOn();
        });
        thread.join();
        assertThat(seen).containsExactly(false, true, true);
        assertThat(IdleScheduling.isOn()).isFalse();
    }
}
