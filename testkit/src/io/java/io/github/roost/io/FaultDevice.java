package io.github.roost.io;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.spi.CompletionSource.Waker;
import io.github.roost.io.linux.Errno;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A disk in memory that fails as disks do. It keeps apart what is durable from what was written since the last sync, so that
 * {@link #afterPowerLoss} can leave an arbitrary part of the latter: any subset of the writes, in any order, torn between sectors. A failed
 * sync forgets what it should have written, as Linux does, and the system of a killed process keeps what it wrote.
 * Reads may be short, come late and out of order, or fail; writes fail when the disk is full, and power goes at a chosen one.
 */
public final class FaultDevice implements BlockDevice {
    private static final int SECTOR = 512;

    /** A write that a power loss may take back. */
    private record Write(Path file, int offset, byte[] bytes) {}

    /** The power is off: every later call fails with this as well. */
    public static final class PowerLossException extends IOException {
        private static final long serialVersionUID = 1;

        PowerLossException() {
            super("the power is off");
        }
    }

    private final Random random;
    /** What is there after a power loss for certain. */
    private final Map<Path, byte[]> durable = new HashMap<>();
    /** What reads see. */
    private final Map<Path, byte[]> current = new HashMap<>();

    private final List<Write> unsynced = new ArrayList<>();
    /**
     * Writes whose sync failed, by blocks: reads see them, and as on Linux no later sync writes them unless their block is written again; what a power
     * loss leaves of them is open.
     */
    private final List<Write> forgotten = new ArrayList<>();
    private final PriorityQueue<Due> due = new PriorityQueue<>();
    private final Thread thread;
    private int changes;
    private int powerLossAt = Integer.MAX_VALUE;
    private long capacity = Long.MAX_VALUE;
    private double shortReads;
    private long badBlock = -1;
    private int badReads = Integer.MAX_VALUE;
    private int badWrites;
    private @Nullable Error thrownByWrites;
    private long heldBlock = -1;
    private boolean holds;
    private boolean syncFails;
    private long slowestNanos;
    private boolean isPaused;
    private int queuesLeft = -1;
    private boolean off;
    private boolean closed;

    /** An empty disk whose choices follow a seed. */
    public FaultDevice(long seed) {
        random = new Random(seed);
        thread = Thread.ofPlatform().daemon().name("fault-device").start(this::completeWhatIsDue);
    }

    /**
     * Block I/O of an orchestrator's searches on this disk.
     *
     * @param buffers most that each worker has
     */
    public BlockIo io(Orchestrator orchestrator, int buffers) {
        return new BlockIo(this, "", orchestrator.workers(), buffers, 2);
    }

    /** Has the power go in the middle of the n-th write or sync from now, counted from 0. */
    public synchronized FaultDevice powerLossAt(int change) {
        powerLossAt = changes + change;
        return this;
    }

    /** Has room for so many bytes in all files. */
    public synchronized FaultDevice capacity(long bytes) {
        capacity = bytes;
        return this;
    }

    /** Has this share of reads and writes do a part of what was asked for: at least one sector. */
    public synchronized FaultDevice shortTransfers(double share) {
        shortReads = share;
        return this;
    }

    /** Has reads of this block of every file fail. */
    public synchronized FaultDevice badBlock(long block) {
        return badBlock(block, Integer.MAX_VALUE);
    }

    /** Has so many reads of this block of any file fail. */
    public synchronized FaultDevice badBlock(long block, int reads) {
        badBlock = block;
        badReads = reads;
        return this;
    }

    /** Has the next writes fail, and write nothing. */
    public synchronized FaultDevice badWrites(int count) {
        badWrites = count;
        return this;
    }

    /** Has writes throw what no device throws, such as an OutOfMemoryError; null for none. */
    public synchronized FaultDevice writesThrow(@Nullable Error error) {
        thrownByWrites = error;
        return this;
    }

    /** Has the next read that begins at this block of any file take what is there, and end only after {@link #release}. */
    public synchronized FaultDevice holdNextRead(long block) {
        heldBlock = block;
        return this;
    }

    /** Waits until a read is held. */
    public synchronized void awaitHeld() throws InterruptedException {
        while (!holds) {
            wait();
        }
    }

    /** Lets the held read end. */
    public synchronized void release() {
        holds = false;
        notifyAll();
    }

    /** Has syncs fail. */
    public synchronized FaultDevice syncFails(boolean value) {
        syncFails = value;
        return this;
    }

    /** Has searches' reads end after up to so long, in whatever order that gives. */
    public synchronized FaultDevice slow(long nanos) {
        slowestNanos = nanos;
        return this;
    }

    /** Has searches' reads end only once it is false again. */
    public synchronized FaultDevice paused(boolean value) {
        isPaused = value;
        notifyAll();
        return this;
    }

    /** Has so many queues, and no more. */
    public synchronized FaultDevice queues(int max) {
        queuesLeft = max;
        return this;
    }

    /** Writes and syncs so far. */
    public synchronized int changes() {
        return changes;
    }

    /** Whether the power has gone. */
    public synchronized boolean isOff() {
        return off;
    }

    /** Bytes in all files. */
    public synchronized long used() {
        return current.values().stream().mapToLong(bytes -> bytes.length).sum();
    }

    /** The disk as it is found when the process has died and the system has not: with all writes, durable or not. */
    public synchronized FaultDevice afterCrash() {
        FaultDevice found = new FaultDevice(random.nextLong());
        durable.forEach((file, bytes) -> found.durable.put(file, bytes.clone()));
        current.forEach((file, bytes) -> found.current.put(file, bytes.clone()));
        found.unsynced.addAll(unsynced);
        found.forgotten.addAll(forgotten);
        return found;
    }

    /** This disk, after files have been lost. */
    public synchronized FaultDevice without(Path... files) {
        for (Path file : files) {
            current.remove(file);
            durable.remove(file);
            unsynced.removeIf(write -> write.file.equals(file));
            forgotten.removeIf(write -> write.file.equals(file));
        }
        return this;
    }

    /** The disk as it is found when the power is back. */
    public synchronized FaultDevice afterPowerLoss(long seed) {
        FaultDevice found = new FaultDevice(seed);
        durable.forEach((file, bytes) -> found.durable.put(file, bytes.clone()));
        List<Write> left = new ArrayList<>(forgotten);
        left.addAll(unsynced);
        Collections.shuffle(left, found.random);
        for (Write write : left) {
            switch (found.random.nextInt(3)) {
                case 0 -> {} // lost
                case 1 -> found.keep(write, 0, write.bytes.length);
                default -> {
                    for (int at = 0; at < write.bytes.length; at += SECTOR) {
                        if (found.random.nextBoolean()) {
                            found.keep(write, at, Math.min(SECTOR, write.bytes.length - at));
                        }
                    }
                }
            }
        }
        found.durable.forEach((file, bytes) -> found.current.put(file, bytes.clone()));
        return found;
    }

    private void forget(Write write) {
        int end = write.offset + write.bytes.length;
        for (int at = write.offset; at < end; ) {
            int next = Math.min(end, (at / BlockIo.BLOCK_BYTES + 1) * BlockIo.BLOCK_BYTES);
            forgotten.add(new Write(
                    write.file, at, Arrays.copyOfRange(write.bytes, at - write.offset, next - write.offset)));
            at = next;
        }
    }

    /** The next sync writes whole blocks, with what an earlier one has forgotten of them. */
    private void remember(Write write) {
        int first = write.offset / BlockIo.BLOCK_BYTES;
        int last = (write.offset + write.bytes.length - 1) / BlockIo.BLOCK_BYTES;
        forgotten.removeIf(old -> {
            int block = old.offset / BlockIo.BLOCK_BYTES;
            boolean isOf = old.file.equals(write.file) && first <= block && block <= last;
            if (isOf) {
                unsynced.add(old);
            }
            return isOf;
        });
    }

    private void keep(Write write, int from, int length) {
        put(durable, write.file, write.offset + from, Arrays.copyOfRange(write.bytes, from, from + length));
    }

    private static void put(Map<Path, byte[]> files, Path file, int offset, byte[] bytes) {
        byte[] before = files.getOrDefault(file, new byte[0]);
        byte[] after = before.length < offset + bytes.length ? Arrays.copyOf(before, offset + bytes.length) : before;
        System.arraycopy(bytes, 0, after, offset, bytes.length);
        files.put(file, after);
    }

    /** Flips one bit of what a file holds. */
    public synchronized void flip(Path file, long at, int bit) {
        byte[] bytes = Objects.requireNonNull(current.get(file), file + " is not there");
        bytes[(int) at] ^= (byte) (1 << bit);
    }

    private void requirePower() throws PowerLossException {
        if (off) {
            throw new PowerLossException();
        }
    }

    /** Counts a change; the write that the power goes in is among those that may be kept in part. */
    private boolean powerGoes() {
        off |= changes++ == powerLossAt;
        return off;
    }

    @Override
    public String name() {
        return "faults";
    }

    @Override
    public synchronized DeviceFile open(Path file, boolean writable) throws IOException {
        requirePower();
        if (!current.containsKey(file)) {
            if (!writable) {
                throw new FileNotFoundException(file + " is not there");
            }
            // That a file is there is taken to be durable at once: what it holds is what is tested.
            current.put(file, new byte[0]);
            durable.put(file, new byte[0]);
        }
        return new FaultFile(file);
    }

    /** Some bytes of those that were asked for. */
    private long some(long bytes) {
        return bytes > SECTOR && random.nextDouble() < shortReads
                ? SECTOR * (1 + random.nextLong(bytes / SECTOR - 1))
                : bytes;
    }

    private void hold() throws IOException {
        heldBlock = -1;
        holds = true;
        notifyAll();
        while (holds) {
            try {
                wait();
            } catch (InterruptedException stop) {
                throw new IOException(stop);
            }
        }
    }

    private final class FaultFile implements DeviceFile {
        private final Path file;

        FaultFile(Path file) {
            this.file = file;
        }

        @Override
        public int read(long offset, MemorySegment into) throws IOException {
            synchronized (FaultDevice.this) {
                requirePower();
                byte[] bytes = current.getOrDefault(file, new byte[0]);
                if (offset >= bytes.length) {
                    return -1;
                }
                if (offset / BlockIo.BLOCK_BYTES == badBlock && badReads > 0) {
                    badReads--;
                    throw new IOException(Errno.name(Errno.EIO));
                }
                long length = Math.min(some(into.byteSize()), bytes.length - offset);
                if (offset / BlockIo.BLOCK_BYTES < badBlock && badReads > 0) {
                    length = Math.min(length, badBlock * BlockIo.BLOCK_BYTES - offset);
                }
                MemorySegment.copy(bytes, (int) offset, into, ValueLayout.JAVA_BYTE, 0, (int) length);
                if (offset == heldBlock * BlockIo.BLOCK_BYTES) {
                    hold();
                }
                return (int) length;
            }
        }

        @Override
        public int write(long offset, MemorySegment from) throws IOException {
            synchronized (FaultDevice.this) {
                requirePower();
                if (thrownByWrites != null) {
                    throw thrownByWrites;
                }
                if (badWrites > 0) {
                    badWrites--;
                    throw new IOException(Errno.name(Errno.EIO));
                }
                long length = some(from.byteSize());
                byte[] bytes = from.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
                Write write = new Write(file, (int) offset, bytes);
                if (powerGoes()) {
                    unsynced.add(write);
                    throw new PowerLossException();
                }
                long grows = Math.max(0, offset + length - current.getOrDefault(file, new byte[0]).length);
                if (used() + grows > capacity) {
                    throw new IOException(Errno.name(Errno.ENOSPC));
                }
                remember(write);
                unsynced.add(write);
                put(current, file, (int) offset, bytes);
                return (int) length;
            }
        }

        @Override
        public void sync() throws IOException {
            synchronized (FaultDevice.this) {
                requirePower();
                if (powerGoes()) {
                    throw new PowerLossException();
                }
                List<Write> these = unsynced.stream()
                        .filter(write -> write.file.equals(file))
                        .toList();
                unsynced.removeIf(write -> write.file.equals(file));
                if (syncFails) {
                    these.forEach(FaultDevice.this::forget);
                    throw new IOException(Errno.name(Errno.EIO));
                }
                these.forEach(write -> put(durable, file, write.offset, write.bytes));
            }
        }

        @Override
        public long size() {
            synchronized (FaultDevice.this) {
                return current.getOrDefault(file, new byte[0]).length;
            }
        }

        @Override
        public boolean isDirect() {
            return true;
        }

        @Override
        public void close() {}
    }

    /** A read that ends at a time. */
    private record Due(long nanos, BlockReads.Read read, FaultQueue queue) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            return Long.compare(nanos, other.nanos);
        }
    }

    @Override
    public synchronized Queue queue() {
        if (queuesLeft-- == 0) {
            throw new IllegalStateException("no queue is left");
        }
        return new FaultQueue();
    }

    private void completeWhatIsDue() {
        while (true) {
            Due next;
            synchronized (this) {
                next = due.peek();
                if (closed && next == null) {
                    return;
                }
                long wait = next == null || isPaused ? 10_000_000 : next.nanos - System.nanoTime();
                if (wait > 0) {
                    try {
                        wait(wait / 1_000_000, (int) (wait % 1_000_000));
                    } catch (InterruptedException e) {
                        return;
                    }
                    continue;
                }
                due.remove(next);
            }
            next.queue.end(next.read);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** Whether its thread has ended. */
    boolean isClosed() {
        return closed && !thread.isAlive();
    }

    private final class FaultQueue implements Queue {
        private final AtomicInteger inFlight = new AtomicInteger();
        private final AtomicInteger reads = new AtomicInteger();

        @Override
        public void submit(BlockReads.Read first) {
            synchronized (FaultDevice.this) {
                for (BlockReads.Read read = first; read != null; ) {
                    BlockReads.Read following = read.next;
                    read.next = null;
                    inFlight.incrementAndGet();
                    long delay = slowestNanos == 0 ? 0 : random.nextLong(slowestNanos);
                    due.add(new Due(System.nanoTime() + delay, read, this));
                    read = following;
                }
                FaultDevice.this.notifyAll();
            }
        }

        private void end(BlockReads.Read read) {
            @Nullable IOException failure = null;
            try {
                read.result = Math.max(0, read.device().read(read.offset(), read.target()));
            } catch (IOException e) {
                failure = e;
            }
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
            return new Counts(reads.get(), reads.get());
        }

        @Override
        public void wakes(Waker waker) {}

        @Override
        public int poll() {
            return 0;
        }

        @Override
        public boolean arm() {
            return true;
        }

        @Override
        public void close() {}
    }
}
