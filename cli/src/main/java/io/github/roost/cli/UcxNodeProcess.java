package io.github.roost.cli;

import io.github.roost.bench.remote.PoolAccess;
import io.github.roost.index.remote.ucx.UcxMemory;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a memory node that exposes a pool over UCX in its own process. Stateless. */
final class UcxNodeProcess {
    private UcxNodeProcess() {}

    /** Starts the node; it ends when the access is closed, or with this process. */
    static PoolAccess expose(Path pool, String transports) throws IOException {
        List<String> words = new ArrayList<>(RoostProcess.jvm());
        words.addAll(List.of("memory-node", pool.toString(), "--listen", "ucx://127.0.0.1:0"));
        Process node = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Thread ender = new Thread(node::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(ender);
        Runnable end = () -> {
            node.destroyForcibly();
            RoostProcess.removeHook(ender);
        };
        boolean listening = false;
        try {
            BufferedReader said = node.inputReader();
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.startsWith(MemoryNodeCommand.LISTENING)) {
                    listening = true;
                    String address = line.substring(MemoryNodeCommand.LISTENING.length());
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
