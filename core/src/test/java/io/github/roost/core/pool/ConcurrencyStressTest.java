package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the jcstress tests beside this class, in JVMs of their own, and reads what they report. Each has two actors, so
 * that they run on two cores.
 */
@Tag("stress")
class ConcurrencyStressTest {
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void noInterleavingBreaksRingListEpochFanOutBatchQueueFailureParkingWakeUpOrTermination(@TempDir Path reports)
            throws IOException, InterruptedException {
        Process stress = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.openjdk.jcstress.Main",
                        "-t",
                        "io\\.github\\.roost\\..*",
                        "-f",
                        "1",
                        "-fsm",
                        "1",
                        "-iters",
                        "2",
                        "-time",
                        "300",
                        "-sc",
                        "false",
                        "-af",
                        "NONE",
                        "-jvmArgs",
                        "-Xmx512m",
                        "-v",
                        "-r",
                        reports.toString())
                .directory(reports.toFile())
                .redirectErrorStream(true)
                .start();
        stress.getOutputStream().close();
        String report = new String(stress.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(stress.waitFor()).as(report).isZero();
        assertThat(report)
                .contains("RingStress.EverythingPutIsTakenOnce", "RingStress.OwnerAndThief")
                .contains("RingStress.FirstInFirstOut", "RingStress.GivenBack", "RingStress.ClaimedTasksGiveWay")
                .contains("EpochStress", "FanOutStress", "FailStress", "WakeUpStress", "TableUseStress")
                .contains("TerminateStress.ATaskIsPut", "TerminateStress.ATaskBegins")
                .contains("ParkStress.AgainstComplete", "ParkStress.AgainstCancel")
                .contains("ParkStress.CompleteAgainstDeadline", "ParkStress.CompleteAgainstCancel")
                .contains(
                        "BlockReadsStress",
                        "ListStress",
                        "SharedStress.TwoJoinAndTake",
                        "SharedStress.AGroupFailsAsAQueryJoins")
                .contains(" 0 failed, 0 soft errs, 0 hard errs");
    }
}
