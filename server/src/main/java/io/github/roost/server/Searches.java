package io.github.roost.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Part;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SubmitOptions;
import io.github.roost.server.SearchAnswer.Hit;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.Vectors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Checks search requests, has each table searched at its home, and merges the results. The calling thread waits for the answer, so it should be
 * virtual. Thread-safe.
 */
final class Searches {
    static final int MAX_NEIGHBORS = 1_000;
    /** Distances between vectors with components below this are finite, in every supported dimension. */
    private static final float LARGEST_VALUE = 1e6f;

    private final Orchestrator orchestrator;
    private final Tables tables;
    private final Duration maxTime;

    /** @param maxTime time limit of a search without a deadline */
    Searches(Orchestrator orchestrator, Tables tables, Duration maxTime) {
        this.orchestrator = orchestrator;
        this.tables = tables;
        this.maxTime = maxTime;
    }

    /**
     * Searches some tables.
     *
     * @throws Problem 422 if the request is invalid, 429 if there is no room, 504 past its deadline
     */
    SearchAnswer answer(List<ServedTable> among, SearchBody body) {
        float[] query = query(among, body);
        int k = body.neighbors();
        if (k < 1 || k > MAX_NEIGHBORS) {
            throw new Problem(422, "k must be between 1 and 1,000, got " + k);
        }
        Duration time = time(body);
        SearchRequest request =
                withEffort(SearchRequest.of(query, k), body).options(SubmitOptions.DEFAULT.withTimeout(time));
        RowFilter filter = body.filter() == null ? null : new RowFilter(body.filter());
        long began = System.nanoTime();
        List<ServedResult> found = await(begin(among, request, filter), time);
        long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - began);
        return new SearchAnswer(
                nearest(found, k),
                body.wantsRan() ? found.stream().map(ServedResult::ran).toList() : null,
                micros);
    }

    private float[] query(List<ServedTable> among, SearchBody body) {
        float[] vector = body.vector();
        JsonNode like = body.like();
        if ((vector == null) == (like == null)) {
            throw new Problem(
                    422, "a search must have either vector or like, got " + (like == null ? "neither" : "both"));
        }
        if (vector != null) {
            requireVector("vector", vector, tables.dimension(), tables.metric());
            return vector;
        }
        return vectorOf(Objects.requireNonNull(like), among)
                .orElseThrow(() -> new Problem(
                        422,
                        "like must be the id or the name of a row, or one of the phrases of GET /phrases, got "
                                + like));
    }

    private Optional<float[]> vectorOf(JsonNode like, List<ServedTable> among) {
        if (like.isTextual()) {
            return tables.like(like.asText(), among);
        }
        long id = RowIds.number(like)
                .orElseThrow(() -> new Problem(400, "like must be a text or a whole number of 64 bits, got " + like));
        return tables.row(id, among);
    }

    private static SearchRequest withEffort(SearchRequest request, SearchBody body) {
        Integer effort = body.effort();
        Double recall = body.targetRecall();
        if (effort != null && recall != null) {
            throw new Problem(422, "a search may have effort or targetRecall, got both");
        }
        try {
            return effort != null ? request.effort(effort) : recall != null ? request.targetRecall(recall) : request;
        } catch (IllegalArgumentException e) {
            throw new Problem(422, String.valueOf(e.getMessage()));
        }
    }

    private Duration time(SearchBody body) {
        Integer deadline = body.deadlineMs();
        if (deadline == null) {
            return maxTime;
        }
        if (deadline < 1 || deadline > maxTime.toMillis()) {
            throw new Problem(
                    422, "deadlineMs must be between 1 and %,d, got %,d".formatted(maxTime.toMillis(), deadline));
        }
        return Duration.ofMillis(deadline);
    }

    /** @throws Problem 422 unless the vector has the dimension, and values for which distances are finite */
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

    /**
     * Begins the searches. Tables with words are searched by one request, of which all parts or none are accepted; each other table, and each
     * for a target recall, by its own request.
     *
     * @return futures of the results, each for one or more tables
     */
    private List<CompletableFuture<List<ServedResult>>> begin(
            List<ServedTable> among, SearchRequest request, @Nullable RowFilter filter) {
        List<Part<SearchRequest, ServedResult>> parts = new ArrayList<>();
        List<CompletableFuture<List<ServedResult>>> searches = new ArrayList<>();
        try {
            for (ServedTable table : among) {
                SearchRequest filtered = filter == null ? request : request.filter(filter.in(table));
                if (table instanceof DescribedTable described && Double.isNaN(request.targetRecall())) {
                    parts.add(described.part(filtered));
                } else {
                    searches.add(table.search(filtered));
                }
            }
            if (!parts.isEmpty()) {
                searches.add(orchestrator.fanOut(parts, found -> found, request.options()));
            }
            return searches;
        } catch (IllegalArgumentException e) {
            cancel(searches);
            throw new Problem(422, String.valueOf(e.getMessage()));
        } catch (RejectedSearchException e) {
            cancel(searches);
            throw full();
        } catch (OrchestratorClosedException e) {
            cancel(searches);
            throw shuttingDown();
        }
    }

    static Problem full() {
        return new Problem(429, "the service is full: ask again later");
    }

    private static List<ServedResult> await(List<CompletableFuture<List<ServedResult>>> searches, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        try {
            List<ServedResult> found = new ArrayList<>();
            for (CompletableFuture<List<ServedResult>> search : searches) {
                found.addAll(search.get(end - System.nanoTime(), TimeUnit.NANOSECONDS));
            }
            return found;
        } catch (TimeoutException | CancellationException e) {
            throw tooLate(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw shuttingDown();
        } catch (ExecutionException e) {
            throw switch (e.getCause()) {
                case DeadlineExceededException late -> tooLate(time);
                case OrchestratorClosedException closed -> shuttingDown();
                case null, default -> new IllegalStateException(e.getCause());
            };
        } finally {
            cancel(searches);
        }
    }

    /** Finished searches are unaffected. */
    private static void cancel(List<CompletableFuture<List<ServedResult>>> searches) {
        searches.forEach(search -> search.cancel(false));
    }

    private static Problem shuttingDown() {
        return new Problem(503, "the service is shutting down");
    }

    private static Problem tooLate(Duration time) {
        return new Problem(504, "the search was not answered within its %,d ms".formatted(time.toMillis()));
    }

    private static List<Hit> nearest(List<ServedResult> found, int k) {
        return found.stream()
                .flatMap(ServedResult::hits)
                .sorted(Comparator.comparingDouble(Hit::distance))
                .limit(k)
                .toList();
    }
}
