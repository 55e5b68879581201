package io.github.roost.cli.rows;

import io.github.roost.bench.peer.ChildJvm;
import io.github.roost.rows.service.RowsServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A server in its own process. It ends with this process, since it reads its standard input to the end. For one thread at a time. */
final class NodeProcess implements AutoCloseable {
    private static final Duration STOP = Duration.ofSeconds(20);

    private final String name;
    private final List<String> command;
    private final Path log;
    private Process process;

    private NodeProcess(String name, List<String> command, Path log) throws IOException {
        this.name = name;
        this.command = command;
        this.log = log;
        this.process = startProcess();
    }

    /**
     * Starts a server and waits until it has entered the registry.
     *
     * @param roost command {@code roost}, as words
     * @param folder of all servers
     */
    static NodeProcess start(List<String> roost, String name, RowsServer.Seat seat, URI registry, Path folder, int rows)
            throws IOException {
        List<String> words = new ArrayList<>(roost);
        words.addAll(List.of(
                "table-service",
                "node",
                "--name=" + name,
                "--group=" + seat.group(),
                "--data=" + folder.resolve(name),
                "--registry=" + registry,
                "--rows=" + rows,
                "--until-input-ends"));
        return new NodeProcess(name, words, folder.resolve(name + ".log"));
    }

    private Process startProcess() throws IOException {
        Process started = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        BufferedReader lines = started.inputReader();
        if (lines.readLine() == null) {
            started.destroyForcibly();
            throw new IOException(
                    "server " + name + " has ended: " + Files.readString(log).strip());
        }
        return started;
    }

    String name() {
        return name;
    }

    /** Kills it as {@code kill -9} does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Restarts it after {@link #kill}, with its data. */
    void restart() throws IOException {
        process = startProcess();
    }

    /** Asks it to end; does not wait. */
    void end() {
        process.destroy();
    }

    /** Ends it, by force after a timeout. */
    @Override
    public void close() {
        ChildJvm.end(process, STOP);
    }
}
