package io.github.roost.index.remote;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown when remote memory cannot be read or written, or has invalid content. The message names the region and the problem. */
public class RemoteMemoryException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Makes an exception without a cause.
     *
     * @param region name of the region
     * @param what continues a sentence that begins with the region's name
     */
    public RemoteMemoryException(String region, String what) {
        super(region + " " + what);
    }

    /**
     * Makes an exception with a cause.
     *
     * @param region name of the region
     * @param what continues a sentence that begins with the region's name
     * @param cause the cause, or null
     */
    public RemoteMemoryException(String region, String what, @Nullable Throwable cause) {
        super(region + " " + what, cause);
    }
}
