package example;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Vectors in OpenSearch with Roost's plugin, by plain HTTP: an index with a vector field, documents, and the nearest of those that a filter matches.
 * Needs a node, such as {@code ./roost opensearch} starts, and no library:
 *
 * <pre>java examples/opensearch-client/src/main/java/example/OpenSearchClient.java http://localhost:9200</pre>
 */
public final class OpenSearchClient {
    private static final String INDEX = "/example-birds";
    private static final Pattern ID = Pattern.compile("\"_id\":\"(\\d+)\"");

    private final HttpClient http = HttpClient.newHttpClient();
    private final String node;

    private OpenSearchClient(String node) {
        this.node = node;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length != 1) {
            System.err.println("usage: OpenSearchClient URL, for example http://localhost:9200");
            System.exit(2);
        }
        OpenSearchClient client = new OpenSearchClient(args[0]);
        client.send("PUT", INDEX, """
                {"settings": {"index.roost.enabled": true, "number_of_replicas": 0},
                 "mappings": {"properties": {
                   "v": {"type": "roost_vector", "dimension": 3, "similarity": "euclidean"},
                   "word": {"type": "keyword"}}}}""");
        try {
            client.send("POST", INDEX + "/_bulk?refresh=true", """
                    {"index": {"_id": "1"}}
                    {"v": [1, 0, 0], "word": "wren"}
                    {"index": {"_id": "2"}}
                    {"v": [2, 0, 0], "word": "heron"}
                    {"index": {"_id": "3"}}
                    {"v": [3, 0, 0], "word": "wren"}
                    {"index": {"_id": "4"}}
                    {"v": [0, 9, 0], "word": "wren"}
                    """);
            client.expect(List.of("2", "1"), """
                    {"query": {"roost_knn": {"v": {"vector": [1.8, 0, 0], "k": 2}}}}""");
            client.expect(List.of("1", "3"), """
                    {"query": {"roost_knn": {"v": {"vector": [1.8, 0, 0], "k": 2,
                       "filter": {"term": {"word": "wren"}}}}}}""");
        } finally {
            client.send("DELETE", INDEX, "");
        }
    }

    private void expect(List<String> expected, String search) throws IOException, InterruptedException {
        String answer = send("POST", INDEX + "/_search", search);
        List<String> found = ID.matcher(answer)
                .results()
                .map((MatchResult hit) -> hit.group(1))
                .toList();
        System.out.println(search + " finds " + found);
        if (!found.equals(expected)) {
            throw new IllegalStateException("expected " + expected + ", got " + answer);
        }
    }

    private String send(String method, String path, String json) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(node + path))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(json))
                .build();
        var response = http.send(request, BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2 || response.body().contains("\"errors\":true")) {
            throw new IllegalStateException(
                    method + " " + path + " is answered by " + response.statusCode() + ": " + response.body());
        }
        return response.body();
    }
}
