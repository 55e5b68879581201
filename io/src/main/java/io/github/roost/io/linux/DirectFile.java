package io.github.roost.io.linux;

import java.nio.file.Path;

/** A file opened for direct reads by rings. To be closed once, when no ring reads it. */
public final class DirectFile implements AutoCloseable {
    private static final int O_RDONLY = 0;
    private static final int O_CLOEXEC = 0x80000;

    private final LinuxCalls calls;
    private final int fd;
    private final boolean direct;

    private DirectFile(LinuxCalls calls, int fd, boolean direct) {
        this.calls = calls;
        this.fd = fd;
        this.direct = direct;
    }

    /**
     * Opens a file; reads go through the page cache if the file system does not support direct I/O.
     *
     * @param file an existing file
     * @return the open file
     * @throws LinuxException if it cannot be opened
     */
    public static DirectFile open(Path file) throws LinuxException {
        LinuxCalls calls = LinuxCalls.get();
        String path = file.toAbsolutePath().toString();
        try {
            return new DirectFile(calls, calls.open(path, O_RDONLY | O_CLOEXEC | direct(), 0), true);
        } catch (LinuxException refused) {
            if (refused.errno() != Errno.EINVAL) {
                throw refused;
            }
            return new DirectFile(calls, calls.open(path, O_RDONLY | O_CLOEXEC, 0), false);
        }
    }

    /** {@code O_DIRECT}, of {@code asm/fcntl.h}. */
    static int direct() {
        return "aarch64".equals(System.getProperty("os.arch")) ? 0x10000 : 0x4000;
    }

    int fd() {
        return fd;
    }

    /** {@return whether reads bypass the page cache} */
    public boolean isDirect() {
        return direct;
    }

    @Override
    public void close() {
        calls.close(fd);
    }
}
