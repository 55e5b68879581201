package io.github.roost.testkit.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An HTTP client of one node. Throws {@link UncheckedIOException} if the node does not answer. Thread-safe. */
public final class SearchClient {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;

    SearchClient(int port) {
        this.base = "http://127.0.0.1:" + port;
    }

    /** An answer: its status, and its body as JSON. */
    public record Reply(int status, JsonNode body) {
        /** The body; throws if the status is an error. */
        public JsonNode ok() {
            if (status / 100 != 2) {
                throw new IllegalStateException("OpenSearch says " + status + ": " + body);
            }
            return body;
        }

        /** The ids of the hits, best first. */
        public List<String> ids() {
            List<String> ids = new ArrayList<>();
            ok().path("hits")
                    .path("hits")
                    .forEach(hit -> ids.add(hit.path("_id").asText()));
            return ids;
        }

        /** The scores of the hits. */
        public List<Double> scores() {
            List<Double> scores = new ArrayList<>();
            ok().path("hits")
                    .path("hits")
                    .forEach(hit -> scores.add(hit.path("_score").asDouble()));
            return scores;
        }
    }

    /** {@return the node's base URL} */
    public String base() {
        return base;
    }

    public Reply get(String path) {
        return send("GET", path, "");
    }

    public Reply put(String path, String json) {
        return send("PUT", path, json);
    }

    public Reply post(String path, String json) {
        return send("POST", path, json);
    }

    public Reply delete(String path) {
        return send("DELETE", path, "");
    }

    /** Writes documents; throws unless all were accepted. */
    public void bulk(String index, String lines) {
        JsonNode body = post("/" + index + "/_bulk", lines).ok();
        if (body.path("errors").asBoolean(true)) {
            throw new IllegalStateException("not all documents were accepted: " + body);
        }
    }

    /** Sends several searches in one request. */
    public JsonNode search(List<String> bodies, String index) {
        StringBuilder lines = new StringBuilder();
        bodies.forEach(
                body -> lines.append("{}\n").append(body.replace('\n', ' ')).append('\n'));
        return post("/" + index + "/_msearch", lines.toString()).ok();
    }

    /** Sends a batch of searches of one field; returns one list of hits per vector. */
    public JsonNode batch(String index, String body) {
        return post("/_plugins/_roost/search/" + index, body).ok().path("results");
    }

    /** Merges an index to one segment and refreshes it. */
    public void mergeToOne(String index) {
        post("/" + index + "/_forcemerge?max_num_segments=1", "").ok();
        post("/" + index + "/_refresh", "").ok();
    }

    /** The body of an answer as plain text. */
    public String text(String path) {
        return new String(exchange("GET", path, "").body(), StandardCharsets.UTF_8);
    }

    private Reply send(String method, String path, String body) {
        HttpResponse<byte[]> response = exchange(method, path, body);
        try {
            return new Reply(response.statusCode(), JSON.readTree(response.body()));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private HttpResponse<byte[]> exchange(String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + path))
                .timeout(PATIENCE)
                .header("content-type", "application/json")
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build();
        try {
            return http.send(request, BodyHandlers.ofByteArray());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException(method + " " + path + " was interrupted", e));
        }
    }
}
