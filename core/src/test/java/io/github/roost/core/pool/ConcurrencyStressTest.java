package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Jcstress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the jcstress tests of this module. */
@Tag("stress")
class ConcurrencyStressTest {
    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void noInterleavingBreaksQueueEpochFanOutBatchQueueFailureParkingWakeUpOrTermination(@TempDir Path reports)
            throws IOException, InterruptedException {
        String report = Jcstress.run("io\\.github\\.roost\\..*", 300, reports);
        assertThat(report)
                .contains("TaskQueueStress.EverythingPutIsTakenOnce", "TaskQueueStress.AtTheEndOfASegment")
                .contains("TaskQueueStress.OneOwner", "TaskQueueStress.FirstInFirstOut")
                .contains("EpochStress", "FanOutStress", "FailStress", "TableUseStress")
                .contains("WakeUpStress.PutAgainstSleep", "WakeUpStress.PutAgainstFind")
                .contains("TerminateStress.ATaskIsPut", "TerminateStress.ATaskBegins")
                .contains("ParkStress.AgainstComplete", "ParkStress.AgainstCancel")
                .contains("ParkStress.CompleteAgainstCancel")
                .contains("SharedStress.TwoJoinAndTake", "SharedStress.AGroupFailsAsAQueryJoins");
    }
}
