package io.github.roost.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class BandwidthTest {
    @Test
    void aTransferThatFindsRoomDoesNotWait() {
        Bandwidth link = new Bandwidth(10);
        for (int i = 0; i < 100; i++) {
            assertThat(link.delay(i * 1_000.0, 640)).isZero();
        }
    }

    @Test
    void moreThanItMovesHasToWaitAsLongAsItTakes() {
        Bandwidth link = new Bandwidth(2);
        double wait = 0;
        for (int i = 0; i < 1_000; i++) {
            wait = link.delay(0, 1_000);
        }
        // A million bytes at two a nanosecond.
        assertThat(wait).isCloseTo(500_000, within(1_000.0));
        assertThat(link.delay(1_000_000, 64)).isZero();
    }

    @Test
    void whoAsksForAnEarlierTimeIsNotHeldUpByLaterTransfers() {
        Bandwidth link = new Bandwidth(2);
        assertThat(link.delay(10_000, 500)).isZero();
        assertThat(link.delay(0, 500)).isZero();
    }
}
