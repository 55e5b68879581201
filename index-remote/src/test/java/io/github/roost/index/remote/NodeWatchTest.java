package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class NodeWatchTest {
    private static final long MILLI = 1_000_000;

    @Test
    void aNodeThatDoesNotCountForATermIsLostUntilItCountsAgain() {
        NodeWatch watch = new NodeWatch("region", 7, 100, 0);
        assertThatCode(() -> watch.require(7, 100 * MILLI, 100 * MILLI)).doesNotThrowAnyException();
        assertThatThrownBy(() -> watch.require(7, 101 * MILLI, 101 * MILLI))
                .isInstanceOf(MemoryNodeLostException.class)
                .hasMessage(
                        "region has lost its memory node: no heartbeat for 101 ms, where one must come every 100 ms");
        assertThatCode(() -> watch.require(8, 500 * MILLI, 500 * MILLI)).doesNotThrowAnyException();
        assertThatCode(() -> watch.require(8, 600 * MILLI, 600 * MILLI)).doesNotThrowAnyException();
        assertThatThrownBy(() -> watch.require(8, 601 * MILLI, 601 * MILLI))
                .isInstanceOf(MemoryNodeLostException.class);
    }

    @Test
    void aPoolThatNoNodeServesIsNeverLost() {
        NodeWatch watch = new NodeWatch("region", 0, 0, 0);
        assertThatCode(() -> watch.require(0, Long.MAX_VALUE, Long.MAX_VALUE)).doesNotThrowAnyException();
    }

    @Test
    void anAnswerThatIsLookedAtLateSaysOnlyWhatStoodStillWhenItWasAskedFor() {
        NodeWatch watch = new NodeWatch("region", 7, 100, 0);
        assertThatCode(() -> watch.require(7, 90 * MILLI, 900 * MILLI)).doesNotThrowAnyException();
        // Asked for before the last one was looked at, at 900 ms.
        assertThatCode(() -> watch.require(8, 100 * MILLI, 900 * MILLI)).doesNotThrowAnyException();
        assertThatCode(() -> watch.require(8, 1_000 * MILLI, 2_000 * MILLI)).doesNotThrowAnyException();
        assertThatThrownBy(() -> watch.require(8, 1_001 * MILLI, 2_000 * MILLI))
                .isInstanceOf(MemoryNodeLostException.class);
    }
}
