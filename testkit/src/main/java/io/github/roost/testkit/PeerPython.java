package io.github.roost.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** A separate Python environment for a peer, created at first use. */
public final class PeerPython {
    /** hnswlib, built from its source package for this CPU. */
    public static final String HNSWLIB = "hnswlib==0.8.0";
    /** FAISS, from its wheel. */
    public static final String FAISS = "faiss-cpu==1.12.0";
    /** Microsoft's DiskANN, from its wheel. */
    public static final String DISKANN = "diskannpy==0.7.0";

    /** Third-party libraries of graphs and lists from their wheels, and hnswlib. */
    public static final List<String> RIVALS = List.of(
            HNSWLIB,
            "faiss-cpu==1.15.1",
            "usearch==2.26.6",
            "pyglass-portable==2.1.0",
            "scalable-vs==0.5.0",
            "rabitqlib==0.7.1",
            "scann==1.4.2",
            "deglib==0.2.6",
            "alayalite==1.0.4",
            "zvec==0.8.0");

    /** What turns packages of real data into files of vectors. */
    public static final List<String> DATA = List.of("numpy==2.4.6", "onnxruntime==1.32.0", "tokenizers==0.23.3");

    private PeerPython() {}

    /**
     * Returns the environment's interpreter; creates the environment if needed.
     *
     * @param folder of the environment
     * @param peer the package, with its version
     * @throws IOException if there is no Python 3, or the package cannot be downloaded or built
     */
    public static Path prepare(Path folder, String peer) throws IOException, InterruptedException {
        Path python = folder.resolve("bin/python");
        Path ready = folder.resolve("ready");
        if (!Files.exists(ready)) {
            Files.createDirectories(folder);
            Path log = folder.resolve("setup.log");
            run(peer, log, "python3", "-m", "venv", folder.toString());
            run(peer, log, python.toString(), "-m", "pip", "install", "-q", "numpy", peer);
            Files.createFile(ready);
        }
        return python;
    }

    /**
     * Returns the interpreter of an environment for several peers; creates it if needed, and installs the peers that it lacks.
     * Peers that cannot be installed are left out, and tried again by the next call.
     *
     * @param folder of the environment
     * @param peers packages, with their versions
     * @param progress receives messages about installations, and about peers that are left out
     * @throws IOException if there is no Python 3
     */
    public static Path prepareAll(Path folder, List<String> peers, Consumer<String> progress)
            throws IOException, InterruptedException {
        Path python = folder.resolve("bin/python");
        Path ready = folder.resolve("ready");
        Path log = folder.resolve("setup.log");
        if (!Files.exists(ready)) {
            Files.createDirectories(folder);
            run("the peers", log, "python3", "-m", "venv", folder.toString());
            Files.createFile(ready);
        }
        for (String peer : peers) {
            // Per peer and version: a peer that could not be downloaded once is tried again the next time.
            Path installed = folder.resolve("installed-" + peer);
            if (!Files.exists(installed)) {
                progress.accept("installation of " + peer);
                try {
                    run(peer, log, python.toString(), "-m", "pip", "install", "-q", "numpy", peer);
                    Files.createFile(installed);
                } catch (IOException e) {
                    progress.accept("left out: " + e.getMessage());
                }
            }
        }
        return python;
    }

    private static void run(String peer, Path log, String... command) throws IOException, InterruptedException {
        int status = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start()
                .waitFor();
        if (status != 0) {
            throw new IOException(peer + " cannot be set up: " + String.join(" ", command) + " failed, see " + log
                    + "; --peer none leaves it out");
        }
    }
}
