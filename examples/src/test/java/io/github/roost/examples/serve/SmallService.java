package io.github.roost.examples.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** A service of two small tables on any free port, and a client for it. */
final class SmallService implements AutoCloseable {
    static final int DIMENSION = 8;
    static final int ROWS = 200;
    static final String PHRASE = "in the middle";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    final Orchestrator orchestrator;
    final RoostService service;
    private final Map<String, float[]> rowsByName = new HashMap<>();
    private final HttpClient client = HttpClient.newHttpClient();

    /** An answer: status, headers, and the body as JSON. */
    record Answer(int status, HttpResponse<String> response) {
        JsonNode json() {
            try {
                return MAPPER.readTree(response.body());
            } catch (IOException e) {
                throw new AssertionError("not JSON: " + response.body(), e);
            }
        }

        String error() {
            return json().path("error").asText();
        }
    }

    SmallService(String machine, int ringCapacity, ServeSettings settings) {
        this.orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic(machine).read())
                .ringCapacity(ringCapacity)
                .build();
        this.service = new RoostService(orchestrator, settings.withPort(0));
    }

    /** Two domains of two workers, on this machine only. */
    static SmallService ready() {
        return new SmallService("pack:1 l3:2 core:2 pu:1", 1_024, ServeSettings.DEFAULT).withTables();
    }

    /** One worker with room for {@code ringCapacity} tasks to wait. */
    static SmallService withOneWorker(int ringCapacity, ServeSettings settings) {
        return new SmallService("pack:1 l3:1 core:1 pu:1", ringCapacity, settings).withTables();
    }

    SmallService withTables() {
        Random random = new Random(8);
        List<DescribedTable> tables = List.of(table("games", 0, random), table("net", 1_000, random));
        service.serve(new Tables(
                tables,
                Map.of(PHRASE, new float[DIMENSION]),
                () -> tables.forEach(table -> table.words().close())));
        return this;
    }

    private DescribedTable table(String name, long firstId, Random random) {
        long[] ids = new long[ROWS];
        float[][] rows = new float[ROWS][DIMENSION];
        Map<Long, Item> described = new HashMap<>();
        for (int row = 0; row < ROWS; row++) {
            ids[row] = firstId + row;
            for (int i = 0; i < DIMENSION; i++) {
                rows[row][i] = (float) random.nextGaussian();
            }
            rowsByName.put(name + "-" + row, rows[row]);
            described.put(ids[row], new Item(name + "-" + row, "row " + row + " of " + name));
        }
        try {
            return new DescribedTable(
                    LiveTable.builder().name(name).build(orchestrator, ids, rows), described, ItemRows.of(described));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + service.port() + path);
    }

    Answer get(String path) {
        return send(HttpRequest.newBuilder(uri(path)).build());
    }

    Answer delete(String path) {
        return send(HttpRequest.newBuilder(uri(path)).DELETE().build());
    }

    Answer post(String path, String body) {
        return send(posting(path, body).build());
    }

    CompletableFuture<Integer> postLater(String path, String body) {
        return client.sendAsync(posting(path, body).build(), BodyHandlers.ofString())
                .thenApply(HttpResponse::statusCode);
    }

    HttpRequest.Builder posting(String path, String body) {
        return HttpRequest.newBuilder(uri(path))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
    }

    Answer send(HttpRequest request) {
        try {
            HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
            return new Answer(response.statusCode(), response);
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** The names of the rows nearest to a query, from all of them. */
    List<String> exact(List<String> tables, float[] query, int k) {
        return rowsByName.keySet().stream()
                .filter(row -> tables.stream().anyMatch(table -> row.startsWith(table + "-")))
                .sorted((a, b) -> Float.compare(distance(vector(a), query), distance(vector(b), query)))
                .limit(k)
                .toList();
    }

    /** The row of a name. */
    float[] vector(String name) {
        return Objects.requireNonNull(rowsByName.get(name));
    }

    private static float distance(float[] a, float[] b) {
        float sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - b[i]) * (a[i] - b[i]);
        }
        return sum;
    }

    /** Keeps the only worker busy until it is closed; returns once the worker is. */
    Busy busyWorker() {
        CountDownLatch begun = new CountDownLatch(1);
        Busy busy = new Busy(orchestrator.register("busy"), new CountDownLatch(1));
        SearchFunction<Integer, Boolean> task = (query, context) -> {
            begun.countDown();
            busy.end.await();
            return true;
        };
        var _ = orchestrator.submit(task, 0, busy.registration.id());
        try {
            begun.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return busy;
    }

    record Busy(Registration registration, CountDownLatch end) implements AutoCloseable {
        boolean isBusy() {
            return end.getCount() > 0;
        }

        @Override
        public void close() {
            end.countDown();
        }
    }

    @Override
    public void close() {
        client.close();
        service.close();
    }
}
