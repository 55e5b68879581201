package io.github.roost.core.io;

import io.github.roost.core.io.linux.DirectFile;
import io.github.roost.core.io.linux.EventDescriptor;
import io.github.roost.core.io.linux.IoUring;
import io.github.roost.core.io.linux.LinuxException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Rings of Linux. Searches read by them; blocking calls go through a channel of the same file.
 *
 * <p>One thread waits for the event that all rings share and wakes the workers that sleep while completions have arrived for
 * them. A ring signals only while its worker sleeps or is about to, so a busy system never comes here.
 */
final class UringDevice implements BlockDevice {
    private final int depth;
    private final EventDescriptor event;
    private final Thread watch;
    private final List<UringQueue> queues = new CopyOnWriteArrayList<>();
    private volatile boolean closed;

    /**
     * A device for as many queues as are asked for.
     *
     * @param depth reads that each queue may have under way at once; more wait in it
     * @throws LinuxException if the kernel refuses rings
     */
    UringDevice(int depth) throws LinuxException {
        this.depth = depth;
        // Whether the kernel lets us have a ring is found out here, once.
        IoUring.open(depth).close();
        this.event = EventDescriptor.open();
        this.watch = Thread.ofPlatform().daemon().name("roost-ring-watch").start(this::watch);
    }

    @Override
    public String name() {
        return "io_uring";
    }

    @Override
    public DeviceFile open(Path file, boolean writable) throws IOException {
        ChannelFile channel = ChannelFile.open(file, writable);
        try {
            return new RingFile(channel, DirectFile.open(file));
        } catch (Throwable refused) {
            channel.close();
            throw refused;
        }
    }

    @Override
    public Queue queue() {
        try {
            IoUring ring = IoUring.open(depth);
            try {
                ring.signal(event);
                UringQueue queue = new UringQueue(ring);
                queues.add(queue);
                return queue;
            } catch (Throwable failed) {
                ring.close();
                throw failed;
            }
        } catch (LinuxException refused) {
            throw new IllegalStateException("no ring for one more worker: " + refused.getMessage(), refused);
        }
    }

    private void watch() {
        while (!closed) {
            event.await();
            for (UringQueue queue : queues) {
                queue.wakeIfArrived();
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        event.signal();
        boolean interrupted = false;
        while (watch.isAlive()) {
            try {
                watch.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        event.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A file that rings read, and blocking calls as well. */
    record RingFile(ChannelFile channel, DirectFile ring) implements DeviceFile {
        @Override
        public int read(long offset, MemorySegment into) throws IOException {
            return channel.read(offset, into);
        }

        @Override
        public int write(long offset, MemorySegment from) throws IOException {
            return channel.write(offset, from);
        }

        @Override
        public void sync() throws IOException {
            channel.sync();
        }

        @Override
        public long size() throws IOException {
            return channel.size();
        }

        @Override
        public boolean isDirect() {
            return ring.isDirect();
        }

        @Override
        public void close() throws IOException {
            ring.close();
            channel.close();
        }
    }
}
