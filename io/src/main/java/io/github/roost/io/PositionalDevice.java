package io.github.roost.io;

import io.github.roost.core.spi.CompletionSource.Waker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Positional reads by a small pool of threads: used if the kernel refuses rings, and for threads that are not workers; or by the thread
 * that starts them. Reads end in the threads that made them, so no polling is needed.
 */
final class PositionalDevice implements BlockDevice {
    private static final long IDLE_SECONDS = 10;

    /** Null if the thread that submits a read makes it. */
    private final @Nullable ExecutorService threads;

    private PositionalDevice(@Nullable ExecutorService threads) {
        this.threads = threads;
    }

    /**
     * Creates a device with threads of its own, which start with the first reads.
     *
     * @param max the maximum number of threads
     */
    static PositionalDevice ofThreads(int max) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                max,
                max,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                work -> Thread.ofPlatform()
                        .daemon()
                        .inheritInheritableThreadLocals(false)
                        .name("roost-read-" + number.getAndIncrement())
                        .unstarted(work));
        threads.allowCoreThreadTimeOut(true);
        return new PositionalDevice(threads);
    }

    /** Creates a device that reads in the thread that submits, which waits for each read. */
    static PositionalDevice blocking() {
        return new PositionalDevice(null);
    }

    @Override
    public String name() {
        return threads == null ? "blocking reads" : "positional reads";
    }

    @Override
    public DeviceFile open(Path file, boolean writable) throws IOException {
        return ChannelFile.open(file, writable);
    }

    @Override
    public Queue queue() {
        return new ThreadQueue();
    }

    @Override
    public void close() {
        if (threads != null) {
            threads.shutdown();
        }
    }

    private final class ThreadQueue implements Queue {
        private final AtomicInteger inFlight = new AtomicInteger();
        private final AtomicLong reads = new AtomicLong();

        @Override
        public void submit(BlockReads.Read first) {
            BlockReads.Read read = first;
            while (read != null) {
                // Unlink first: once begun, the read may end and join another list at any time.
                BlockReads.Read following = read.next;
                read.next = null;
                begin(read);
                read = following;
            }
        }

        private void begin(BlockReads.Read read) {
            inFlight.incrementAndGet();
            if (threads == null) {
                run(read);
                return;
            }
            try {
                threads.execute(() -> run(read));
            } catch (Throwable refused) {
                over(read, refused);
            }
        }

        private void run(BlockReads.Read read) {
            try {
                // 0 means the end of the file, as in a ring.
                read.result = Math.max(0, read.device().read(read.offset(), read.target()));
            } catch (Throwable failure) {
                over(read, failure);
                return;
            }
            over(read, null);
        }

        private void over(BlockReads.Read read, @Nullable Throwable failure) {
            reads.incrementAndGet();
            inFlight.decrementAndGet();
            if (failure == null) {
                read.ended();
            } else {
                read.failsWith(failure);
            }
        }

        @Override
        public int inFlight() {
            return inFlight.get();
        }

        @Override
        public Counts counts() {
            long each = reads.get();
            return new Counts(each, each);
        }

        @Override
        public void wakes(Waker waker) {
            // Not needed: the thread that ends a read resumes its search.
        }

        @Override
        public int poll() {
            return 0;
        }

        @Override
        public boolean arm() {
            return true;
        }

        @Override
        public void close() {
            // The threads belong to the device.
        }
    }
}
