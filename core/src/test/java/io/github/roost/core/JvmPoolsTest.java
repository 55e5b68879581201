package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.testkit.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Pools that the JVM sizes once, by the CPUs of the thread that uses them first: a pinned worker has one core. */
@Tag("program")
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class JvmPoolsTest {
    @Test
    void poolsFirstUsedInASearchHaveTheSizeOfTheMachine() throws Exception {
        int cpus = Runtime.getRuntime().availableProcessors();
        assumeThat(cpus).isGreaterThan(1);
        // The common pool leaves one CPU to the thread that waits for it.
        assertThat(new ChildJvm(JvmPools.class).run())
                .contains("scheduler " + cpus + " common " + (cpus - 1) + " cpus " + cpus);
    }
}
