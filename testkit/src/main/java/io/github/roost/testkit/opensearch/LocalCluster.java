package io.github.roost.testkit.opensearch;

import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A cluster of local processes in a temporary folder, which is deleted on close. Not thread-safe. */
public final class LocalCluster implements AutoCloseable {
    private static final Duration START = Duration.ofMinutes(4);

    private final Path folder;
    private final List<LocalNode> nodes = new ArrayList<>();
    private final Thread atExit = new Thread(this::end, "ends the nodes");

    private LocalCluster(Path folder) {
        this.folder = folder;
    }

    /**
     * Starts a cluster and waits until all nodes have joined.
     *
     * @param checkout in which module opensearch has been packaged
     * @param count number of nodes, at least 1
     * @param heap of each node, in the syntax of {@code -Xmx}
     * @param httpPort of the first node; 0 for any free one
     * @param settings of each node, in addition to the cluster settings
     */
    public static LocalCluster start(Path checkout, int count, String heap, int httpPort, Map<String, Object> settings)
            throws IOException {
        Path folder = Files.createTempDirectory("roost-opensearch-");
        LocalCluster cluster = new LocalCluster(folder);
        Runtime.getRuntime().addShutdownHook(cluster.atExit);
        try {
            // Execute permission lets nodes that run as another user through to their own folders, which stay private.
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
            ServerHome home = ServerHome.layOut(checkout, folder.resolve("home"));
            Path snapshots = Files.createDirectory(cluster.snapshots());
            LocalNode.giveToNodes(snapshots);
            int[] ports = freePorts(2 * count);
            if (httpPort != 0) {
                ports[0] = httpPort;
            }
            for (int i = 0; i < count; i++) {
                Map<String, Object> all = settings(i, ports, settings);
                all.put("path.repo", list(1, only -> snapshots.toString()));
                cluster.nodes.add(new LocalNode(home, folder.resolve("n" + i), heap, ports[2 * i], all));
            }
            for (LocalNode node : cluster.nodes) {
                node.start();
            }
            for (LocalNode node : cluster.nodes) {
                node.awaitGreen(count, START);
            }
            return cluster;
        } catch (Throwable failure) {
            cluster.close();
            throw failure;
        }
    }

    private static Map<String, Object> settings(int node, int[] ports, Map<String, Object> more) {
        int count = ports.length / 2;
        Map<String, Object> settings = new LinkedHashMap<>(more);
        settings.put("cluster.name", "roost-" + ports[0]);
        settings.put("node.name", "n" + node);
        settings.put("transport.port", ports[2 * node + 1]);
        if (count == 1) {
            settings.put("discovery.type", "single-node");
        } else {
            settings.put("discovery.seed_hosts", list(count, i -> "127.0.0.1:" + ports[2 * i + 1]));
            settings.put("cluster.initial_cluster_manager_nodes", list(count, i -> "n" + i));
        }
        return settings;
    }

    private static String list(int count, IntFunction<String> element) {
        return IntStream.range(0, count)
                .mapToObj(i -> '"' + element.apply(i) + '"')
                .collect(Collectors.joining(", ", "[", "]"));
    }

    private static int[] freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return sockets.stream().mapToInt(ServerSocket::getLocalPort).toArray();
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
    }

    /** A folder for the caller's files, deleted with the cluster. */
    public Path folder() {
        return folder;
    }

    /** The folder for repositories of snapshots, shared by all nodes. */
    public Path snapshots() {
        return folder.resolve("snapshots");
    }

    /** Number of nodes it was started with. */
    public int nodes() {
        return nodes.size();
    }

    public LocalNode node(int number) {
        return nodes.get(number);
    }

    /** The client of the first node. */
    public SearchClient client() {
        return nodes.getFirst().client();
    }

    /** Stops the nodes and deletes their folders. */
    @Override
    public void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            // Then the hook runs too and finds nothing left to do.
        }
    }

    private synchronized void end() {
        nodes.forEach(LocalNode::close);
        nodes.clear();
        try {
            TemporaryFolder.delete(folder);
        } catch (IOException left) {
            // It is a temporary folder; the system deletes it.
        }
    }
}
