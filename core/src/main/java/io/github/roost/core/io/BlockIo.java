package io.github.roost.core.io;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.io.linux.LinuxException;
import io.github.roost.core.task.CompletionSource;
import io.github.roost.core.task.SearchContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Block I/O of an orchestrator's workers. Each worker has a ring of {@code io_uring(7)} and buffers of its own; a search begins
 * its reads in a slice, parks, and goes on when they have ended, which its worker sees by a read of memory between two slices.
 * Where the kernel refuses rings, as it does in many containers, a small pool of threads makes positional reads instead: said once
 * in the log, and in {@link #stats}.
 *
 * <p>One per orchestrator, for all its tables and as long as it: a closed one leaves a little of itself with the orchestrator.
 * Thread-safe.
 */
public final class BlockIo implements AutoCloseable {
    /** Bytes of a block, the unit of reads and writes and of their alignment. */
    public static final int BLOCK_BYTES = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(BlockIo.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);
    private static final long CLOSE_POLL_NANOS = 100_000;

    /** What reads run on. */
    public enum Backend {
        /** Rings where the kernel has them, else positional reads. */
        BEST,
        /** Positional reads. */
        POSITIONAL
    }

    /**
     * The reads and the memory of one worker, or of all threads that are none.
     *
     * @param queue of its reads
     * @param buffers what they go into
     */
    record Lane(BlockDevice.Queue queue, BlockBuffers buffers) {
        /** Frees all; nothing must be under way. */
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
    private volatile boolean closed;

    /**
     * Begins, for so many workers.
     *
     * @param device what they read from
     * @param refusal why not from a better one
     * @param workerCount how many
     * @param buffers most that each has
     * @param threads most that read for others at once
     */
    BlockIo(BlockDevice device, String refusal, int workerCount, int buffers, int threads) {
        this.device = device;
        this.refusal = refusal;
        this.outsideDevice = new PositionalDevice(threads);
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
     * Collects the options.
     *
     * @param orchestrator whose searches read
     * @return a builder with every option at its default
     */
    public static Builder builder(Orchestrator orchestrator) {
        return new Builder(orchestrator);
    }

    /**
     * Opens a file for reading.
     *
     * @param file that exists, of whole blocks
     * @return open; to be closed before this
     * @throws IOException if it cannot be opened
     */
    public BlockFile open(Path file) throws IOException {
        return open(file, false);
    }

    /**
     * Opens a file for reading and writing; makes it where there is none.
     *
     * @param file of whole blocks
     * @return open; to be closed before this
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

    /** {@return the reads of one search, none yet; to be closed when the search is over} */
    public BlockReads reads() {
        return new BlockReads(this);
    }

    /** {@return what this runs on, and counts} */
    public BlockIoStats stats() {
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
        return new BlockIoStats(device.name(), refusal, reads, resubmitted.sum(), submits, inFlight, inUse, registered);
    }

    private List<Lane> lanes() {
        List<Lane> all = new ArrayList<>(workers);
        all.add(outside);
        return all;
    }

    /** The lane of whoever runs a slice: on no worker, it is one whose reads need nobody to look for them. */
    Lane lane(SearchContext context) {
        int worker = context.worker();
        if (closed) {
            throw closed();
        }
        return worker < 0 ? outside : workers.get(worker);
    }

    /** The source of a worker's completions. */
    CompletionSource source(int worker, CompletionSource.Waker waker) {
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
     * Refuses further reads, waits for those under way, and frees rings and buffers. What is still under way when the time is up
     * keeps its ring and its buffers for good, for the kernel may write into them at any time: said in the log.
     *
     * @param timeout how long to wait for reads under way
     * @return whether all was freed
     */
    public synchronized boolean close(Duration timeout) {
        if (closed) {
            return true;
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
        } else {
            LOG.error("reads did not end within {}: the rings and buffers of their workers are never freed", timeout);
        }
        return all;
    }

    private static boolean close(Lane lane, long end) {
        boolean interrupted = false;
        while (lane.queue().inFlight() > 0 && System.nanoTime() - end < 0) {
            // Workers look for completions no more once their orchestrator is closed.
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

    /** Collects the options of block I/O. Not thread-safe. */
    public static final class Builder {
        private final Orchestrator orchestrator;
        private RingMaker rings = UringDevice::new;
        private Backend backend = Backend.BEST;
        private int depth = 128;
        private int buffers = 4096;
        private int threads;

        /** Makes the device that has rings. */
        @FunctionalInterface
        interface RingMaker {
            BlockDevice make(int depth) throws LinuxException;
        }

        private Builder(Orchestrator orchestrator) {
            this.orchestrator = Objects.requireNonNull(orchestrator, "orchestrator must not be null");
            this.threads = Math.min(32, 4 * orchestrator.workers());
        }

        /**
         * Sets what reads run on.
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
         * Sets how many reads each worker's ring has under way at once. More wait until there is room.
         *
         * @param value from 1 to 4,096, rounded up to a power of two; default 128
         * @return this builder
         */
        public Builder depth(int value) {
            Vectors.requireRange("depth", value, 1, 4096);
            this.depth = value;
            return this;
        }

        /**
         * Sets how many buffers of 4 KiB each worker may have. They are made when they are needed.
         *
         * @param value from 1 to 1,048,576; default 4,096
         * @return this builder
         */
        public Builder buffers(int value) {
            Vectors.requireRange("buffers", value, 1, 1 << 20);
            this.buffers = value;
            return this;
        }

        /**
         * Sets how many threads at most make positional reads: where there are no rings, and for searches in their callers'
         * threads.
         *
         * @param value from 1 to 1,024; default four per worker, at most 32
         * @return this builder
         */
        public Builder threads(int value) {
            Vectors.requireRange("threads", value, 1, 1024);
            this.threads = value;
            return this;
        }

        /**
         * Begins: makes the workers' rings, and has the workers look at them.
         *
         * @return open; to be closed after its files, and after the orchestrator or before it
         */
        public BlockIo build() {
            BlockIo io = backend == Backend.BEST ? onRings() : on(new PositionalDevice(threads), "");
            orchestrator.indexing().addCompletionSource(io::source);
            return io;
        }

        private BlockIo onRings() {
            try {
                return on(rings.make(depth), "");
            } catch (LinuxException | IllegalStateException refused) {
                String refusal = String.valueOf(refused.getMessage());
                LOG.warn("no io_uring here, so {} threads make positional reads instead: {}", threads, refusal);
                return on(new PositionalDevice(threads), refusal);
            }
        }

        private BlockIo on(BlockDevice device, String refusal) {
            return new BlockIo(device, refusal, orchestrator.workers(), buffers, threads);
        }
    }
}
