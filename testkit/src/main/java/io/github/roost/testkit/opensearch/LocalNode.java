package io.github.roost.testkit.opensearch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One OpenSearch node: a process on the loopback address, with the Java agent and its policies on, never run as root. Not thread-safe, except
 * {@link #awaitEnd}.
 */
public final class LocalNode implements AutoCloseable {
    private static final long LOOK_AGAIN_NANOS = 50_000_000;
    private static final Duration STOP = Duration.ofSeconds(30);
    /** User and group nobody: the node runs as these if this process is root, as OpenSearch refuses to run as root. */
    private static final int NOBODY = 65_534;
    /** Exit statuses after SIGINT and SIGTERM. */
    private static final List<Integer> ASKED_TO_END = List.of(130, 143);

    private final ServerHome home;
    private final Path folder;
    private final String heap;
    private final SearchClient client;
    /** Volatile: one thread may stop the process while another waits for its end. */
    private volatile @Nullable Process process;

    /**
     * Prepares a node.
     *
     * @param folder of the node, to be created
     * @param heap in the syntax of {@code -Xmx}
     * @param settings for opensearch.yml
     */
    LocalNode(ServerHome home, Path folder, String heap, int httpPort, Map<String, Object> settings)
            throws IOException {
        this.home = home;
        this.folder = folder;
        this.heap = heap;
        this.client = new SearchClient(httpPort);
        for (String name : List.of("config", "data", "logs", "tmp")) {
            Files.createDirectories(folder.resolve(name));
        }
        StringBuilder yaml = new StringBuilder();
        settings.forEach(
                (key, value) -> yaml.append(key).append(": ").append(value).append('\n'));
        yaml.append("path.data: ").append(folder.resolve("data")).append('\n');
        yaml.append("path.logs: ").append(folder.resolve("logs")).append('\n');
        yaml.append("network.host: 127.0.0.1\n");
        yaml.append("http.port: ").append(httpPort).append('\n');
        Files.writeString(folder.resolve("config/opensearch.yml"), yaml);
        Files.writeString(folder.resolve("config/log4j2.properties"), """
                status = error
                appender.console.type = Console
                appender.console.name = console
                appender.console.layout.type = PatternLayout
                appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] [%node_name]%marker %m%n
                rootLogger.level = info
                rootLogger.appenderRef.console.ref = console
                """);
    }

    /** Starts the process, which ends no later than the calling thread; does not wait for it to answer. */
    public void start() throws IOException {
        List<String> command = new ArrayList<>();
        giveToNodes(folder);
        // If the thread that starts the node ends, by a kill of this process say, the kernel kills the node.
        command.addAll(List.of("setpriv", "--pdeathsig=KILL"));
        if (isRoot()) {
            command.addAll(List.of("--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "-Xms" + heap,
                "-Xmx" + heap,
                "-Xss1m",
                "-Djava.io.tmpdir=" + folder.resolve("tmp"),
                "-Dopensearch.path.home=" + home.folder(),
                "-Dopensearch.path.conf=" + folder.resolve("config"),
                "-Dlog4j.shutdownHookEnabled=false",
                "-Dlog4j2.disable.jmx=true",
                "-Djna.nosys=true",
                "-Dio.netty.noUnsafe=true",
                "-Dio.netty.noKeySetOptimization=true",
                "-Dio.netty.recycler.maxCapacityPerThread=0",
                "-XX:-OmitStackTraceInFastThrow",
                "-Djava.awt.headless=true",
                "-Dfile.encoding=UTF-8",
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-javaagent:" + home.agent(),
                "-cp",
                home.folder().resolve("lib") + "/*",
                "org.opensearch.bootstrap.OpenSearch"));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(home.folder().toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
        process = builder.start();
    }

    private static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }

    /**
     * Moves a file or a folder into the node's data, as when data is brought from another machine.
     *
     * @param from source, on the same file system
     * @param to target, relative to the node's data folder
     */
    public void put(Path from, String to) throws IOException {
        giveToNodes(from);
        Files.move(from, data().resolve(to));
    }

    /** The node's data folder: its own part of {@code path.data}. */
    public Path data() {
        return folder.resolve("data/nodes/0");
    }

    /** Gives a folder and all in it to the user as whom nodes run. */
    static void giveToNodes(Path root) throws IOException {
        if (!isRoot()) {
            return;
        }
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Files.setAttribute(path, "unix:uid", NOBODY);
                Files.setAttribute(path, "unix:gid", NOBODY);
            }
        }
    }

    public Path log() {
        return folder.resolve("node.log");
    }

    /** The node's HTTP client. */
    public SearchClient client() {
        return client;
    }

    /**
     * Waits until the node answers.
     *
     * @throws IOException if it does not answer in time, or the process ends
     */
    public void awaitAnswer(Duration patience) throws IOException {
        await("no answer", "/_cluster/health?timeout=1s", patience);
    }

    /**
     * Waits until the node reports a cluster of that many nodes with all shards allocated.
     *
     * @throws IOException if that does not happen in time, or the process ends
     */
    public void awaitGreen(int nodes, Duration patience) throws IOException {
        await(
                "no complete cluster of " + nodes + " nodes",
                "/_cluster/health?timeout=1s&wait_for_status=green&wait_for_nodes=" + nodes
                        + "&wait_for_no_initializing_shards=true&wait_for_no_relocating_shards=true",
                patience);
    }

    private void await(String complaint, String path, Duration patience) throws IOException {
        long end = System.nanoTime() + patience.toNanos();
        while (!isAnswered(path)) {
            if (!isAlive() || System.nanoTime() > end) {
                throw new IOException((isAlive() ? complaint + " in " + patience : "the node has ended")
                        + "; the end of its log:\n" + endOfLog());
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    private boolean isAnswered(String path) {
        try {
            SearchClient.Reply reply = client.get(path);
            return reply.status() == 200 && !reply.body().path("timed_out").asBoolean(true);
        } catch (UncheckedIOException notYet) {
            return false;
        }
    }

    private boolean isAlive() {
        Process running = process;
        return running != null && running.isAlive();
    }

    /**
     * Waits until the process has been stopped, by this object or a signal.
     *
     * @throws IOException if it ended without being stopped
     */
    public void awaitEnd() throws IOException, InterruptedException {
        Process running = process;
        if (running != null && !ASKED_TO_END.contains(running.waitFor())) {
            throw new IOException("the node has ended; the end of its log:\n" + endOfLog());
        }
    }

    private String endOfLog() throws IOException {
        List<String> lines = Files.readAllLines(log());
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
    }

    /** Kills the process, simulating a power failure. */
    public void kill() {
        Process running = process;
        if (running != null) {
            end(running.destroyForcibly());
        }
    }

    /** Stops the process and waits for its end. */
    public void stop() {
        Process running = process;
        if (running != null) {
            running.destroy();
            end(running);
        }
    }

    private void end(Process ending) {
        boolean interrupted = false;
        try {
            if (!ending.waitFor(STOP.toSeconds(), TimeUnit.SECONDS)) {
                ending.destroyForcibly();
            }
        } catch (InterruptedException e) {
            interrupted = true;
            ending.destroyForcibly();
        }
        ending.onExit().join();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        process = null;
    }

    @Override
    public void close() {
        stop();
    }
}
