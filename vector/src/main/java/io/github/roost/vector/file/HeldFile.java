package io.github.roost.vector.file;

import io.github.roost.vector.kernel.DescriptorLock;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A file that is in use, whatever it is called: it is locked itself, not a name. So an opener under another name, by a symbolic or hard link, a
 * bind mount or after a renaming, meets the same lock, in this process and in others. The system takes the lock back when the process
 * ends in any way. Thread-safe.
 *
 * <p>Two bytes far behind the content are locked. One opener may change a file, many may use it, and {@link WholeFile} replaces it only
 * if there is neither. Where the system or the file system has no locks of descriptors (all systems but Linux), the process's locks are
 * taken, which exclude other updaters alone.
 *
 * <p>A file may have numbered versions, which whoever changes it must not overwrite while others read them: a reader locks one more byte
 * per version that it has, and the updater looks whether there is such a lock.
 */
public final class HeldFile implements AutoCloseable {
    private static final long CHANGES_AT = 1L << 62;
    private static final long USES_AT = CHANGES_AT + 1;
    /** The byte of version 0. */
    private static final long VERSIONS_AT = 1L << 61;

    private static final int MAX_TRIES = 100;

    private final Path path;
    private final Closeable lock;

    private HeldFile(Path path, Closeable lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Takes the right to change a file.
     *
     * @param file an existing file that may be written
     * @return to be closed; null if another opener has that right
     * @throws IOException if the file cannot be opened or locked
     */
    public static @Nullable HeldFile toChange(Path file) throws IOException {
        Path real = file.toRealPath();
        if (DescriptorLock.isSupported()) {
            try {
                return locked(real, lock -> {
                    if (!lock.isWritable()) {
                        throw new AccessDeniedException(real.toString());
                    }
                    return lock.tryLock(CHANGES_AT, 1, true) && lock.tryLock(USES_AT, 1, false);
                });
            } catch (DescriptorLock.NoLocksException none) {
                // As on a system without them.
            }
        }
        return ofProcess(real);
    }

    /**
     * As {@link #toChange}, for a file that is created empty if there is none.
     *
     * @param file a file, which may be missing, in an existing folder
     * @return to be closed; null if another opener has that right
     * @throws IOException if the file cannot be created, opened or locked
     */
    public static @Nullable HeldFile toFill(Path file) throws IOException {
        try {
            Files.createFile(file);
        } catch (FileAlreadyExistsException there) {
            // Perhaps since another opener was first.
        }
        return toChange(file);
    }

    /**
     * Keeps a file from being replaced.
     *
     * @param file an existing file
     * @return to be closed
     * @throws IOException if the file cannot be opened, or is being replaced
     */
    public static HeldFile toUse(Path file) throws IOException {
        return locked(
                file,
                lock -> lock.tryLock(USES_AT, 1, false),
                replaced -> new IOException(replaced + " is being replaced"));
    }

    /**
     * Opens a file of which versions are read; that keeps it neither from being changed nor from being replaced.
     *
     * @param file an existing file
     * @return to be closed, which gives all its versions back
     * @throws IOException if the file cannot be opened
     */
    public static HeldFile toRead(Path file) throws IOException {
        return locked(file, lock -> true, HeldFile::inUse);
    }

    /**
     * Keeps whoever changes the file from overwriting a version. The caller reads the number of the newest version again afterwards: if it is a
     * later one, the version may have been given up before the call.
     *
     * @param version at least 0
     * @return whether it is kept; false where the system or the file system has no locks of descriptors
     * @throws IOException if the system refuses
     */
    public boolean keep(long version) throws IOException {
        try {
            return lock instanceof DescriptorLock descriptor && descriptor.tryLock(VERSIONS_AT + version, 1, false);
        } catch (DescriptorLock.NoLocksException none) {
            return false;
        }
    }

    /** Gives a version back. Does nothing if this is closed. */
    public void giveBack(long version) {
        if (lock instanceof DescriptorLock descriptor) {
            try {
                descriptor.unlock(VERSIONS_AT + version, 1);
            } catch (ClosedChannelException closed) {
                // With all its locks.
            } catch (IOException failed) {
                throw new UncheckedIOException(path + " could not be unlocked", failed);
            }
        }
    }

    /**
     * Whether another opener keeps a version up to {@code last}.
     *
     * @param last at least 0
     * @throws IOException if the system does not say
     */
    public boolean isKept(long last) throws IOException {
        return lock instanceof DescriptorLock descriptor && !descriptor.isFree(VERSIONS_AT, last + 1);
    }

    /** {@return whether the path names another file by now} */
    public boolean isReplaced() {
        return lock instanceof DescriptorLock descriptor && descriptor.isReplaced();
    }

    /**
     * Takes the right to put another file in a file's place.
     *
     * @param file an existing file
     * @return to be closed
     * @throws IOException if the file is in use, or cannot be opened to find out
     */
    static HeldFile toReplace(Path file) throws IOException {
        // A file that may not be written can be replaced: then no one can change it meanwhile, but someone can begin to
        // use it.
        return locked(
                file,
                lock -> lock.isWritable()
                        ? lock.tryLock(CHANGES_AT, 2, true)
                        : lock.isFree(CHANGES_AT, 2) && lock.tryLock(CHANGES_AT, 2, false),
                HeldFile::inUse);
    }

    static IOException inUse(Path file) {
        return new IOException(file + " is in use by an open table or a save, so it cannot be replaced");
    }

    private static HeldFile locked(Path file, Locking locking, Function<Path, IOException> refusal) throws IOException {
        Path real = file.toRealPath();
        if (DescriptorLock.isSupported()) {
            try {
                HeldFile held = locked(real, locking);
                if (held == null) {
                    throw refusal.apply(file);
                }
                return held;
            } catch (DescriptorLock.NoLocksException none) {
                // Then the owner of a table looks whether the file is its own.
            }
        }
        return new HeldFile(real, () -> {});
    }

    /** Locks an open file. */
    @FunctionalInterface
    private interface Locking {
        boolean lock(DescriptorLock file) throws IOException;
    }

    private static @Nullable HeldFile locked(Path real, Locking locking) throws IOException {
        for (int i = 0; i < MAX_TRIES; i++) {
            DescriptorLock opened = DescriptorLock.open(real);
            boolean isHeld = false;
            try {
                if (!locking.lock(opened)) {
                    return null;
                }
                // Another file may have come into its place before it was locked.
                isHeld = !opened.isReplaced();
                if (isHeld) {
                    return new HeldFile(real, opened);
                }
            } finally {
                if (!isHeld) {
                    opened.close();
                }
            }
        }
        throw new IOException(real + " is replaced all the time");
    }

    private static @Nullable HeldFile ofProcess(Path real) throws IOException {
        FileChannel channel = FileChannel.open(real, StandardOpenOption.WRITE);
        FileLock lock = null;
        try {
            lock = channel.tryLock(CHANGES_AT, 1, false);
        } catch (OverlappingFileLockException heldHere) {
            // As if another process had it.
        } finally {
            if (lock == null) {
                channel.close();
            }
        }
        return lock == null ? null : new HeldFile(real, channel);
    }

    /** Gives the file back; idempotent. */
    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(path + " could not be closed", failed);
        }
    }
}
