package io.github.roost.bench.disk;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.io.BlockIo;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

/** A {@link DiskTable}, with a fixed number of searches in flight. */
final class RoostDisk implements DiskEngine {
    private final Workload workload;
    private final int inFlight;
    private final Orchestrator orchestrator;
    private final BlockIo io;
    private final DiskTable table;
    private final Duration buildTime;

    RoostDisk(Workload workload, Path folder, int degree, int buildWidth, int inFlight) throws IOException {
        this.workload = workload;
        this.inFlight = inFlight;
        this.orchestrator = Orchestrator.builder().recallShare(0).build();
        this.io = BlockIo.builder(orchestrator).build();
        Path file = folder.resolve("roost");
        long began = System.nanoTime();
        DiskTable.builder()
                .degree(degree)
                .buildWidth(buildWidth)
                .build(
                        orchestrator,
                        io,
                        file,
                        LongStream.range(0, workload.rows().length).toArray(),
                        workload.rows());
        this.buildTime = Duration.ofNanos(System.nanoTime() - began);
        this.table = DiskTable.openReadOnly(orchestrator, io, "bench", file);
    }

    @Override
    public String name() {
        return "roost";
    }

    @Override
    public Duration buildTime() {
        return buildTime;
    }

    @Override
    public long memoryBytes() {
        return table.diskStats().memoryBytes();
    }

    private CompletableFuture<SearchResult> start(long number, int k, int width) {
        return table.search(workload.queries()[(int) (number % workload.queries().length)], k, width);
    }

    @Override
    public int[][] search(int k, int width) throws InterruptedException {
        int[][] found = new int[workload.queries().length][];
        new ClosedLoop(inFlight)
                .run(
                        found.length,
                        Duration.ofHours(1),
                        number -> start(number, k, width),
                        (number, answer) -> found[(int) number] = Arrays.stream(answer.ids())
                                .mapToInt(Math::toIntExact)
                                .toArray());
        return found;
    }

    @Override
    public double rate(int k, int width, Duration time) throws InterruptedException {
        return new ClosedLoop(inFlight)
                .run(Long.MAX_VALUE, time, number -> start(number, k, width), (number, answer) -> {})
                .perSecond();
    }

    @Override
    public void close() {
        table.close();
        orchestrator.close();
        io.close();
    }
}
