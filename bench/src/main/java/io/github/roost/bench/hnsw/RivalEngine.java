package io.github.roost.bench.hnsw;

import io.github.roost.bench.peer.PeerProcess;
import io.github.roost.bench.peer.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A third-party library in a Python process; batches run on the library's own threads. */
final class RivalEngine implements HnswEngine {
    private final String name;
    private final PeerProcess process;
    private final Duration buildTime;

    /**
     * @param name of an engine in {@code rival_peer.py}
     * @throws IOException if the library is missing, or cannot index such rows on this machine; the message says why
     */
    RivalEngine(String name, Workload workload, Path python, int m, int efConstruction, int threads)
            throws IOException {
        this(name, workload, python, m, efConstruction, threads, null);
    }

    /**
     * Like the other constructor, with a cache of indexes.
     *
     * @param kept folder from which the index is loaded if it exists there, and to which it is saved otherwise; null
     *     for none
     */
    RivalEngine(
            String name, Workload workload, Path python, int m, int efConstruction, int threads, @Nullable Path kept)
            throws IOException {
        this.name = name;
        List<String> arguments = new ArrayList<>(List.of(
                name,
                String.valueOf(m),
                String.valueOf(efConstruction),
                String.valueOf(THREADS),
                String.valueOf(threads)));
        if (kept != null) {
            arguments.add(kept.toString());
        }
        this.process = new PeerProcess(name, python, RivalEngine.class, "rival_peer.py", workload, arguments);
        this.buildTime = firstAnswer();
    }

    private Duration firstAnswer() throws IOException {
        try {
            return Duration.ofNanos((long) (1e9 * process.answer()));
        } catch (IOException e) {
            process.close();
            throw e;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Duration buildTime() {
        return buildTime;
    }

    @Override
    public long bytes() throws IOException {
        return (long) process.order("bytes");
    }

    @Override
    public int[][] search(int k, int ef) throws IOException {
        process.order("search " + k + " " + ef + " 0");
        return process.found(k);
    }

    @Override
    public double rate(int k, int ef, Duration time) throws IOException {
        return process.order(String.format(Locale.ROOT, "rate %d %d %.3f", k, ef, time.toNanos() / 1e9));
    }

    @Override
    public void close() throws IOException {
        process.close();
    }
}
