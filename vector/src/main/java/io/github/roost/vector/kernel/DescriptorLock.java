package io.github.roost.vector.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An open file whose locks belong to its descriptor (Linux, {@code F_OFD_SETLK} of {@code fcntl(2)}). They stay until it is closed or the
 * process ends, under whatever name the file was opened, and exclude other descriptors of the same process too. The locks of
 * {@link java.nio.channels.FileChannel} belong to the process: they are gone as soon as any descriptor of the file is closed. Thread-safe: its
 * number is used only while it is open, since it may be another file's afterwards.
 */
@SuppressWarnings({"restricted", "IllegalCatch"}) // what method handles declare
public final class DescriptorLock implements Closeable {
    private static final int ENOENT = 2;
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;
    private static final int EACCES = 13;
    private static final int EISDIR = 21;
    private static final int EINVAL = 22;
    private static final int EMFILE = 24;
    private static final int EROFS = 30;
    private static final int ENOLCK = 37;
    private static final int ENOSYS = 38;
    private static final int EOPNOTSUPP = 95;

    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x80000;
    private static final int GET_LOCK = 36;
    private static final int SET_LOCK = 37;
    private static final short SHARED = 0;
    private static final short EXCLUSIVE = 1;
    private static final short NONE = 2;
    /** No kind of lock: another descriptor has one. */
    private static final short REFUSED = -1;
    /** {@code struct flock}: type, whence, start, length, process. */
    private static final int LOCK_BYTES = 32;

    private static final int START_AT = 8;
    private static final int LENGTH_AT = 16;

    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final VarHandle ERRNO_VALUE =
            Linker.Option.captureStateLayout().varHandle(PathElement.groupElement("errno"));

    /** A file system has no such locks. */
    public static final class NoLocksException extends FileSystemException {
        private static final long serialVersionUID = 1;

        private NoLocksException(String file, String why) {
            super(file, null, why);
        }
    }

    /** Linked at the first use: other systems need not have these functions. */
    private static final class Calls {
        static final MethodHandle OPEN = link("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), 2);
        static final MethodHandle FCNTL =
                link("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), 2);
        static final MethodHandle CLOSE = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow("close"),
                        FunctionDescriptor.of(JAVA_INT, JAVA_INT));

        private static MethodHandle link(String function, FunctionDescriptor descriptor, int fixedArguments) {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(
                    linker.defaultLookup().findOrThrow(function),
                    descriptor,
                    ERRNO,
                    Linker.Option.firstVariadicArg(fixedArguments));
        }
    }

    private final Path file;
    private final boolean writable;
    /** Negative if it is closed. Guarded by this. */
    private int descriptor;

    private DescriptorLock(Path file, boolean writable, int fd) {
        this.file = file;
        this.writable = writable;
        this.descriptor = fd;
    }

    /** {@return whether this system has such locks} */
    public static boolean isSupported() {
        return System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("linux")
                && List.of("amd64", "aarch64", "riscv64").contains(System.getProperty("os.arch", ""));
    }

    /**
     * Opens a file.
     *
     * @param file an existing file; links are followed
     * @return the open file, without locks
     * @throws IOException if it cannot be opened
     */
    public static DescriptorLock open(Path file) throws IOException {
        try {
            return new DescriptorLock(file, true, open(file, O_RDWR));
        } catch (AccessDeniedException refused) {
            return new DescriptorLock(file, false, open(file, 0));
        }
    }

