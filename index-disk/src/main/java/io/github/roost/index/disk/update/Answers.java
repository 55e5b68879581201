package io.github.roost.index.disk.update;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Completes the futures that callers have, each in a virtual thread of its own: what depends on one runs there and may wait for any
 * other, and for the thread that gave it. The giver starts one thread for as many as are given until that has started theirs. Thread-safe.
 */
final class Answers {
    private static final ThreadFactory THREADS = Thread.ofVirtual()
            .name("roost-disk-answer")
            .inheritInheritableThreadLocals(false)
            .factory();

    private static final class Answer<T> {
        private final CompletableFuture<T> to;
        private final @Nullable T value;
        private final @Nullable Throwable failure;

        Answer(CompletableFuture<T> to, @Nullable T value, @Nullable Throwable failure) {
            this.to = to;
            this.value = value;
            this.failure = failure;
        }

        void complete() {
            if (failure == null) {
                to.complete(value);
            } else {
                boolean isWrapped = failure instanceof CompletionException && failure.getCause() != null;
                to.completeExceptionally(isWrapped ? failure.getCause() : failure);
            }
        }

        void await() {
            to.handle((done, failed) -> true).join();
        }
    }

    private final Queue<Answer<?>> queue = new ConcurrentLinkedQueue<>();
    /** What was given and may not be complete. */
    private final Set<Answer<?>> given = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean starting = new AtomicBoolean();

    /** Completes a future soon, with a value or, if there is one, a failure. */
    <T> void give(CompletableFuture<T> to, @Nullable T value, @Nullable Throwable failure) {
        Answer<T> answer = new Answer<>(to, value, failure);
        given.add(answer);
        queue.add(answer);
        if (starting.compareAndSet(false, true)) {
            start(this::startAll);
        }
    }

    private void startAll() {
        do {
            for (Answer<?> answer = queue.poll(); answer != null; answer = queue.poll()) {
                start(completing(answer));
            }
            starting.set(false);
        } while (!queue.isEmpty() && starting.compareAndSet(false, true));
    }

    private Runnable completing(Answer<?> answer) {
        return () -> {
            answer.complete();
            given.remove(answer);
        };
    }

    private static void start(Runnable run) {
        try {
            THREADS.newThread(run).start();
        } catch (OutOfMemoryError noThread) {
            // Better here than never.
            run.run();
        }
    }

    /** Waits until all that was given is complete, though not for what depends on it, which may be the caller. */
    void await() {
        given.forEach(Answer::await);
    }
}
