package io.github.roost.index.remote.format;

/**
 * The word that allocates the slots of a pair's two logs. A slot is never allocated twice, so a writer that was given up as lost cannot overwrite
 * another writer's record. Immutable.
 *
 * <p>Why a stopped writer never writes to memory that has another use by then: it writes to slots that it has allocated, and it can allocate them
 * only until a take-over changes the fence, as it knows the fence from tails that it read while it had the lease. If at the take-over slots are
 * allocated beyond the tails, which the take-over has fenced off before, a stopped writer may still write to them; then the word is marked
 * {@code abandoned}, and {@link PairPublication} never reuses the block of the pair. Slots below the tails that were never published were beyond
 * them at an earlier take-over of the same generation, which left the mark.
 *
 * @param fence the lower bits of {@link LogTails#fence}, 15 bits
 * @param abandoned whether a lost writer may still write to slots
 * @param generation generation of the pair that the logs belong to, 16 bits
 * @param even slots allocated to the even partition, from the gap's start
 * @param odd slots allocated to the odd partition, from the gap's end
 */
public record LogSlots(int fence, boolean abandoned, int generation, int even, int odd) {
    private static final int MASK = 0xffff;
    private static final int FENCE = 0x7fff;

    /** The slots of logs without unpublished ones. */
    public static LogSlots of(LogTails tails) {
        return new LogSlots(tails.fence() & FENCE, false, tails.generation(), tails.even(), tails.odd());
    }

    public static LogSlots of(long word) {
        return new LogSlots(
                (int) (word >>> 48) & FENCE,
                word < 0,
                (int) (word >>> 32) & MASK,
                (int) (word >>> 16) & MASK,
                (int) word & MASK);
    }

    public long word() {
        return (abandoned ? Long.MIN_VALUE : 0)
                | (long) fence << 48
                | (long) generation << 32
                | (long) even << 16
                | odd;
    }

    public int of(int partition) {
        return partition % 2 == 0 ? even : odd;
    }

    public LogSlots next(int partition) {
        return partition % 2 == 0
                ? new LogSlots(fence, abandoned, generation, even + 1, odd)
                : new LogSlots(fence, abandoned, generation, even, odd + 1);
    }

    public int all() {
        return even + odd;
    }

    /** Whether a writer that knows these tails may allocate slots. */
    public boolean areOf(LogTails tails) {
        return generation == tails.generation() && fence == (tails.fence() & FENCE);
    }

    /**
     * These slots with the fence of the tails, written by a writer that takes over.
     *
     * @param tails as they are after they were {@linkplain LogTails#fenced fenced}
     */
    public LogSlots fenced(LogTails tails) {
        if (generation != tails.generation()) {
            return this;
        }
        boolean unpublished = even > tails.even() || odd > tails.odd();
        return new LogSlots(tails.fence() & FENCE, abandoned || unpublished, generation, even, odd);
    }
}
