package io.github.roost.bench.table;

import io.github.roost.bench.peer.ChildJvm;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * A Redis process on this machine's loopback address, which keeps all data in memory and persists nothing. The program is in Debian's package
 * {@code redis-server}. Not thread-safe.
 */
final class LocalRedis implements AutoCloseable {
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long POLL_MILLIS = 20;
    private static final Duration STOP = Duration.ofSeconds(10);
    private static final int MAX_ATTEMPTS = 5;
    /** Generous: an answer has some megabytes at most. */
    private static final int TIMEOUT_MILLIS = 30_000;

    private final Path program;
    private final Path folder;
    private final Thread atExit = new Thread(this::destroy, "roost-redis-end");
    private int port;
    private Process process;

    private LocalRedis(Path program, Path folder) throws IOException {
        this.program = program;
        this.folder = folder;
        this.process = startOnFreePort();
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** The program {@code redis-server} on the PATH; empty if it is not installed. */
    static Optional<Path> program() {
        String path = System.getenv("PATH");
        return Stream.of((path == null ? "" : path).split(File.pathSeparator, -1))
                .map(folder -> Path.of(folder, "redis-server"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Starts Redis, and waits until it answers.
     *
     * @param program from {@link #program}
     * @param folder for its log; created if it does not exist
     */
    static LocalRedis start(Path program, Path folder) throws IOException {
        Files.createDirectories(folder);
        return new LocalRedis(program, folder.toAbsolutePath());
    }

    /** Retries, since another process may take a port between its choice and its use. */
    private Process startOnFreePort() throws IOException {
        for (int attempt = 1; ; attempt++) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = socket.getLocalPort();
            }
            try {
                return startProcess();
            } catch (IOException e) {
                if (attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private Process startProcess() throws IOException {
        Process started = new ProcessBuilder(
                        program.toString(),
                        "--bind",
                        "127.0.0.1",
                        "--port",
                        Integer.toString(port),
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--dir",
                        folder.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                .start();
        boolean done = false;
        try {
            awaitAnswer(started);
            done = true;
            return started;
        } finally {
            if (!done) {
                started.destroyForcibly();
            }
        }
    }

    private void awaitAnswer(Process started) throws IOException {
        long until = System.nanoTime() + START_NANOS;
        while (!answers()) {
            try {
                if (started.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                    throw new IOException("redis-server has ended, see " + log());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while redis-server starts", e);
            }
            if (System.nanoTime() - until > 0) {
                throw new IOException("redis-server does not answer, see " + log());
            }
        }
    }

    private boolean answers() {
        try (Jedis client = connect()) {
            return "PONG".equals(client.ping());
        } catch (JedisConnectionException notYet) {
            return false;
        }
    }

    private Path log() {
        return folder.resolve("redis.log");
    }

    /** Opens a connection, which the caller must close. */
    Jedis connect() {
        return new Jedis("127.0.0.1", port, TIMEOUT_MILLIS);
    }

    private void destroy() {
        process.destroy();
    }

    @Override
    public void close() {
        ChildJvm.removeHook(atExit);
        ChildJvm.end(process, STOP);
    }
}
