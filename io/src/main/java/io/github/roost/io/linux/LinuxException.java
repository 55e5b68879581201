package io.github.roost.io.linux;

import io.github.roost.topology.system.NativeAccess;
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

    /** The JVM does not let this module call native functions. The message names the JVM argument that allows it. */
    static LinuxException denied(IllegalCallerException cause) {
        LinuxException denied = new LinuxException(NativeAccess.denied("core", LinuxException.class));
        denied.initCause(cause);
        return denied;
    }

    /** {@return the kernel's error number; 0 if no call was made} */
    public int errno() {
        return errno;
    }
}
