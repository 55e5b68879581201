package io.github.roost.core.io.linux;

import java.io.IOException;

/** Thrown if a system call fails or does not exist on this system. The message names the call and the error. */
public final class LinuxException extends IOException {
    private static final long serialVersionUID = 1;

    /** The kernel's error number; 0 if no call was made. */
    private final int errno;

    private LinuxException(String message, int errno) {
        super(message);
        this.errno = errno;
    }

    LinuxException(String why) {
        this(why, 0);
    }

    /**
     * Returns an exception for a call that the kernel refused.
     *
     * @param call the name of the call
     * @param errno the error number, positive
     * @return the exception, to be thrown by the caller
     */
    public static LinuxException refused(String call, int errno) {
        return new LinuxException(call + ": " + Errno.name(errno), errno);
    }

    /** {@return the kernel's error number; 0 if no call was made} */
    public int errno() {
        return errno;
    }
}
