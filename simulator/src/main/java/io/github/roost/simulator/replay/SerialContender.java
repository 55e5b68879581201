package io.github.roost.simulator.replay;

import io.github.roost.vector.SearchResult;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * FAISS's execution of IVF: a query's lists are spread over all cores, and the next query begins when the last of them
 * is done. Thread-safe.
 */
final class SerialContender implements ReplayContender {
    private record Waiting(int table, int target, CompletableFuture<SearchResult> answer) {}

    private final ReplayContender parallel;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    /**
     * Searches that wait or run. The thread that raises it to 1 begins a search; a thread that ends a search and leaves
     * others begins the next.
     */
    private final AtomicInteger pending = new AtomicInteger();

    /** @param parallel spreads a query's lists */
    SerialContender(ReplayContender parallel) {
        this.parallel = parallel;
    }

    @Override
    public String name() {
        return parallel.name();
    }

    @Override
    public CompletableFuture<SearchResult> search(int table, int target) {
        CompletableFuture<SearchResult> answer = new CompletableFuture<>();
        waiting.add(new Waiting(table, target, answer));
        if (pending.getAndIncrement() == 0) {
            begin();
        }
        return answer;
    }

    /** Called by one thread at a time, while a search waits: it is queued before it is counted. */
    private void begin() {
        Waiting next = waiting.remove();
        var _ = parallel.search(next.table(), next.target()).whenComplete((found, failure) -> {
            if (failure == null) {
                next.answer().complete(found);
            } else {
                next.answer().completeExceptionally(failure);
            }
            if (pending.decrementAndGet() > 0) {
                begin();
            }
        });
    }

    @Override
    public Scheduled scheduled() {
        return parallel.scheduled();
    }

    @Override
    public void close() {
        parallel.close();
    }
}
