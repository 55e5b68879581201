package io.github.roost.bench.hnsw;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

/** hnswlib in a Python process, told over its standard input what to search; batches run on its own C++ threads. */
final class HnswlibEngine implements HnswEngine {
    private final HnswWorkload workload;
    private final Path folder;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter orders;
    private final Duration buildTime;

    HnswlibEngine(HnswWorkload workload, Path python, int m, int efConstruction) throws IOException {
        this.workload = workload;
        this.folder = Files.createTempDirectory("roost-hnswlib-");
        Path script = folder.resolve("peer.py");
        try (InputStream source = HnswlibEngine.class.getResourceAsStream("hnswlib_peer.py")) {
            Files.copy(Objects.requireNonNull(source), script, StandardCopyOption.REPLACE_EXISTING);
        }
        write(folder.resolve("rows"), workload.rows());
        write(folder.resolve("queries"), workload.queries());
        this.process = new ProcessBuilder(
                        python.toString(),
                        script.toString(),
                        folder.toString(),
                        String.valueOf(workload.dimension()),
                        String.valueOf(m),
                        String.valueOf(efConstruction),
                        String.valueOf(THREADS))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        this.buildTime = Duration.ofNanos((long) (1e9 * answer()));
    }

    private static void write(Path file, float[][] vectors) throws IOException {
        ByteBuffer row = ByteBuffer.allocate(vectors[0].length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (float[] vector : vectors) {
                row.clear();
                row.asFloatBuffer().put(vector);
                while (row.hasRemaining()) {
                    out.write(row);
                }
            }
        }
    }

    private double answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the hnswlib process ended, see its message above");
        }
        return Double.parseDouble(line);
    }

    @Override
    public String name() {
        return "hnswlib";
    }

    @Override
    public Duration buildTime() {
        return buildTime;
    }

    @Override
    public int[][] search(int k, int ef) throws IOException {
        order("search", k, ef, 0);
        ByteBuffer ids =
                ByteBuffer.wrap(Files.readAllBytes(folder.resolve("found"))).order(ByteOrder.LITTLE_ENDIAN);
        int[][] found = new int[workload.queries().length][k];
        for (int[] row : found) {
            for (int i = 0; i < k; i++) {
                row[i] = ids.getInt();
            }
        }
        return found;
    }

    @Override
    public double rate(int k, int ef, Duration time) throws IOException {
        return order("rate", k, ef, time.toNanos() / 1e9);
    }

    private double order(String what, int k, int ef, double seconds) throws IOException {
        orders.write(String.format(Locale.ROOT, "%s %d %d %.3f%n", what, k, ef, seconds));
        orders.flush();
        return answer();
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
