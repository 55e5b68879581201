package io.github.roost.io.linux;

import static io.github.roost.io.linux.UringLayout.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * An {@code io_uring(7)} for reads: a submission queue, written here and consumed by the kernel in {@link #enter}, and a completion queue,
 * written by the kernel and consumed by {@link #reap}. Both are in memory shared with the kernel.
 *
 * <p>The owner makes all calls but {@link #hasCompletions} under one lock, has at most {@link #entries} reads that have not been reaped (so
 * that the completion queue, which is twice as long, never overflows), and closes the ring only when there are none, since the kernel
 * writes into their memory. After close each call throws {@link IllegalStateException}.
 *
 * <p>Memory order: an entry is written before the release store of the submission queue's tail, and the kernel reads it after that tail.
 * The kernel writes a completion before the completion queue's tail, and it is read here after an acquire load of that tail. The completion
 * queue's head is written by a release store after the completion was read, so the kernel does not overwrite it earlier.
 *
 * <p>Flags that are not set: {@code SINGLE_ISSUER} and {@code DEFER_TASKRUN}, since a new thread may take over a worker whose thread is
 * blocked; the latter also posts completions only after another system call, while polling here only reads memory. {@code SQPOLL}, since it
 * takes a core.
 */
public final class IoUring implements AutoCloseable {
    /** Number of files that can be registered. */
    public static final int FILES = 64;

    private static final VarHandle INTS = INT.varHandle();

    /** Receives completions. */
    @FunctionalInterface
    public interface Completion {
        /**
         * Called when a read has ended.
         *
         * @param tag the tag that the read was prepared with
         * @param result bytes read, or a negative errno
         */
        void ended(int tag, int result);
    }

    private final LinuxCalls calls;
    private final Arena arena;
    private final MemorySegment errno;
    private final int fd;
    private final int entries;
    private final MemorySegment rings;
    private final MemorySegment submissions;
    private final long sqHead;
    private final long sqTail;
    private final int sqMask;
    private final long sqArray;
    private final long cqHead;
    private final long cqTail;
    private final int cqMask;
    private final long cqFlags;
    private final long completions;

    /** The memory that is registered with the kernel, or {@link MemorySegment#NULL}. */
    private MemorySegment registered = MemorySegment.NULL;
    /** The files that are registered with the kernel, by slot; empty if it refuses. */
    private final @Nullable DirectFile[] files;

    /** The last written tail of the submission queue and head of the completion queue. */
    private int submitted;

    private int reaped;

    private IoUring(LinuxCalls calls, Arena arena, int wanted) throws LinuxException {
        this.calls = calls;
        this.arena = arena;
        this.errno = LinuxCalls.errnoIn(arena);
        MemorySegment params = arena.allocate(PARAMS_BYTES, Long.BYTES);
        params.set(INT, PARAMS_FLAGS, SETUP_CLAMP);
        long made = calls.systemCall(errno, SETUP_CALL, wanted, params.address(), 0, 0);
        if (made < 0) {
            throw LinuxException.refused("io_uring_setup", (int) -made);
        }
        fd = (int) made;
        try {
            int needed = FEATURE_SINGLE_MMAP | FEATURE_NATIVE_WORKERS;
            if ((params.get(INT, PARAMS_FEATURES) & needed) != needed) {
                throw new LinuxException("io_uring of this kernel is older than that of Linux 5.12");
            }
            entries = params.get(INT, PARAMS_SQ_ENTRIES);
            long cqEntries = params.get(INT, PARAMS_CQ_ENTRIES);
            sqHead = params.get(INT, SQ_HEAD);
            sqTail = params.get(INT, SQ_TAIL);
            sqArray = params.get(INT, SQ_ARRAY);
            cqHead = params.get(INT, CQ_HEAD);
            cqTail = params.get(INT, CQ_TAIL);
            cqFlags = params.get(INT, CQ_FLAGS);
            completions = params.get(INT, CQ_CQES);
            long bytes = Math.max(sqArray + (long) entries * Integer.BYTES, completions + cqEntries * CQE_BYTES);
            rings = calls.map(errno, arena, bytes, fd, MAP_RINGS);
            submissions = calls.map(errno, arena, entries * SQE_BYTES, fd, MAP_ENTRIES);
            sqMask = rings.get(INT, params.get(INT, SQ_MASK));
            cqMask = rings.get(INT, params.get(INT, CQ_MASK));
            files = new DirectFile[registerSlots()];
        } catch (Throwable failed) {
            calls.close(fd);
            throw failed;
        }
    }

    /**
     * Creates a ring.
     *
     * @param entries maximum number of reads in flight, from 1 to 32,768; rounded up to a power of two
     * @return an empty ring
     * @throws LinuxException if the kernel refuses, or is too old
     */
    public static IoUring open(int entries) throws LinuxException {
        if (entries < 1 || entries > 1 << 15) {
            throw new IllegalArgumentException("entries must be between 1 and 32,768, got " + entries);
        }
        LinuxCalls calls = LinuxCalls.get();
        Arena arena = Arena.ofShared();
        try {
            return new IoUring(calls, arena, entries);
        } catch (Throwable failed) {
            arena.close();
            throw failed;
        }
    }

    /** {@return the maximum number of reads in flight} */
    public int entries() {
        return entries;
    }

    /**
     * Registers a buffer of reads with the kernel, which then need not map its pages for each read.
     *
     * @param memory one off-heap segment, which must outlive the ring
     * @return whether it was registered; the kernel refuses beyond the limit of locked memory, but reads still work
     */
    public boolean register(MemorySegment memory) {
        if (!memory.isNative() || registered.byteSize() != 0) {
            throw new IllegalArgumentException("one segment outside the heap may be registered, got " + memory);
        }
        try (Arena call = Arena.ofConfined()) {
            MemorySegment iovec = call.allocate(IOVEC_BYTES, Long.BYTES);
            iovec.set(LONG, 0, memory.address());
            iovec.set(LONG, Long.BYTES, memory.byteSize());
            boolean done = calls.systemCall(errno, REGISTER_CALL, fd, REGISTER_BUFFERS, iovec.address(), 1) >= 0;
            if (done) {
                registered = memory;
            }
            return done;
        }
    }

    /** Registers empty slots for files; returns how many. */
    private int registerSlots() {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment none = call.allocate(INT, FILES).fill((byte) -1);
            boolean done = calls.systemCall(errno, REGISTER_CALL, fd, REGISTER_FILES, none.address(), FILES) >= 0;
            return done ? FILES : 0;
        }
    }

    /** Number of slots for files: {@link #FILES}, or 0 if the kernel refuses them. */
    int slots() {
        return files.length;
    }

    /**
     * Registers a file with the kernel, which then need not look it up for each read. The kernel keeps the file open until the slot is emptied or the
     * ring is closed.
     *
     * @param slot from 0 to {@link #FILES} exclusive
     * @param file the file, or null to empty the slot
     * @return whether the slot has the file; the kernel may refuse, but reads still work
     */
    public boolean register(int slot, @Nullable DirectFile file) {
        if (slot >= files.length) {
            return false;
        }
        // First: if the kernel refuses, reads do not use the slot.
        files[slot] = null;
        try (Arena call = Arena.ofConfined()) {
            MemorySegment descriptor = call.allocateFrom(INT, file == null ? -1 : file.fd());
            MemorySegment update = call.allocate(FILES_UPDATE_BYTES, Long.BYTES);
            update.set(INT, 0, slot);
            update.set(LONG, FILES_UPDATE_FDS, descriptor.address());
            boolean done = calls.systemCall(errno, REGISTER_CALL, fd, REGISTER_FILES_UPDATE, update.address(), 1) == 1;
            if (done) {
                files[slot] = file;
            }
            return done;
        }
    }

    /**
     * Registers the event that the kernel signals when completions arrive, if {@link #signals} has enabled it.
     *
     * @param event the event, which must outlive the ring
     * @throws LinuxException if the kernel refuses
     */
    public void signal(EventDescriptor event) throws LinuxException {
        signals(false);
        try (Arena call = Arena.ofConfined()) {
            MemorySegment number = call.allocateFrom(INT, event.fd());
            long result = calls.systemCall(errno, REGISTER_CALL, fd, REGISTER_EVENTFD, number.address(), 1);
            if (result < 0) {
                throw LinuxException.refused("io_uring_register of an event", (int) -result);
            }
        }
    }

    /**
     * Enables or disables signals of the event for completions that arrive from now on.
     *
     * @param on whether completions signal the event
     */
    public void signals(boolean on) {
        INTS.setVolatile(rings, cqFlags, on ? 0 : EVENTFD_DISABLED);
    }

    /**
     * Writes a read into the submission queue. The next {@link #enter} submits it.
     *
     * @param file the file; must be open until the read has been reaped
     * @param slot the slot at which it may be {@linkplain #register(int, DirectFile) registered}, or -1
     * @param offset the byte offset in the file
     * @param into the off-heap target; must be valid until the read has been reaped
     * @param tag returned with the completion
     * @throws IllegalStateException if the queue is full
     */
    public void prepare(DirectFile file, int slot, long offset, MemorySegment into, int tag) {
        if (!into.isNative() || into.byteSize() == 0 || into.byteSize() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a read must go into memory outside the heap, got " + into);
        }
        if (unsubmitted() == entries) {
            throw new IllegalStateException("the submission queue is full");
        }
        int place = submitted & sqMask;
        MemorySegment entry = submissions.asSlice(place * SQE_BYTES, SQE_BYTES).fill((byte) 0);
        boolean fixed = isRegistered(into);
        entry.set(ValueLayout.JAVA_BYTE, SQE_OPCODE, (byte) (fixed ? OP_READ_FIXED : OP_READ));
        if (slot >= 0 && slot < files.length && file.equals(files[slot])) {
            entry.set(ValueLayout.JAVA_BYTE, SQE_FLAGS, FIXED_FILE);
            entry.set(INT, SQE_FD, slot);
        } else {
            entry.set(INT, SQE_FD, file.fd());
        }
        entry.set(LONG, SQE_OFFSET, offset);
        entry.set(LONG, SQE_ADDRESS, into.address());
        entry.set(INT, SQE_LENGTH, (int) into.byteSize());
        entry.set(LONG, SQE_USER_DATA, tag);
        rings.set(INT, sqArray + (long) place * Integer.BYTES, place);
        submitted++;
        INTS.setRelease(rings, sqTail, submitted);
    }

    private boolean isRegistered(MemorySegment into) {
        long from = into.address() - registered.address();
        return from >= 0 && from <= registered.byteSize() - into.byteSize();
    }

    /** {@return the number of reads that are prepared but not taken by the kernel} */
    public int unsubmitted() {
        return submitted - (int) INTS.getAcquire(rings, sqHead);
    }

    /**
     * Submits prepared reads to the kernel, by a system call if there are any.
     *
     * @return 0, or an errno; reads that were not taken then stay prepared
     */
    public int enter() {
        int waiting = unsubmitted();
        if (waiting == 0) {
            return 0;
        }
        long taken = calls.systemCall(errno, ENTER_CALL, fd, waiting, 0, 0);
        return taken < 0 ? (int) -taken : 0;
    }

    /**
     * Withdraws the reads that the kernel has not taken, because it refuses them.
     *
     * @param ended called per read, with the error
     * @param errno the error, positive
     */
    public void withdraw(Completion ended, int errno) {
        int left = unsubmitted();
        submitted -= left;
        INTS.setRelease(rings, sqTail, submitted);
        for (int i = 0; i < left; i++) {
            long entry = ((submitted + i) & sqMask) * SQE_BYTES;
            ended.ended((int) submissions.get(LONG, entry + SQE_USER_DATA), -errno);
        }
    }

    /** {@return whether there are completions to reap; two memory reads, callable by any thread} */
    public boolean hasCompletions() {
        return (int) INTS.getAcquire(rings, cqTail) != (int) INTS.getOpaque(rings, cqHead);
    }

    /**
     * Consumes all completions that have arrived.
     *
     * @param ended called per completion; must not throw
     * @return the number of completions
     */
    public int reap(Completion ended) {
        int tail = (int) INTS.getAcquire(rings, cqTail);
        int count = tail - reaped;
        for (int i = 0; i < count; i++) {
            long at = completions + (long) (reaped & cqMask) * CQE_BYTES;
            int tag = (int) rings.get(LONG, at + CQE_USER_DATA);
            int result = rings.get(INT, at + CQE_RESULT);
            reaped++;
            INTS.setRelease(rings, cqHead, reaped);
            ended.ended(tag, result);
        }
        return count;
    }

    @Override
    public void close() {
        arena.close();
        calls.close(fd);
    }
}