    private static int open(Path file, int mode) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment name = arena.allocateFrom(file.toAbsolutePath().toString());
            int fd;
            do {
                fd = (int) Calls.OPEN.invokeExact(state, name, mode | O_CLOEXEC, 0);
            } while (fd < 0 && errno(state) == EINTR);
            if (fd < 0) {
                throw refused(file, errno(state));
            }
            return fd;
        } catch (IOException failed) {
            throw failed;
        } catch (Throwable failed) {
            throw new IllegalStateException("open of " + file + " failed", failed);
        }
    }

    private static int errno(MemorySegment state) {
        return (int) ERRNO_VALUE.get(state, 0L);
    }

    private static IOException refused(Path file, int errno) {
        return switch (errno) {
            case ENOENT -> new NoSuchFileException(file.toString());
            case EACCES, EROFS -> new AccessDeniedException(file.toString());
            case EISDIR -> new FileSystemException(file.toString(), null, "Is a directory");
            case EMFILE -> new FileSystemException(file.toString(), null, "Too many open files");
            default -> new FileSystemException(file.toString(), null, "errno " + errno);
        };
    }

    /** {@return whether the file may be written, so that it can be locked exclusively} */
    public boolean isWritable() {
        return writable;
    }

    /**
     * Tries to lock bytes of the file, which need not exist.
     *
     * @param at the first byte
     * @param length the number of bytes
     * @param exclusive whether no other descriptor may have a lock there, or else no other an exclusive one
     * @return whether they are locked now
     * @throws NoLocksException if the file system has no locks
     * @throws IOException if the system refuses
     */
    public boolean tryLock(long at, long length, boolean exclusive) throws IOException {
        return call(SET_LOCK, exclusive ? EXCLUSIVE : SHARED, at, length) != REFUSED;
    }

    /**
     * Gives locks of bytes back.
     *
     * @param at the first byte
     * @param length the number of bytes
     * @throws ClosedChannelException if this is closed
     * @throws IOException if the system refuses
     */
    public void unlock(long at, long length) throws IOException {
        call(SET_LOCK, NONE, at, length);
    }

    /**
     * Whether no other descriptor has a lock of some bytes; the file need not be writable.
     *
     * @param at the first byte
     * @param length the number of bytes
     * @throws NoLocksException if the file system has no locks
     * @throws IOException if the system refuses
     */
    public boolean isFree(long at, long length) throws IOException {
        return call(GET_LOCK, EXCLUSIVE, at, length) == NONE;
    }

    /** Calls {@code fcntl}; returns the kind of lock that it leaves, or {@link #REFUSED}. */
    private synchronized short call(int command, short kind, long at, long length) throws IOException {
        if (descriptor < 0) {
            throw new ClosedChannelException();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment lock = arena.allocate(LOCK_BYTES, Long.BYTES);
            lock.set(JAVA_SHORT, 0, kind);
            lock.set(JAVA_LONG, START_AT, at);
            lock.set(JAVA_LONG, LENGTH_AT, length);
            int result;
            do {
                result = (int) Calls.FCNTL.invokeExact(state, descriptor, command, lock);
            } while (result < 0 && errno(state) == EINTR);
            if (result >= 0) {
                return lock.get(JAVA_SHORT, 0);
            }
            int errno = errno(state);
            if (errno == EAGAIN || errno == EACCES) {
                return REFUSED;
            }
            String why = "cannot be locked, errno " + errno;
            throw errno == EINVAL || errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP
                    ? new NoLocksException(file.toString(), why)
                    : new FileSystemException(file.toString(), null, why);
        } catch (IOException failed) {
            throw failed;
        } catch (Throwable failed) {
            throw new IllegalStateException("a lock of " + file + " failed", failed);
        }
    }

    /** {@return whether the path names another file by now} */
    public synchronized boolean isReplaced() {
        Object opened = key(Path.of("/proc/self/fd/" + descriptor));
        return opened != null && !opened.equals(key(file));
    }

    private static @Nullable Object key(Path file) {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        } catch (IOException none) {
            return null;
        }
    }

    /** Unlocks and closes the file; idempotent. */
    @Override
    public synchronized void close() {
        int open = descriptor;
        if (open < 0) {
            return;
        }
        descriptor = -1;
        try {
            int ignored = (int) Calls.CLOSE.invokeExact(open);
        } catch (Throwable failed) {
            throw new IllegalStateException("close of " + file + " failed", failed);
        }
    }
}
