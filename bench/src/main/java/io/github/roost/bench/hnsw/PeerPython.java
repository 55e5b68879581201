package io.github.roost.bench.hnsw;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A Python environment of its own for hnswlib, made at first use by building its source package. */
public final class PeerPython {
    private static final String HNSWLIB = "hnswlib==0.8.0";

    private PeerPython() {}

    /**
     * The environment's interpreter.
     *
     * @param folder where the environment is or is to be
     * @throws IOException if there is no Python 3, or the package cannot be had or built
     */
    public static Path prepare(Path folder) throws IOException, InterruptedException {
        Path python = folder.resolve("bin/python");
        Path ready = folder.resolve("ready");
        if (!Files.exists(ready)) {
            Files.createDirectories(folder);
            Path log = folder.resolve("setup.log");
            run(log, "python3", "-m", "venv", folder.toString());
            run(log, python.toString(), "-m", "pip", "install", "-q", "numpy", HNSWLIB);
            Files.createFile(ready);
        }
        return python;
    }

    private static void run(Path log, String... command) throws IOException, InterruptedException {
        int status = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start()
                .waitFor();
        if (status != 0) {
            throw new IOException("hnswlib cannot be set up: " + String.join(" ", command) + " failed, see " + log
                    + "; --peer none leaves hnswlib out");
        }
    }
}
