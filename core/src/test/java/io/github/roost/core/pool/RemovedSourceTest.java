package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.spi.CompletionSource;
import io.github.roost.testkit.Machines;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RemovedSourceTest {
    private final Orchestrator orchestrator = Machines.orchestrator(2, 2)
            .idleStrategy(IdleStrategy.spinThenPark(0))
            .build();
    private final MappingId id = orchestrator.register("table").id();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    /** Counts the calls of all workers. */
    private static final class Counting implements CompletionSource {
        final AtomicInteger opened = new AtomicInteger();
        final AtomicInteger polls = new AtomicInteger();

        CompletionSource open(int worker, Waker waker) {
            opened.incrementAndGet();
            return this;
        }

        @Override
        public int poll() {
            polls.incrementAndGet();
            return 0;
        }

        @Override
        public boolean arm() {
            return true;
        }
    }

    private void awaitOpened(Counting source) {
        while (source.opened.get() < orchestrator.workers()) {
            Thread.onSpinWait();
        }
    }

    private void search() {
        assertThat(orchestrator.submit((query, context) -> query, 1, id).join()).isEqualTo(1);
    }

    @Test
    void aRemovedSourceIsNotPolledAndTheOthersAre() {
        Counting stays = new Counting();
        Counting goes = new Counting();
        orchestrator.indexing().addCompletionSource(stays::open);
        CompletionSource.Handle handle = orchestrator.indexing().addCompletionSource(goes::open);
        Counting later = new Counting();
        orchestrator.indexing().addCompletionSource(later::open);
        awaitOpened(goes);
        awaitOpened(later);
        handle.close();
        int polls = goes.polls.get();
        int others = stays.polls.get() + later.polls.get();
        while (stays.polls.get() + later.polls.get() < others + 100) {
            search();
        }
        assertThat(goes.polls).hasValue(polls);
        assertThat(List.of(stays.opened.get(), later.opened.get()))
                .as("each worker opens a source once")
                .containsOnly(orchestrator.workers());
        handle.close();
    }

    @Test
    void sourcesThatComeAndGoLeaveNothing() throws InterruptedException {
        List<WeakReference<Counting>> gone = new ArrayList<>();
        List<CompletionSource.Handle> handles = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Counting source = new Counting();
            handles.add(orchestrator.indexing().addCompletionSource(source::open));
            if (i % 2 == 0) {
                awaitOpened(source);
                search();
            }
            handles.getLast().close();
            gone.add(new WeakReference<>(source));
        }
        awaitCollected(gone);
        assertThat(handles).hasSize(100);
        search();
    }

    @Test
    void aSearchMayRemoveASource() throws InterruptedException {
        List<WeakReference<Counting>> gone = new ArrayList<>();
        removeInASearch(gone);
        awaitCollected(gone);
    }

    private void removeInASearch(List<WeakReference<Counting>> gone) {
        Counting source = new Counting();
        CompletionSource.Handle handle = orchestrator.indexing().addCompletionSource(source::open);
        awaitOpened(source);
        orchestrator
                .submit(
                        (query, context) -> {
                            query.close();
                            return 1;
                        },
                        handle,
                        id)
                .join();
        gone.add(new WeakReference<>(source));
    }

    @Test
    void aSourceMayBeRemovedAfterTheOrchestratorIsClosed() throws InterruptedException {
        List<WeakReference<Counting>> gone = new ArrayList<>();
        closeThenRemove(gone);
        awaitCollected(gone);
        assertThat(orchestrator.workers())
                .as("the orchestrator is still reachable")
                .isEqualTo(4);
    }

    private void closeThenRemove(List<WeakReference<Counting>> gone) {
        Counting source = new Counting();
        CompletionSource.Handle handle = orchestrator.indexing().addCompletionSource(source::open);
        awaitOpened(source);
        orchestrator.close();
        handle.close();
        gone.add(new WeakReference<>(source));
    }

    private static void awaitCollected(List<WeakReference<Counting>> gone) throws InterruptedException {
        while (gone.stream().anyMatch(source -> source.get() != null)) {
            System.gc();
            Thread.sleep(10);
        }
    }
}
