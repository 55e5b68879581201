package io.github.roost.examples.serve;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.examples.serve.SearchAnswer.Hit;
import io.github.roost.examples.serve.SearchAnswer.Ran;
import io.github.roost.examples.serve.SearchRequest.Filter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Checks search requests and has them run: one task a table, each at home, merged by the last that finishes. The calling
 * thread waits for the answer, so it should be virtual. Thread-safe.
 */
final class Searches {
    static final int MOST_NEIGHBORS = 1_000;
    /** Distances between vectors below this are finite, in every dimension that a table can have. */
    private static final float LARGEST_VALUE = 1e6f;

    private static final int LEAST_EF = 64;
    private static final int EF_PER_NEIGHBOUR = 4;

    private final Orchestrator orchestrator;
    private final Tables tables;
    private final Duration mostTime;

    /** @param mostTime how long a search without a deadline may take */
    Searches(Orchestrator orchestrator, Tables tables, Duration mostTime) {
        this.orchestrator = orchestrator;
        this.tables = tables;
        this.mostTime = mostTime;
    }

    /** What one table found, and where. */
    private record Found(ServedTable table, Neighbors neighbors, Ran ran) {}

    /**
     * Searches some tables.
     *
     * @throws Problem 422 if the request asks for what cannot be, 429 if there is no room, 504 past its deadline
     */
    SearchAnswer answer(List<ServedTable> among, SearchRequest request) {
        float[] query = query(request);
        int k = request.neighbors();
        if (k < 1 || k > MOST_NEIGHBORS) {
            throw new Problem(422, "k must be between 1 and 1,000, got " + k);
        }
        Duration time = time(request);
        List<Part<float[], Found>> parts = new ArrayList<>();
        for (ServedTable table : among) {
            parts.add(new Part<>(
                    search(table, k, request.filter()), query, table.rows().mappingId(query)));
        }
        long began = System.nanoTime();
        List<Found> found = await(submit(parts, SubmitOptions.DEFAULT.withTimeout(time)), time);
        long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - began);
        return new SearchAnswer(
                nearest(found, k), found.stream().map(Found::ran).toList(), micros);
    }

    private float[] query(SearchRequest request) {
        float[] vector = request.vector();
        String like = request.like();
        if ((vector == null) == (like == null)) {
            throw new Problem(
                    422, "a search must have either vector or like, got " + (like == null ? "neither" : "both"));
        }
        if (vector != null) {
            requireVector("vector", vector, tables.dimension(), tables.metric());
            return vector;
        }
        return tables.like(String.valueOf(like))
                .orElseThrow(() -> new Problem(
                        422, "like must be the name of a row or one of the phrases of GET /phrases, got " + like));
    }

    private Duration time(SearchRequest request) {
        Integer deadline = request.deadlineMs();
        if (deadline == null) {
            return mostTime;
        }
        if (deadline < 1 || deadline > mostTime.toMillis()) {
            throw new Problem(
                    422, "deadlineMs must be between 1 and %,d, got %,d".formatted(mostTime.toMillis(), deadline));
        }
        return Duration.ofMillis(deadline);
    }

    /** @throws Problem 422 unless the vector has the dimension and values of which distances are finite */
    static void requireVector(String what, float[] vector, int dimension, Metric metric) {
        try {
            Vectors.require(what, vector, dimension, metric);
        } catch (IllegalArgumentException e) {
            throw new Problem(422, String.valueOf(e.getMessage()));
        }
        for (int i = 0; i < vector.length; i++) {
            if (Math.abs(vector[i]) > LARGEST_VALUE) {
                throw new Problem(
                        422,
                        what + " must be between -1,000,000 and 1,000,000, got " + vector[i] + " in dimension " + i);
            }
        }
    }

    private static SearchFunction<float[], Found> search(ServedTable table, int k, @Nullable Filter filter) {
        int ef = Math.max(LEAST_EF, EF_PER_NEIGHBOUR * k);
        SearchFunction<float[], Neighbors> search = filter == null
                ? table.rows().searchFunction(k, ef)
                : table.rows().searchFunction(k, ef, IdFilter.of(id -> filter.allows(table, id)));
        return (query, context) -> new Found(
                table, search.search(query, context), new Ran(table.name(), context.worker(), context.domain()));
    }

    private CompletableFuture<List<Found>> submit(List<Part<float[], Found>> parts, SubmitOptions options) {
        try {
            return orchestrator.fanOut(parts, found -> found, options);
        } catch (RejectedSearchException e) {
            throw full();
        } catch (OrchestratorClosedException e) {
            throw shuttingDown();
        }
    }

    static Problem full() {
        return new Problem(429, "the service is full: ask again later");
    }

    private static List<Found> await(CompletableFuture<List<Found>> future, Duration time) {
        try {
            return future.get(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            future.cancel(false);
            throw tooLate(time);
        } catch (CancellationException e) {
            throw tooLate(time);
        } catch (InterruptedException e) {
            future.cancel(false);
            Thread.currentThread().interrupt();
            throw shuttingDown();
        } catch (ExecutionException e) {
            throw switch (e.getCause()) {
                case DeadlineExceededException late -> tooLate(time);
                case OrchestratorClosedException closed -> shuttingDown();
                case null, default -> new IllegalStateException(e.getCause());
            };
        }
    }

    private static Problem shuttingDown() {
        return new Problem(503, "the service is shutting down");
    }

    private static Problem tooLate(Duration time) {
        return new Problem(504, "the search was not answered within its %,d ms".formatted(time.toMillis()));
    }

    private static List<Hit> nearest(List<Found> found, int k) {
        List<Hit> hits = new ArrayList<>();
        for (Found part : found) {
            for (int i = 0; i < part.neighbors().size(); i++) {
                long id = part.neighbors().ids()[i];
                Item item = part.table().item(id).orElse(null);
                hits.add(new Hit(
                        part.table().name(),
                        id,
                        item == null ? "" : item.name(),
                        item == null ? "" : item.text(),
                        part.neighbors().distances()[i]));
            }
        }
        hits.sort(Comparator.comparingDouble(Hit::distance));
        return List.copyOf(hits.subList(0, Math.min(k, hits.size())));
    }
}
