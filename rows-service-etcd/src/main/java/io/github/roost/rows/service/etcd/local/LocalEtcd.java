package io.github.roost.rows.service.etcd.local;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A single etcd process on this machine's loopback address, for services on one machine, demonstrations and tests. Debian's package
 * {@code etcd-server} has the program. For one thread at a time.
 */
public final class LocalEtcd implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(30);
    private static final long STOP_SECONDS = 10;
    private static final int MAX_ATTEMPTS = 5;

    private final Path program;
    private final Path folder;
    private int port;
    private int peerPort;
    private Process process;

    private LocalEtcd(Path program, Path folder) throws IOException, InterruptedException {
        this.program = program;
        this.folder = folder;
        this.process = startOnFreePorts();
    }

    /**
     * Finds the program in the directories of {@code PATH}.
     *
     * @return its file, or empty if it is not installed
     */
    public static Optional<Path> program() {
        String path = System.getenv("PATH");
        return Stream.of((path == null ? "" : path).split(File.pathSeparator, -1))
                .map(folder -> Path.of(folder, "etcd"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Starts etcd, and waits until it answers.
     *
     * @param folder the folder of its data, and its log {@code etcd.log}; created if it does not exist
     * @return the process; the caller closes it
     * @throws IOException if it is not installed, or does not answer within 30 s
     * @throws InterruptedException if the thread is interrupted
     */
    public static LocalEtcd start(Path folder) throws IOException, InterruptedException {
        Path program =
                program().orElseThrow(() -> new IOException("etcd is not installed: apt-get install etcd-server"));
        Files.createDirectories(folder);
        return new LocalEtcd(program, folder.toAbsolutePath());
    }

    /** Retries with other ports, as another process may take a port between its choice and its use. */
    private Process startOnFreePorts() throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            port = freePort();
            peerPort = freePort();
            try {
                return startProcess();
            } catch (IOException e) {
                if (attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private Process startProcess() throws IOException, InterruptedException {
        String peer = "http://127.0.0.1:" + peerPort;
        ProcessBuilder builder = new ProcessBuilder(
                        program.toString(),
                        "--name=roost",
                        "--data-dir=" + folder.resolve("data"),
                        "--listen-client-urls=" + endpoint(),
                        "--advertise-client-urls=" + endpoint(),
                        "--listen-peer-urls=" + peer,
                        "--initial-advertise-peer-urls=" + peer,
                        "--initial-cluster=roost=" + peer)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
        builder.environment().keySet().removeIf(name -> name.startsWith("ETCD_"));
        // etcd requires this variable on processors that it supports experimentally.
        builder.environment().put("ETCD_UNSUPPORTED_ARCH", "arm64");
        Process started = builder.start();
        boolean done = false;
        try {
            awaitHealth(started);
            done = true;
            return started;
        } finally {
            if (!done) {
                started.destroyForcibly();
            }
        }
    }

    private void awaitHealth(Process started) throws IOException, InterruptedException {
        long until = System.nanoTime() + START.toNanos();
        HttpRequest health = HttpRequest.newBuilder(endpoint().resolve("/health"))
                .timeout(Duration.ofSeconds(1))
                .build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            while (!isHealthy(http, health)) {
                if (!started.isAlive()) {
                    throw new IOException("etcd has ended, see " + log());
                }
                if (System.nanoTime() - until > 0) {
                    throw new IOException("etcd does not answer, see " + log());
                }
                Thread.sleep(20);
            }
        }
    }

    private static boolean isHealthy(HttpClient http, HttpRequest health) throws InterruptedException {
        try {
            return http.send(health, BodyHandlers.ofString()).body().contains("true");
        } catch (IOException notYet) {
            return false;
        }
    }

    private Path log() {
        return folder.resolve("etcd.log");
    }

    /**
     * The URI of its client endpoint.
     *
     * @return for example {@code http://127.0.0.1:2379}; the same after a restart
     */
    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /**
     * Kills the process as {@code kill -9} does.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /**
     * Starts it again after {@link #kill}, with its data.
     *
     * @throws IOException if it does not answer within 30 s
     * @throws InterruptedException if the thread is interrupted
     */
    public void restart() throws IOException, InterruptedException {
        process = startProcess();
    }

    /** Stops the process, and kills it after ten seconds. Its data stays. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
