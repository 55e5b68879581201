package io.github.roost.core.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SharedQueueTest {
    private static final int WORKERS = 4;

    /** One list that all ask for: every worker of its home takes a group of it, or the barrier is never full. */
    @Test
    void severalWorkersServeOneQueueAtOnce() throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(1, WORKERS).build()) {
            MappingId id = orchestrator.register("hot").id();
            CountDownLatch inside = new CountDownLatch(WORKERS);
            Indexing.BatchQueue<Integer, Integer> queue = orchestrator
                    .indexing()
                    .batchQueue(id, (group, context) -> {
                        inside.countDown();
                        assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
                        for (int i = 0; i < group.size(); i++) {
                            group.answer(i, 2 * group.query(i));
                        }
                        return Step.done(true);
                    });
            List<CompletableFuture<Integer>> answers = new ArrayList<>();
            for (int i = 0; i < 8 * WORKERS; i++) {
                answers.add(orchestrator.indexing().submitShared(queue, i, SubmitOptions.DEFAULT));
            }
            for (int i = 0; i < answers.size(); i++) {
                assertThat(answers.get(i).get(60, TimeUnit.SECONDS)).isEqualTo(2 * i);
            }
            assertThat(queue.waiting()).isZero();
        }
    }
}
