package io.github.roost.index.remote;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Remote memory could not be read or written, or holds something else than it should. The message names the region and what is
 * wrong.
 */
public class RemoteMemoryException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Says what is wrong.
     *
     * @param region name of the region
     * @param what continues a sentence that begins with the region's name
     */
    public RemoteMemoryException(String region, String what) {
        super(region + " " + what);
    }

    /**
     * Says what is wrong and why.
     *
     * @param region name of the region
     * @param what continues a sentence that begins with the region's name
     * @param cause what it comes of, or null
     */
    public RemoteMemoryException(String region, String what, @Nullable Throwable cause) {
        super(region + " " + what, cause);
    }
}
