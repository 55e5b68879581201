package io.github.roost.io;

import io.github.roost.io.linux.DirectFile;
import io.github.roost.io.linux.EventDescriptor;
import io.github.roost.io.linux.IoUring;
import io.github.roost.io.linux.LinuxException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Reads by {@code io_uring(7)}. Blocking calls use a channel of the same file.
 *
 * <p>One thread waits for an event that all rings share, and wakes sleeping workers whose completions have arrived. A ring signals only
 * while its worker sleeps or is about to, so a busy system never signals.
 */
final class UringDevice implements BlockDevice {
    private final int depth;
    private final EventDescriptor event;
    private final Thread watch;
    private final List<UringQueue> queues = new CopyOnWriteArrayList<>();
    /** The slots of registered files, the same in each ring. Guarded by this. */
    private final BitSet slots = new BitSet(IoUring.FILES);

    private volatile boolean closed;

    /**
     * Creates a device.
     *
     * @param depth maximum number of reads in flight per queue; further reads wait in the queue
     * @throws LinuxException if the kernel refuses rings
     */
    UringDevice(int depth) throws LinuxException {
        this.depth = depth;
        // Fails now if the kernel refuses rings.
        IoUring.open(depth).close();
        this.event = EventDescriptor.open();
        this.watch = Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name("roost-ring-watch")
                .start(this::watch);
    }

    @Override
    public String name() {
        return "io_uring";
    }

    @Override
    public DeviceFile open(Path file, boolean writable) throws IOException {
        ChannelFile channel = ChannelFile.open(file, writable);
        try {
            DirectFile direct = DirectFile.open(file);
            try {
                return new RingFile(channel, direct, register(direct), this);
            } catch (Throwable failed) {
                direct.close();
                throw failed;
            }
        } catch (Throwable refused) {
            channel.close();
            throw refused;
        }
    }

    /**
     * Registers a file with all rings. Returns its slot, or -1 if all are taken.
     *
     * <p>The rings of all workers are made before the first file is opened. A ring that refuses the file reads it by its descriptor.
     */
    private synchronized int register(DirectFile file) {
        int slot = slots.nextClearBit(0);
        if (slot >= IoUring.FILES) {
            return -1;
        }
        slots.set(slot);
        try {
            queues.forEach(queue -> queue.register(slot, file));
        } catch (Throwable failed) {
            release(slot);
            throw failed;
        }
        return slot;
    }

    /** Empties a slot in all rings: the kernel would keep its file open. */
    private synchronized void release(int slot) {
        queues.forEach(queue -> queue.register(slot, null));
        slots.clear(slot);
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

    /**
     * A file for both ring reads and blocking calls.
     *
     * @param slot at which rings may have it registered, or -1
     */
    record RingFile(ChannelFile channel, DirectFile ring, int slot, UringDevice owner) implements DeviceFile {
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
            try {
                if (slot >= 0) {
                    owner.release(slot);
                }
            } finally {
                ring.close();
                channel.close();
            }
        }
    }
}
