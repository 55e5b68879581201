package io.github.roost.core;

import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Being written: the signatures that indexes may rely on. */
public final class Orchestrator implements AutoCloseable {
    private Orchestrator() {}

    public static Builder builder() {
        return new Builder();
    }

    public static final class Builder {
        private Builder() {}

        public Builder topology(Topology topology) {
            throw new UnsupportedOperationException();
        }

        public Orchestrator build() {
            throw new UnsupportedOperationException();
        }
    }

    /** Registers a table placed as one. */
    public Registration register(String name) {
        return register(name, 1);
    }

    /** Registers a table of {@code clusters} mapping ids. */
    public Registration register(String name, int clusters) {
        throw new UnsupportedOperationException();
    }

    void unregister(Registration registration) {
        throw new UnsupportedOperationException();
    }

    public <Q, R> CompletableFuture<R> submit(
            SearchFunction<? super Q, ? extends R> searchFunction, Q query, MappingId mappingId) {
        return submit(searchFunction, query, mappingId, SubmitOptions.DEFAULT);
    }

    public <Q, R> CompletableFuture<R> submit(
            SearchFunction<? super Q, ? extends R> searchFunction,
            Q query,
            MappingId mappingId,
            SubmitOptions options) {
        throw new UnsupportedOperationException();
    }

    public <P, R> CompletableFuture<R> fanOut(List<? extends Part<?, P>> parts, Merger<P, R> merger) {
        return fanOut(parts, merger, SubmitOptions.DEFAULT);
    }

    public <P, R> CompletableFuture<R> fanOut(
            List<? extends Part<?, P>> parts, Merger<P, R> merger, SubmitOptions options) {
        throw new UnsupportedOperationException();
    }

    /** Number of workers, indices 0 to this exclusive; what {@link SearchContext#worker()} returns. */
    public int workers() {
        throw new UnsupportedOperationException();
    }

    /**
     * Publishes the present mapping under a new epoch; completes once every task that was dispatched before has
     * finished, so that what those tasks could still see may be reclaimed.
     */
    public CompletionStage<Void> quiesce() {
        throw new UnsupportedOperationException();
    }

    public boolean close(Duration timeout) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(30));
    }
}
