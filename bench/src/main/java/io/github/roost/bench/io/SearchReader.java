package io.github.roost.bench.io;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.spi.Step;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockIo.Backend;
import io.github.roost.io.BlockReads;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** A search on one worker that keeps a fixed number of reads in flight, and parks until one is done. */
final class SearchReader implements Reader {
    private static final long STEP_NANOS = 5_000;

    private final NumberedBlocks blocks;
    private final int depth;
    private final boolean fillsStalls;
    private final Orchestrator orchestrator;
    private final BlockIo io;
    private final BlockFile file;
    private final MappingId id;

    SearchReader(NumberedBlocks blocks, int depth, Backend backend, IdleStrategy idle, boolean fillsStalls)
            throws IOException {
        this.blocks = blocks;
        this.depth = depth;
        this.fillsStalls = fillsStalls;
        this.orchestrator = oneWorker(idle);
        this.id = orchestrator.register("blocks").id();
        this.io = BlockIo.builder(orchestrator).backend(backend).threads(depth).build();
        this.file = io.open(blocks.path());
    }

    /** A worker that is not pinned to a core, like the threads that it is compared with. */
    private static Orchestrator oneWorker(IdleStrategy idle) {
        CacheDomain domain = new CacheDomain(0, 32L << 20, List.of(0), 0, List.of(new Core(0, -1, List.of(0))));
        return Orchestrator.builder()
                .recallShare(0)
                .topology(new Topology("one worker", DomainLevel.L3, false, List.of(domain)))
                .pinner(core -> new Pinner.Result(core.pus(), List.of(), -1, false, "not wanted"))
                .idleStrategy(idle)
                .build();
    }

    @Override
    public Done read(Duration time) throws IOException, InterruptedException {
        Filling filling = new Filling();
        CompletableFuture<Void> maintenance =
                fillsStalls ? orchestrator.indexing().maintenance(id, filling::step) : null;
        try (BlockReads reads = io.reads()) {
            Reading reading = new Reading(reads, System.nanoTime() + time.toNanos());
            long done = orchestrator
                    .indexing()
                    .submitSteps(reading::step, reading, id, SubmitOptions.DEFAULT)
                    .get();
            return new Done(done, filling.nanos);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } finally {
            if (maintenance != null) {
                maintenance.cancel(false);
            }
        }
    }

    /** Work to fill stalls, in steps of 5 us; its CPU time is the time that the reads leave free. */
    private static final class Filling {
        private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

        private volatile long nanos;

        boolean step(SearchContext context) {
            long cpuBefore = THREADS.getCurrentThreadCpuTime();
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < STEP_NANOS) {
                Thread.onSpinWait();
            }
            long sum = nanos + THREADS.getCurrentThreadCpuTime() - cpuBefore;
            nanos = sum;
            return true;
        }
    }

    /** The search. */
    private final class Reading {
        private final BlockReads reads;
        private final long end;
        private final SplittableRandom random;
        private final long[] wanted = new long[depth];
        private long done;

        Reading(BlockReads reads, long end) {
            this.reads = reads;
            this.end = end;
            this.random = new SplittableRandom(end);
        }

        Step<Reading, Long> step(Reading same, SearchContext context) throws IOException {
            for (BlockReads.Read read = reads.next(); read != null; read = reads.next()) {
                if (read.failure() != null) {
                    throw read.failure();
                }
                NumberedBlocks.require(read.block(), read.memory().get(ValueLayout.JAVA_LONG, 0));
                reads.giveBack(read);
                done++;
            }
            int more = System.nanoTime() - end < 0 ? depth - reads.inFlight() : 0;
            if (more > 0) {
                for (int i = 0; i < more; i++) {
                    wanted[i] = random.nextLong(blocks.count());
                }
                reads.read(context, file, wanted, more);
            }
            return reads.inFlight() == 0 ? Step.done(done) : new Step.Park<>(reads.any(), this::step);
        }
    }

    @Override
    public void close() throws IOException {
        orchestrator.close();
        file.close();
        io.close();
    }
}
