package io.github.roost.core.io;

/** So many searches read at once that no buffer is left for one more. */
public final class BlockBuffersExhaustedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Whether all buffers together are too few. */
    private final boolean isForGood;

    BlockBuffersExhaustedException(int wanted, int most, int inUse) {
        super("a search needs " + wanted + " buffers of 4 KiB, and " + inUse + " of its worker's " + most
                + " are in use: fewer searches at once, or a larger limit");
        this.isForGood = wanted > most;
    }

    /** {@return whether more buffers were asked for than there are, so that it is of no use to try again} */
    public boolean isForGood() {
        return isForGood;
    }
}
