package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class NodeWatchTest {
    private static final long MILLI = 1_000_000;

    @Test
    void aNodeThatDoesNotCountForATermIsLostUntilItCountsAgain() {
        NodeWatch watch = new NodeWatch("region", 7, 100, 0);
        assertThatCode(() -> watch.require(7, 100 * MILLI)).doesNotThrowAnyException();
        assertThatThrownBy(() -> watch.require(7, 101 * MILLI))
                .isInstanceOf(MemoryNodeLostException.class)
                .hasMessage(
                        "region has lost its memory node: no heartbeat for 101 ms, where one must come every 100 ms");
        assertThatCode(() -> watch.require(8, 500 * MILLI)).doesNotThrowAnyException();
        assertThatCode(() -> watch.require(8, 600 * MILLI)).doesNotThrowAnyException();
        assertThatThrownBy(() -> watch.require(8, 601 * MILLI)).isInstanceOf(MemoryNodeLostException.class);
    }

    @Test
    void aPoolThatNoNodeServesIsNeverLost() {
        NodeWatch watch = new NodeWatch("region", 0, 0, 0);
        assertThatCode(() -> watch.require(0, Long.MAX_VALUE)).doesNotThrowAnyException();
    }
}
