package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.topology.TopologyReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.lucene.util.ThreadInterruptedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A segment's part of a search, run at home. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class HomePartTest {
    @Test
    void anInterruptKeepsAPartThatHasNotBegunFromRunning() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (Orchestrator single = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            MappingId home = single.register("home").id();
            var _ = single.submit(
                    (query, context) -> {
                        busy.countDown();
                        return release.await(1, TimeUnit.MINUTES);
                    },
                    0,
                    home);
            busy.await();
            AtomicBoolean began = new AtomicBoolean();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() ->
                            new SegmentHomes(single, "packages").runAt(home, (id, context) -> began.getAndSet(true)))
                    .isInstanceOf(ThreadInterruptedException.class);
            release.countDown();
            single.submit((query, context) -> query, 0, home).join();
            assertThat(began).isFalse();
            assertThat(single.stats().tasks().cancelled()).isEqualTo(1);
        } finally {
            release.countDown();
        }
    }
}
