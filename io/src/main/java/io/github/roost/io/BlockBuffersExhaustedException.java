package io.github.roost.io;

/** Thrown if a search needs more buffers than its worker has free. */
public final class BlockBuffersExhaustedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Whether the search needs more buffers than the worker may have. */
    private final boolean isForGood;

    BlockBuffersExhaustedException(int wanted, int max, int inUse) {
        super("a search needs " + wanted + " buffers of 4 KiB, and " + inUse + " of its worker's " + max
                + " are in use: fewer searches at once, or a larger limit");
        this.isForGood = wanted > max;
    }

    /** {@return whether the search needs more buffers than the worker may have, so that a retry is futile} */
    public boolean isForGood() {
        return isForGood;
    }
}
