package io.github.roost.core.io.linux;

import static io.github.roost.core.io.linux.UringLayout.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * One ring of {@code io_uring(7)} that reads: a submission queue, which this writes and the kernel empties in {@link #enter},
 * and a completion queue, which the kernel writes and {@link #reap} empties. Both are memory that is shared with the kernel.
 *
 * <p>The owner keeps all calls but {@link #hasCompletions} under one lock, holds at most {@link #entries} reads that have not
 * been reaped (so that the completion queue, which is twice as long, never overflows), and closes the ring when there are
 * none, for the kernel writes into their memory. After that each call throws {@link IllegalStateException}.
 *
 * <p>Memory order: an entry is written before the tail of the submission queue, by a release store, and read by the kernel
 * after it; a completion is written by the kernel before the tail of the completion queue, and read here after that tail was
 * read by an acquire load; the head of the completion queue is written, by a release store, after the completion was read, so
 * the kernel does not overwrite it before.
 *
 * <p>Flags that are not set: {@code SINGLE_ISSUER} and {@code DEFER_TASKRUN}, since a fresh thread may take over a worker
 * whose thread is blocked, and since with the latter completions are there only after another system call, while here they
 * are to be seen by a read of memory; {@code SQPOLL}, which takes a core.
 */
public final class IoUring implements AutoCloseable {
    private static final VarHandle INTS = INT.varHandle();

    /** Takes what was read. */
    @FunctionalInterface
    public interface Completion {
        /**
         * A read has ended.
         *
         * @param tag that it was prepared with
         * @param result bytes read, or the negative number of an error
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

    /** The memory that reads may go into without the kernel looking it up each time, or {@link MemorySegment#NULL}. */
    private MemorySegment registered = MemorySegment.NULL;
    /** The tail of the submission queue, and the head of the completion queue, as written last. */
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
        } catch (Throwable failed) {
            calls.close(fd);
            throw failed;
        }
    }

    /**
     * Makes a ring.
     *
     * @param entries how many reads may be under way at once; a power of two, or it is rounded up to one
     * @return empty
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

    /** {@return how many reads may be under way at once} */
    public int entries() {
        return entries;
    }

    /**
     * Has the kernel keep memory mapped that reads go into, so that it need not look it up for each.
     *
     * @param memory of the whole of it; it must outlive the ring
     * @return false where the kernel refuses, for want of memory that may be locked: reads work all the same
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

    /**
     * Has the kernel signal an event when completions arrive while {@link #signals} says so.
     *
     * @param event it must outlive the ring
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
     * Says whether completions that arrive from now on signal the event.
     *
     * @param on whether they do
     */
    public void signals(boolean on) {
        INTS.setVolatile(rings, cqFlags, on ? 0 : EVENTFD_DISABLED);
    }

    /**
     * Writes a read into the submission queue. The kernel learns of it with the next {@link #enter}.
     *
     * @param file open until the read has been reaped
     * @param offset byte in the file
     * @param into outside the heap, valid until the read has been reaped
     * @param tag comes back with the completion
     * @throws IllegalStateException if the queue is full
     */
    public void prepare(DirectFile file, long offset, MemorySegment into, int tag) {
        if (!into.isNative() || into.byteSize() == 0 || into.byteSize() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a read must go into memory outside the heap, got " + into);
        }
        if (unsubmitted() == entries) {
            throw new IllegalStateException("the submission queue is full");
        }
        int slot = submitted & sqMask;
        MemorySegment entry = submissions.asSlice(slot * SQE_BYTES, SQE_BYTES).fill((byte) 0);
        boolean fixed = isRegistered(into);
        entry.set(ValueLayout.JAVA_BYTE, SQE_OPCODE, (byte) (fixed ? OP_READ_FIXED : OP_READ));
        entry.set(INT, SQE_FD, file.fd());
        entry.set(LONG, SQE_OFFSET, offset);
        entry.set(LONG, SQE_ADDRESS, into.address());
        entry.set(INT, SQE_LENGTH, (int) into.byteSize());
        entry.set(LONG, SQE_USER_DATA, tag);
        rings.set(INT, sqArray + (long) slot * Integer.BYTES, slot);
        submitted++;
        INTS.setRelease(rings, sqTail, submitted);
    }

    private boolean isRegistered(MemorySegment into) {
        long from = into.address() - registered.address();
        return from >= 0 && from <= registered.byteSize() - into.byteSize();
    }

    /** {@return how many reads have been prepared that the kernel has not taken} */
    public int unsubmitted() {
        return submitted - (int) INTS.getAcquire(rings, sqHead);
    }

    /**
     * Has the kernel take what was prepared: a system call, if anything was.
     *
     * @return 0, or the number of the error; what was not taken then stays prepared
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
     * Takes back what the kernel has not taken, for it refuses to.
     *
     * @param ended told of each, with the error
     * @param errno positive
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

    /** {@return whether there is something to reap; two reads of memory, by any thread} */
    public boolean hasCompletions() {
        return (int) INTS.getAcquire(rings, cqTail) != (int) INTS.getOpaque(rings, cqHead);
    }

    /**
     * Takes all completions that have arrived.
     *
     * @param ended told of each; must not throw
     * @return how many
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
