package io.github.roost.bench.disk;

import io.github.roost.bench.peer.PeerProcess;
import io.github.roost.simulator.measure.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** diskannpy's static index in a Python process; batches run on its own C++ threads, with direct I/O. */
final class DiskAnnEngine implements DiskEngine {
    private final PeerProcess process;
    private final Duration buildTime;
    private final long memoryBytes;

    /** @param memoryBytes for its codes */
    DiskAnnEngine(
            Workload workload, Path python, Path folder, int degree, int buildWidth, int threads, long memoryBytes)
            throws IOException {
        this.memoryBytes = memoryBytes;
        this.process = new PeerProcess(
                "diskann",
                python,
                DiskAnnEngine.class,
                "diskann_peer.py",
                workload,
                List.of(
                        folder.toString(),
                        String.valueOf(degree),
                        String.valueOf(buildWidth),
                        String.valueOf(threads),
                        String.valueOf(memoryBytes)));
        this.buildTime = process.buildTime();
    }

    @Override
    public String name() {
        return "diskann";
    }

    @Override
    public Duration buildTime() {
        return buildTime;
    }

    @Override
    public long memoryBytes() {
        return memoryBytes;
    }

    @Override
    public int[][] search(int k, int width) throws IOException {
        process.order("search " + k + " " + width + " 0");
        return process.found(k);
    }

    @Override
    public double rate(int k, int width, Duration time) throws IOException {
        return process.order(String.format(Locale.ROOT, "rate %d %d %.3f", k, width, time.toNanos() / 1e9));
    }

    @Override
    public void close() throws IOException {
        process.close();
    }
}
