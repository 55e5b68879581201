package io.github.roost.bench.hnsw;

import io.github.roost.bench.peer.PeerProcess;
import io.github.roost.bench.peer.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** hnswlib in a Python process; batches run on its own C++ threads. */
final class HnswlibEngine implements HnswEngine {
    private final PeerProcess process;
    private final Duration buildTime;

    HnswlibEngine(Workload workload, Path python, int m, int efConstruction) throws IOException {
        this.process = new PeerProcess(
                "hnswlib",
                python,
                HnswlibEngine.class,
                "hnswlib_peer.py",
                workload,
                List.of(String.valueOf(m), String.valueOf(efConstruction), String.valueOf(THREADS)));
        this.buildTime = Duration.ofNanos((long) (1e9 * process.answer()));
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
