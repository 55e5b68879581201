package io.github.roost.core.io.linux;

import java.io.IOException;

/** A system call that failed, or that this system does not have. The message names the call and the error. */
public final class LinuxException extends IOException {
    private static final long serialVersionUID = 1;

    /** The kernel's number, 0 where there was no call. */
    private final int errno;

    private LinuxException(String message, int errno) {
        super(message);
        this.errno = errno;
    }

    LinuxException(String why) {
        this(why, 0);
    }

    /**
     * A call that the kernel refused.
     *
     * @param call its name
     * @param errno the error, positive
     * @return to be thrown
     */
    public static LinuxException refused(String call, int errno) {
        return new LinuxException(call + ": " + Errno.name(errno), errno);
    }

    /** {@return the kernel's number of the error, 0 where no call was made} */
    public int errno() {
        return errno;
    }
}
