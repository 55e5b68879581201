package io.github.roost.index.disk.update;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.Rows;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.LargeTable;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.vector.Metric;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Prints how much CPU time the steps of updates take in a table of so many rows: P50, P99.9 and most, of inserts, deletes, a checkpoint that is
 * captured and published with updates between, and a repair. The rows are those of {@link LargeTable}, so a step meets as many nodes,
 * pages and ids as in a real table of that size, but searches and repairs read pages of the built rows only.
 */
public final class StepProbe {
    private static final int BUILT = 20_000;
    private static final int INSERTS = 6_000;
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final SearchContext CONTEXT = SearchContext.outside((nodes, bytes) -> {});

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Rows rows = Rows.clustered(Metric.SQUARED_L2, BUILT + 8 * INSERTS, 64, 41);
    private final DiskGraph graph;
    private final DiskWriter writer;
    private long[] nanos = new long[1 << 16];
    private int steps;
    private int inserted = BUILT;

    private StepProbe(DiskGraph graph, BlockIo io) {
        this.graph = graph;
        this.writer = SteppedWriter.of(graph, io);
    }

    /** Prints the times of tables of so many rows each. */
    public static void main(String[] args) throws Exception {
        Orchestrator orchestrator = Orchestrator.builder().build();
        BlockIo io = new FaultDevice(1).io(orchestrator, 256);
        Rows rows = Rows.clustered(Metric.SQUARED_L2, BUILT, 64, 41);
        DiskTable.builder().build(orchestrator, io, FILE, rows.ids(), rows.vectors());
        try (BlockFile file = io.open(FILE)) {
            DiskGraph built = DiskGraph.read(file);
            System.out.println("warm-up");
            new StepProbe(LargeTable.of(built, 100_000), io).run();
            for (String nodes : args) {
                System.out.println(nodes + " rows: us of CPU per step");
                new StepProbe(LargeTable.of(built, Integer.parseInt(nodes)), io).run();
            }
        }
        io.close();
        orchestrator.close(Duration.ofSeconds(20));
    }

    private void run() throws Exception {
        insert("inserts");
        int next = BUILT + 100;
        int few = 20_000;
        delete("deletes", next, few);
        next += few;
        FreeBlocks free = new FreeBlocks(used());
        CompletableFuture<Checkpoint> taken = SteppedWriter.cut(writer, graph);
        steps("capture", taken::isDone);
        insert("inserts while a checkpoint captures");
        delete("deletes while a checkpoint captures", next, few);
        next += few;
        Checkpoint checkpoint = taken.join();
        checkpoint.write(graph.file(), graph, free);
        writer.captured();
        while (checkpoint.hasUnpublished()) {
            writer.addFirst(new DiskWriter.Work.Run(() -> checkpoint.publishSome(graph), false, failure -> {}));
            step();
        }
        print("publish");
        checkpoint.publishRest(graph);
        checkpoint.close();
        // Neighbors of live rows as well.
        for (int row = 0; row < BUILT; row += 7) {
            writer.add(new DiskWriter.Work.Change(Update.remove(Rows.id(row))));
        }
        // Between live rows, as repairs meet them.
        int share = graph.live() / 9;
        for (int i = 0; i < share && !writer.repairs(); i++) {
            writer.add(new DiskWriter.Work.Change(Update.remove(LargeTable.id(next + 2 * i))));
            while (i % 1_000 == 0 && !writer.repairs() && step()) {
                // Until all are done.
            }
        }
        print("deletes until a repair begins");
        // Or they would be linked to a row that has a page.
        for (int node = next; node < graph.codes().nodes(); node++) {
            if (graph.codes().state(node) == ProductCodes.LIVE && graph.codes().id(node) == LargeTable.id(node)) {
                graph.codes().setState(node, ProductCodes.FREE);
            }
        }
        steps("repair", () -> !writer.repairs());
        insert("inserts into freed nodes");
        graph.codes().close();
    }

    private BitSet used() {
        BitSet used = new BitSet();
        used.set(0, (int) graph.file().blocks());
        return used;
    }

    private void insert(String name) throws Exception {
        List<Update> updates = new ArrayList<>();
        for (int i = 0; i < INSERTS; i++) {
            int row = inserted++;
            updates.add(Update.put(Rows.id(row), rows.vectors()[row]));
        }
        updates.forEach(update -> writer.add(new DiskWriter.Work.Change(update)));
        Update last = updates.getLast();
        steps(
                name,
                () -> last.done().isDone()
                        && updates.stream().allMatch(update -> update.done().isDone()));
    }

    private void delete(String name, int first, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            writer.add(new DiskWriter.Work.Change(Update.remove(LargeTable.id(first + i))));
        }
        steps(name, () -> false);
    }

    /** Runs steps until there is no more to do, and some are done. */
    private void steps(String name, BooleanSupplier isOver) throws Exception {
        int idle = 0;
        while (idle < 1 || (!isOver.getAsBoolean() && name != null && idle < 20_000)) {
            if (step()) {
                idle = 0;
            } else {
                idle++;
                Thread.onSpinWait();
            }
        }
        if (name != null) {
            print(name);
        }
    }

    private boolean step() throws Exception {
        long began = threads.getCurrentThreadCpuTime();
        boolean more = writer.step(CONTEXT);
        long took = threads.getCurrentThreadCpuTime() - began;
        if (steps == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * steps);
        }
        nanos[steps++] = took;
        return more;
    }

    private void print(String name) {
        Arrays.sort(nanos, 0, steps);
        System.out.printf(
                "%-40s %,9d steps  P50 %6.1f  P99.9 %6.1f  max %,8.1f%n",
                name, steps, nanos[steps / 2] / 1e3, nanos[(int) (steps * .999)] / 1e3, nanos[steps - 1] / 1e3);
        steps = 0;
    }
}
