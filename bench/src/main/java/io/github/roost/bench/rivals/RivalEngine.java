package io.github.roost.bench.rivals;

import io.github.roost.bench.peer.PeerProcess;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A third-party library in a Python process; batches run on the library's own threads. */
public final class RivalEngine implements Engine {
    private final String name;
    private final PeerProcess process;
    private final Duration buildTime;
    private final boolean alone;

    /**
     * Builds the index.
     *
     * @param name of an engine in {@code rival_peer.py}
     * @throws IOException if the library is missing, or cannot index such rows on this machine; the message says why
     */
    public RivalEngine(String name, Workload workload, Path python, EngineSettings settings) throws IOException {
        this(name, workload, python, settings, null);
    }

    /**
     * Like the other constructor, with a cache of indexes.
     *
     * @param kept folder from which the index is loaded if it exists there, and to which it is saved otherwise; null
     *     for none
     */
    RivalEngine(String name, Workload workload, Path python, EngineSettings settings, @Nullable Path kept)
            throws IOException {
        this.name = name;
        this.alone = settings.alone();
        List<String> arguments = new ArrayList<>(List.of(
                name,
                workload.metric() == Metric.INNER_PRODUCT ? "ip" : "l2",
                String.valueOf(settings.m()),
                String.valueOf(settings.efConstruction()),
                String.valueOf(settings.nlist()),
                String.valueOf(THREADS),
                String.valueOf(settings.threads())));
        if (kept != null) {
            arguments.add(kept.toString());
        }
        this.process = new PeerProcess(name, python, RivalEngine.class, "rival_peer.py", workload, arguments);
        this.buildTime = process.buildTime();
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
        return process.order(
                String.format(Locale.ROOT, "%s %d %d %.3f", alone ? "alone" : "rate", k, ef, time.toNanos() / 1e9));
    }

    @Override
    public void close() throws IOException {
        process.close();
    }
}
