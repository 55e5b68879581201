package io.github.roost.index.disk.stall;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StallPolicyTest {
    private final Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
    private final MappingId id = orchestrator.register("table").id();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    @Test
    void statisticsOfStallsAreOfTheCurrentPolicyOnly() {
        StallPolicy.Rules budgeted = StallPolicy.BUDGETED.applyTo(orchestrator);
        while (budgeted.stats().stalls() == 0) {
            parkOnce();
        }
        StallPolicy.Rules again = new StallPolicy(true, true, .05, Double.NaN).applyTo(orchestrator);
        assertThat(again.stats().stalls()).isPositive();

        StallPolicy.Rules tuned = StallPolicy.BUDGETED.withLatencyTarget(.1).applyTo(orchestrator);
        assertThat(tuned.stats()).isEqualTo(StallPolicy.Stats.NONE);
    }

    @Test
    void theDefaultPolicyMeasuresNothing() {
        StallPolicy.BUDGETED.applyTo(orchestrator);
        StallPolicy.Rules polled = StallPolicy.POLLED.applyTo(orchestrator);
        assertThat(orchestrator.indexing().stallRule()).isNull();
        parkOnce();
        assertThat(polled.stats()).isEqualTo(StallPolicy.Stats.NONE);
    }

    private void parkOnce() {
        Pending bytes = new Pending();
        CompletableFuture<Integer> search = orchestrator
                .indexing()
                .submitSteps(
                        (query, context) -> {
                            Thread.startVirtualThread(bytes::complete);
                            return new Step.Park<>(bytes, (same, later) -> Step.done(same));
                        },
                        21,
                        id,
                        SubmitOptions.DEFAULT);
        assertThat(search.join()).isEqualTo(21);
    }
}
