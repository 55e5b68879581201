package io.github.roost.io.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An {@code eventfd(2)} that rings signal and one thread waits for. Any thread may {@link #signal}. To be closed when no thread waits.
 */
public final class EventDescriptor implements AutoCloseable {
    private final LinuxCalls calls;
    private final int fd;

    private EventDescriptor(LinuxCalls calls) throws LinuxException {
        this.calls = calls;
        this.fd = calls.eventFd();
    }

    /**
     * Creates an event.
     *
     * @return an event that is not signalled
     * @throws LinuxException if the system has no descriptors left
     */
    public static EventDescriptor open() throws LinuxException {
        return new EventDescriptor(LinuxCalls.get());
    }

    int fd() {
        return fd;
    }

    /** Blocks until the event has been signalled since the last return of this method. */
    public void await() {
        transfer(false);
    }

    /** Makes {@link #await} return. */
    public void signal() {
        transfer(true);
    }

    private void transfer(boolean signals) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = LinuxCalls.errnoIn(arena);
            MemorySegment count = arena.allocate(Long.BYTES, Long.BYTES);
            count.set(UringLayout.LONG, 0, 1);
            long result;
            do {
                result = signals ? calls.write(state, fd, count) : calls.read(state, fd, count);
            } while (result == -Errno.EINTR);
            if (result < 0) {
                throw new IllegalStateException("an event descriptor failed: " + Errno.name((int) -result));
            }
        }
    }

    @Override
    public void close() {
        calls.close(fd);
    }
}
