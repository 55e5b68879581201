package io.github.roost.bench.remote;

import io.github.roost.bench.peer.ChildJvm;
import io.github.roost.index.remote.MemoryNode;
import io.github.roost.index.remote.ucx.UcxMemory;
import io.github.roost.index.remote.ucx.UcxNode;
import io.github.roost.simulator.options.CommandFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Runs a memory node that exposes a pool over UCX in its own process. Stateless. */
final class UcxNodeProcess {
    private static final Duration TERM = Duration.ofSeconds(1);
    /** Prefix of the output line with the node's address. */
    private static final String LISTENING = "listening at ";

    private UcxNodeProcess() {}

    /** Serves the pool that the argument names until the process is ended. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path pool = Path.of(arguments[0]);
        try (MemoryNode _ = MemoryNode.serve(pool, TERM);
                UcxNode exposed = UcxNode.serve(pool, "ucx://127.0.0.1:0")) {
            System.out.println(LISTENING + exposed.address());
            new CountDownLatch(1).await();
        }
    }

    /** Starts the node; it ends when the access is closed, or with this process. */
    static PoolAccess expose(Path pool, String transports) throws IOException {
        List<String> words = ChildJvm.command(UcxNodeProcess.class);
        words.add(pool.toString());
        Process node = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Thread ender = new Thread(node::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(ender);
        Runnable end = () -> {
            node.destroyForcibly();
            ChildJvm.removeHook(ender);
        };
        boolean listening = false;
        try {
            BufferedReader said = node.inputReader();
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.startsWith(LISTENING)) {
                    listening = true;
                    String address = line.substring(LISTENING.length());
                    return new PoolAccess(new UcxMemory(transports), address, end);
                }
            }
            throw new CommandFailure("the memory node of " + pool + " has ended");
        } finally {
            if (!listening) {
                end.run();
            }
        }
    }
}
