package io.github.roost.io;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.CompletionSource;
import io.github.roost.io.linux.LinuxException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Block I/O of an orchestrator's workers. Each worker has an {@code io_uring(7)} and buffers of its own; a search starts reads in a slice,
 * parks, and resumes when they have ended, which its worker sees in memory between two slices. If the kernel refuses rings, as in many
 * containers, a small pool of threads makes positional reads instead; the log and {@link #stats} report this.
 *
 * <p>One serves all tables of an orchestrator, whose workers poll it until it is closed. Thread-safe.
 */
public final class BlockIo implements AutoCloseable {
    /** Bytes of a block, the unit of reads and writes and of their alignment. */
    public static final int BLOCK_BYTES = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(BlockIo.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);
    private static final long CLOSE_POLL_NANOS = 100_000;

    /** The backend of reads. */
    public enum Backend {
        /** Rings if the kernel allows them, otherwise positional reads. */
        BEST,
        /** Positional reads in a pool of threads. */
        POSITIONAL,
        /**
         * Positional reads of workers in the worker itself, one after another, which blocks it: only the operating system can use its core
         * meanwhile, and deadlines are not checked between the reads of a slice. For comparison with filling stalls. Other threads read
         * through the pool.
         */
        BLOCKING
    }

    /**
     * The queue and buffers of one worker, or of all threads that are not workers.
     *
     * @param queue the queue of reads
     * @param buffers the buffers that they read into
     */
    record Lane(BlockDevice.Queue queue, BlockBuffers buffers) {
        /** Frees both; no reads may be in flight. */
        void close() {
            queue.close();
            buffers.close();
        }
    }

    private final BlockDevice device;
    private final PositionalDevice outsideDevice;
    private final String refusal;
    private final List<Lane> workers = new ArrayList<>();
    private final Lane outside;
    private final LongAdder resubmitted = new LongAdder();
    /** The completion sources of the workers; set once, before anything is read. */
    private volatile CompletionSource.@Nullable Handle polled;

    private volatile boolean closed;
    /** Guarded by this. */
    private boolean freed;

    /**
     * Creates the lanes.
     *
     * @param device the device of the workers
     * @param refusal why the device is not the preferred one, or empty
     * @param workerCount number of workers
     * @param buffers maximum number of buffers per lane
     * @param threads maximum number of threads that read for threads that are not workers
     */
    BlockIo(BlockDevice device, String refusal, int workerCount, int buffers, int threads) {
        this.device = device;
        this.refusal = refusal;
        this.outsideDevice = PositionalDevice.ofThreads(threads);
        try {
            for (int worker = 0; worker < workerCount; worker++) {
                workers.add(lane(device, buffers));
            }
            this.outside = lane(outsideDevice, buffers);
        } catch (Throwable failed) {
            workers.forEach(Lane::close);
            device.close();
            outsideDevice.close();
            throw failed;
        }
    }

    private static Lane lane(BlockDevice device, int buffers) {
        BlockDevice.Queue queue = device.queue();
        return new Lane(queue, new BlockBuffers(queue, buffers));
    }

    /**
     * Returns a builder.
     *
     * @param orchestrator the orchestrator whose searches read
     * @return a builder with every option at its default
     */
    public static Builder builder(Orchestrator orchestrator) {
        return new Builder(orchestrator);
    }

    /**
     * Opens a file for reading.
     *
     * @param file an existing file of whole blocks
     * @return the open file, to be closed before this
     * @throws IOException if it cannot be opened
     */
    public BlockFile open(Path file) throws IOException {
        return open(file, false);
    }

    /**
     * Opens a file for reading and writing; creates it if it does not exist.
     *
     * @param file a file of whole blocks
     * @return the open file, to be closed before this
     * @throws IOException if it cannot be opened
     */
    public BlockFile openForUpdate(Path file) throws IOException {
        return open(file, true);
    }

    private BlockFile open(Path file, boolean writable) throws IOException {
        if (closed) {
            throw closed();
        }
        BlockDevice.DeviceFile opened = device.open(file, writable);
        try {
            return new BlockFile(this, file, opened);
        } catch (Throwable failed) {
            opened.close();
            throw failed;
        }
    }

    /** {@return an object for the reads of one search, to be closed when the search is over} */
    public BlockReads reads() {
        return new BlockReads(this);
    }

    /** {@return the backend and counts} */
    public Stats stats() {
        long reads = 0;
        long submits = 0;
        int inFlight = 0;
        int inUse = 0;
        int registered = 0;
        for (Lane lane : lanes()) {
            BlockDevice.Counts counts = lane.queue().counts();
            reads += counts.reads();
            submits += counts.submits();
            inFlight += lane.queue().inFlight();
            inUse += lane.buffers().inUse();
            registered += lane.buffers().isRegistered() ? 1 : 0;
        }
        return new Stats(device.name(), refusal, reads, resubmitted.sum(), submits, inFlight, inUse, registered);
    }

    private List<Lane> lanes() {
        List<Lane> all = new ArrayList<>(workers);
        all.add(outside);
        return all;
    }

    /** Returns the lane of the thread that runs a slice. Threads that are not workers share a lane that needs no polling. */
    Lane lane(SearchContext context) {
        int worker = context.worker();
        if (closed) {
            throw closed();
        }
        return worker < 0 ? outside : workers.get(worker);
    }

    private void poll(Orchestrator orchestrator) {
        polled = orchestrator.indexing().addCompletionSource(this::source);
    }

    /** Returns the source of a worker's completions. */
    private CompletionSource source(int worker, CompletionSource.Waker waker) {
        BlockDevice.Queue queue = workers.get(worker).queue();
        queue.wakes(waker);
        return queue;
    }

    void resubmitted() {
        resubmitted.increment();
    }

    void closeFailed(Path file, IOException failure) {
        LOG.warn("{} was closed with an error: {}", file, failure.getMessage());
    }

    static IllegalStateException closed() {
        return new IllegalStateException("the block I/O is closed");
    }

    /** Closes with a timeout of 30 seconds. */
    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /**
     * Refuses further reads, waits for reads in flight, removes them from the workers, and frees them. Rings and buffers of reads
     * that are still in flight after the timeout are never freed, since the kernel may write into them at any time; this is logged.
     *
     * @param timeout the maximum time to wait for reads in flight
     * @return whether all resources were freed
     */
    public boolean close(Duration timeout) {
        boolean all = closeLanes(timeout);
        CompletionSource.Handle sources = polled;
        if (all && sources != null) {
            // Outside the lock: this waits for polls, which may run code that closes this too.
            sources.close();
        }
        return all;
    }

    private synchronized boolean closeLanes(Duration timeout) {
        if (closed) {
            return freed;
        }
        closed = true;
        long end = System.nanoTime() + timeout.toNanos();
        boolean all = true;
        for (Lane lane : lanes()) {
            all &= close(lane, end);
        }
        if (all) {
            device.close();
            outsideDevice.close();
            freed = true;
        } else {
            LOG.error("reads did not end within {}: the rings and buffers of their workers are never freed", timeout);
        }
        return all;
    }

    private static boolean close(Lane lane, long end) {
        boolean interrupted = false;
        while (lane.queue().inFlight() > 0 && System.nanoTime() - end < 0) {
            // Polls here, since workers do not after their orchestrator is closed.
            if (lane.queue().poll() == 0) {
                LockSupport.parkNanos(CLOSE_POLL_NANOS);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (lane.queue().inFlight() > 0) {
            return false;
        }
        lane.close();
        return true;
    }

    /** Builder of block I/O. Not thread-safe. */
    public static final class Builder {
        private final Orchestrator orchestrator;
        private RingMaker rings = UringDevice::new;
        private Backend backend = Backend.BEST;
        private int depth = 128;
        private int buffers = 4096;
        private int threads;

        /** Creates the device with rings. */
        @FunctionalInterface
        interface RingMaker {
            BlockDevice make(int depth) throws LinuxException;
        }

        private Builder(Orchestrator orchestrator) {
            this.orchestrator = Objects.requireNonNull(orchestrator, "orchestrator must not be null");
            this.threads = Math.min(32, 4 * orchestrator.workers());
        }

        private static void requireRange(String what, int value, int min, int max) {
            if (value < min || value > max) {
                throw new IllegalArgumentException(
                        "%s must be between %,d and %,d, got %,d".formatted(what, min, max, value));
            }
        }

        /**
         * Sets the backend of reads.
         *
         * @param value default {@link Backend#BEST}
         * @return this builder
         */
        public Builder backend(Backend value) {
            this.backend = Objects.requireNonNull(value, "backend must not be null");
            return this;
        }

        Builder rings(RingMaker value) {
            this.rings = value;
            return this;
        }

        /**
         * Sets the maximum number of reads in flight per worker's ring. Further reads wait for room.
         *
         * @param value from 1 to 4,096, rounded up to a power of two; default 128
         * @return this builder
         */
        public Builder depth(int value) {
            requireRange("depth", value, 1, 4096);
            this.depth = value;
            return this;
        }

        /**
         * Sets the maximum number of 4-KiB buffers per worker. They are allocated when needed.
         *
         * @param value from 1 to 1,048,576; default 4,096
         * @return this builder
         */
        public Builder buffers(int value) {
            requireRange("buffers", value, 1, 1 << 20);
            this.buffers = value;
            return this;
        }

        /**
         * Sets the maximum number of threads for positional reads: if there are no rings, and for searches in their callers' threads.
         *
         * @param value from 1 to 1,024; default 4 per worker, at most 32
         * @return this builder
         */
        public Builder threads(int value) {
            requireRange("threads", value, 1, 1024);
            this.threads = value;
            return this;
        }

        /**
         * Creates the rings, and registers them with the workers as completion sources.
         *
         * @return the block I/O, to be closed after its files, before or after the orchestrator
         */
        public BlockIo build() {
            BlockIo io = switch (backend) {
                case BEST -> onRings();
                case POSITIONAL -> on(PositionalDevice.ofThreads(threads), "");
                case BLOCKING -> on(PositionalDevice.blocking(), "");
            };
            io.poll(orchestrator);
            return io;
        }

        private BlockIo onRings() {
            try {
                return on(rings.make(depth), "");
            } catch (LinuxException | IllegalStateException refused) {
                String refusal = String.valueOf(refused.getMessage());
                LOG.warn("no io_uring here, so {} threads make positional reads instead: {}", threads, refusal);
                return on(PositionalDevice.ofThreads(threads), refusal);
            }
        }

        private BlockIo on(BlockDevice device, String refusal) {
            return new BlockIo(device, refusal, orchestrator.workers(), buffers, threads);
        }
    }

    /**
     * The backend of block I/O, and counts since its creation; current counts may be slightly out of date.
     *
     * @param backend {@code "io_uring"}, or {@code "positional reads"} by a pool of threads
     * @param refusal why there are no rings; empty if there are, or none were requested
     * @param reads device reads that have ended; a read of several adjacent blocks counts once
     * @param resubmitted reads submitted again, since the device returned fewer bytes than requested or a transient error
     * @param submits calls that submitted reads to the device; one call may submit many reads
     * @param inFlight reads in flight now
     * @param buffersInUse buffers held by reads or slices now
     * @param registeredWorkers workers whose buffers are registered with the kernel
     */
    public record Stats(
            String backend,
            String refusal,
            long reads,
            long resubmitted,
            long submits,
            int inFlight,
            int buffersInUse,
            int registeredWorkers) {}
}
