package io.github.roost.core.io.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An {@code eventfd(2)}: rings signal it, and one thread waits for that. Any thread may {@link #signal}; to be closed when no
 * thread waits.
 */
public final class EventDescriptor implements AutoCloseable {
    private final LinuxCalls calls;
    private final int fd;

    private EventDescriptor(LinuxCalls calls) throws LinuxException {
        this.calls = calls;
        this.fd = calls.eventFd();
    }

    /**
     * Makes one.
     *
     * @return not signalled
     * @throws LinuxException if the system has none left
     */
    public static EventDescriptor open() throws LinuxException {
        return new EventDescriptor(LinuxCalls.get());
    }

    int fd() {
        return fd;
    }

    /** Blocks until it has been signalled since the last return. */
    public void await() {
        transfer(false);
    }

    /** Has {@link #await} return. */
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
