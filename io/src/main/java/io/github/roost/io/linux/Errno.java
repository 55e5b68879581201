package io.github.roost.io.linux;

/** The error numbers of {@code asm-generic/errno-base.h} and {@code errno.h} that block I/O may return. Stateless. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EBUSY = 16;
    public static final int EINVAL = 22;
    public static final int ENOSPC = 28;
    public static final int ENOSYS = 38;
    public static final int ECANCELED = 125;

    private Errno() {}

    /**
     * Returns the name of an error.
     *
     * @param errno the error number, positive
     * @return its name and meaning, or its number if it is not known here
     */
    public static String name(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM (not permitted)";
            case 2 -> "ENOENT (no such file)";
            case EINTR -> "EINTR (interrupted)";
            case EIO -> "EIO (the device failed)";
            case 9 -> "EBADF (not an open file)";
            case EAGAIN -> "EAGAIN (try again)";
            case ENOMEM -> "ENOMEM (no memory, or the limit of locked memory)";
            case 13 -> "EACCES (permission denied)";
            case 14 -> "EFAULT (bad memory)";
            case EBUSY -> "EBUSY (busy)";
            case EINVAL -> "EINVAL (the kernel does not take this)";
            case 24 -> "EMFILE (too many open files)";
            case ENOSPC -> "ENOSPC (no space left)";
            case ENOSYS -> "ENOSYS (the kernel has no such call)";
            case 61 -> "ENODATA (the medium has lost it)";
            case 84 -> "EILSEQ (the device's checksum is wrong)";
            case ECANCELED -> "ECANCELED (cancelled)";
            default -> "errno " + errno;
        };
    }

    /**
     * Returns whether a retry after this error may succeed.
     *
     * @param errno the error number, positive
     * @return whether the error is transient
     */
    public static boolean isTransient(int errno) {
        return errno == EINTR || errno == EAGAIN || errno == EBUSY || errno == ECANCELED;
    }
}
