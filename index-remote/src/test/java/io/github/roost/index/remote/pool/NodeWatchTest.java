package io.github.roost.index.remote.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.Pools;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.SteppedMemory;
import io.github.roost.index.remote.format.PoolHead;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeWatchTest {
    private static final long MILLI = 1_000_000;

    @Test
    void aNodeThatDoesNotCountForATermIsLostUntilItCountsAgain() {
        NodeWatch watch = new NodeWatch("region", 7, 100, 0);
        assertThatCode(() -> watch.require(7, 100 * MILLI, 100 * MILLI)).doesNotThrowAnyException();
        assertThatThrownBy(() -> watch.require(7, 101 * MILLI, 101 * MILLI))
                .isInstanceOf(RemoteMemoryException.NodeLostException.class)
                .hasMessage(
                        "region has lost its memory node: no heartbeat for 101 ms, where one must come every 100 ms");
        assertThatCode(() -> watch.require(8, 500 * MILLI, 500 * MILLI)).doesNotThrowAnyException();
        assertThatCode(() -> watch.require(8, 600 * MILLI, 600 * MILLI)).doesNotThrowAnyException();
        assertThatThrownBy(() -> watch.require(8, 601 * MILLI, 601 * MILLI))
                .isInstanceOf(RemoteMemoryException.NodeLostException.class);
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
                .isInstanceOf(RemoteMemoryException.NodeLostException.class);
    }

    @Test
    void aBeatBetweenSearchesCountsFromWhenItCame(@TempDir Path folder) throws Exception {
        try (Orchestrator orchestrator = Pools.orchestrator()) {
            Pools.buildSmall(orchestrator, 2, folder.resolve("watched.pool"));
        }
        SteppedMemory memory = new SteppedMemory(RemoteMemory.mapped(folder));
        try (OpenPool other = OpenPool.open(RemoteMemory.mapped(folder).open("watched.pool"), Duration.ofSeconds(5))) {
            other.replace(PoolHead.TERM_AT, word -> 1);
            other.replace(PoolHead.HEARTBEAT_AT, word -> 7);
            try (OpenPool pool = OpenPool.open(memory.open("watched.pool"), Duration.ofSeconds(5));
                    ReaderHold hold = ReaderHold.of(pool, "watched")) {
                assertThat(hold.enrolments()).isEqualTo(1);
                other.replace(PoolHead.HEARTBEAT_AT, word -> 8);
                // When the second look begins, the first one has seen the beat.
                CountDownLatch looks = new CountDownLatch(2);
                memory.beforeEachRead(transfers -> {
                    if (transfers.getFirst().offset() == PoolHead.HEARTBEAT_AT) {
                        looks.countDown();
                    }
                    return CompletableFuture.completedFuture(null);
                });
                assertThat(looks.await(1, TimeUnit.MINUTES)).isTrue();
                long afterATerm = System.nanoTime() + 2 * MILLI;
                assertThatThrownBy(() -> pool.watch().require(8, afterATerm, afterATerm))
                        .isInstanceOf(RemoteMemoryException.NodeLostException.class);
            }
        }
    }
}
