package io.github.roost.bench.opensearch;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.packages.DebianPackages;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * One OpenSearch node with Roost's plugin and an index of the Debian packages: section and name as terms, synopsis as text, embedding as a
 * vector. The node ends, and its files are deleted, with the process that started it. Not thread-safe.
 */
public final class PackageNode implements AutoCloseable {
    /** The name of the index. */
    public static final String INDEX = "packages";

    private static final int PER_BULK = 1_000;
    private static final int K = 5;
    private static final String HEAP = "1g";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final LocalCluster cluster;

    private PackageNode(LocalCluster cluster) {
        this.cluster = cluster;
    }

    /**
     * Starts the node and waits until it answers; the index exists and is empty.
     *
     * @param checkout in which module opensearch has been packaged
     * @param httpPort port on the loopback address, from 0 to 65,535; 0 for any free one
     * @throws IOException if the port is taken, module opensearch is not packaged, or the node does not start: then with the end of its log
     */
    public static PackageNode start(Path checkout, int httpPort) throws IOException {
        requireFree(httpPort);
        LocalCluster cluster = LocalCluster.start(checkout, 1, HEAP, httpPort, Map.of());
        try {
            cluster.client()
                    .put("/" + INDEX, """
                            {"settings":{"index.roost.enabled":true,"number_of_shards":1,"number_of_replicas":0},
                             "mappings":{"properties":{
                               "section":{"type":"keyword"},
                               "name":{"type":"keyword"},
                               "synopsis":{"type":"text"},
                               "embedding":{"type":"roost_vector","dimension":%d,"similarity":"cosine"}}}}""".formatted(DebianPackages.DIMENSION))
                    .ok();
            return new PackageNode(cluster);
        } catch (Throwable failure) {
            cluster.close();
            throw failure;
        }
    }

    private static void requireFree(int port) throws IOException {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            socket.setReuseAddress(true);
        } catch (IOException taken) {
            throw new IOException("port " + port + " of the loopback address is taken: " + taken.getMessage(), taken);
        }
    }

    /**
     * Writes all packages and refreshes the index.
     *
     * @param written receives the number of packages of each bulk request
     */
    public void load(DebianPackages packages, LongConsumer written) {
        int count = packages.packages().size();
        for (int from = 0; from < count; from += PER_BULK) {
            int to = Math.min(from + PER_BULK, count);
            StringBuilder bulk = new StringBuilder();
            for (int row = from; row < to; row++) {
                bulk.append("{\"index\":{\"_id\":\"").append(row).append("\"}}\n");
                bulk.append(document(packages, row)).append('\n');
            }
            cluster.client().bulk(INDEX, bulk.toString());
            written.accept(to - from);
        }
        cluster.client().post("/" + INDEX + "/_refresh", "").ok();
    }

    private static ObjectNode document(DebianPackages packages, int row) {
        DebianPackages.Package entry = packages.packages().get(row);
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("section", entry.section())
                .put("name", entry.name())
                .put("synopsis", entry.synopsis());
        // Embeddings are whole numbers: as integers the request is half as long.
        int[] embedding = new int[DebianPackages.DIMENSION];
        for (int i = 0; i < embedding.length; i++) {
            embedding[i] = (int) packages.vectors()[row][i];
        }
        document.set("embedding", JSON.valueToTree(embedding));
        return document;
    }

    /** {@return the node's base URL, such as {@code http://127.0.0.1:9200}} */
    public String address() {
        return cluster.client().base();
    }

    /**
     * A curl command line that searches for a phrase's meaning; its request body is in a file that is deleted with the node.
     *
     * @param phrase the query, with its embedding
     */
    public String curl(DebianPackages.Query phrase) throws IOException {
        Path request = cluster.folder().resolve(phrase.text().replaceAll("[^a-z0-9]+", "-") + ".json");
        Files.writeString(request, """
                {"size":%d,"_source":["name","synopsis"],
                 "query":{"roost_knn":{"embedding":{"k":%d,"vector":%s}}}}
                """.formatted(K, K, Arrays.toString(phrase.vector())));
        return "curl -s -H 'content-type: application/json' -d @" + request + " '" + address() + "/" + INDEX
                + "/_search?pretty&filter_path=hits.hits._score,hits.hits._source'";
    }

    /**
     * Waits until the node has been stopped.
     *
     * @throws IOException if it ended without being stopped; with the end of its log
     */
    public void awaitEnd() throws IOException, InterruptedException {
        cluster.node(0).awaitEnd();
    }

    /** Stops the node and deletes its files. */
    @Override
    public void close() {
        cluster.close();
    }
}
