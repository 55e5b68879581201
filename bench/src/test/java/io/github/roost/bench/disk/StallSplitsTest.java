package io.github.roost.bench.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.bench.disk.UpdateWorkersBench.Kind;
import io.github.roost.index.disk.stall.StallPolicy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class StallSplitsTest {
    private static final int CYCLES = 120_000;
    private static final List<StallPolicy> WAYS = List.of(StallPolicy.POLLED, StallPolicy.BUDGETED);

    @ParameterizedTest
    @ValueSource(doubles = {.02, .05, .1, .2})
    void searchesOfRecordedStallsTakeLongerByTheTargetAtMostOrEveryStallIsFilled(double target) {
        for (Kind kind : Kind.values()) {
            StallSplits splits = new StallSplits(StallRecording.kept(kind), CYCLES);
            for (StallPolicy way : WAYS) {
                StallSplits.Outcome outcome = splits.run(4, 28, way.withLatencyTarget(target), 1);
                assertThat(outcome.longer())
                        .as("%s, %s, target %s", kind, way, target)
                        .isLessThan(target + .02);
                if (outcome.share() < .95) {
                    assertThat(outcome.longer())
                            .as("%s, %s, target %s: what is allowed is used", kind, way, target)
                            .isGreaterThan(.6 * target);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theMoreWorkersSearchTheMoreTheirStallsAddToTheUpdates(Kind kind) {
        StallSplits splits = new StallSplits(StallRecording.kept(kind), CYCLES / 4);
        double few = splits.run(4, 28, StallPolicy.POLLED, 1).besideEmpty();
        double half = splits.run(16, 16, StallPolicy.POLLED, 1).besideEmpty();
        double max = splits.run(28, 4, StallPolicy.POLLED, 1).besideEmpty();
        assertThat(few).isGreaterThan(1);
        // Of each worker that searches the same: 1 + searchers / updaters x what one fills.
        assertThat((half - 1) / (few - 1)).isCloseTo(7, within(.3));
        assertThat((max - 1) / (few - 1)).isCloseTo(49, within(2.0));
    }

    @Test
    void stallsThatStayEmptyCostAndAddNothing() {
        StallSplits.Outcome outcome =
                new StallSplits(StallRecording.kept(Kind.INSERTS), 10_000).run(16, 16, StallPolicy.UNFILLED, 1);
        assertThat(outcome.besideEmpty()).isEqualTo(1);
        assertThat(outcome.longer()).isCloseTo(0, within(1e-9));
    }

    @Test
    void aRecordingIsReadAsItIsWritten() throws IOException {
        StallRecording kept = StallRecording.kept(Kind.DELETES);
        StallRecording again = StallRecording.read(new BufferedReader(new StringReader(kept.text())));
        assertThat(again.text()).isEqualTo(kept.text());
        assertThatThrownBy(() -> StallRecording.read(new BufferedReader(new StringReader("something 1"))))
                .isInstanceOf(IOException.class)
                .hasMessage("a line of a recording must begin with update, empty, filled or step, got something 1");
        assertThatThrownBy(() -> StallRecording.read(new BufferedReader(new StringReader("update 1"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "a recording needs empty stalls, filled ones, steps and updates, got 0, 0, 0 and 1.0 ns per update");
    }
}
