package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BuildTurnsTest {
    private static final long PIECE_NANOS = 5_000;

    private long now = Long.MAX_VALUE - 1_000_000;
    private long searched;

    /** The share of the time that a build of a thousand pieces gets if searches take so long whenever they may run. */
    private double shareOfBuild(long searchNanos) {
        BuildTurns turns = new BuildTurns(
                () -> {
                    searched += searchNanos;
                    now += searchNanos;
                },
                () -> now);
        long began = now;
        for (int piece = 0; piece < 1_000; piece++) {
            turns.run();
            now += PIECE_NANOS;
        }
        assertThat(now - began).isEqualTo(1_000 * PIECE_NANOS + searched);
        return 1_000. * PIECE_NANOS / (now - began);
    }

    @Test
    void searchesGoBeforeEachPieceWhileTheyTakeLittleTime() {
        assertThat(shareOfBuild(1_000)).isEqualTo(5. / 6);
        assertThat(searched).isEqualTo(1_000_000);
    }

    @Test
    void searchesThatWouldTakeAllTheTimeGetThreeQuarters() {
        assertThat(shareOfBuild(600_000)).isBetween(.25, .26);
    }
}
