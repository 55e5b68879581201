package io.github.roost.table.kernel;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The memory of a hash table: 2^n slots of 16 bytes, four to a cache line, each a key and a word. A word is 12 bits of
 * <i>step</i>, the signed distance to the next slot of the chain plus 2,048, over 52 bits of payload; so a word of 0 is a free
 * slot, and zeroed memory an empty table. Distances wrap around at the end of the memory.
 *
 * <p>One thread writes, any number read. When a slot may be used again, and why a reader never takes another key's payload, is
 * told at {@code Chains}. What is kept here is the order of accesses that this rests on:
 * <ul>
 *   <li>a reader reads a slot's key, then its word, both with acquire;
 *   <li>a writer writes a slot's word, then its key with release, and then has a chain lead to it with release;
 *   <li>the key in a free slot never belongs into that slot: so a reader that finds its key where the key belongs has found a
 *       slot in use, without looking whether it is free.
 * </ul>
 */
public final class Slots implements AutoCloseable {
    /** Bytes of a slot. */
    public static final int SLOT_BYTES = 16;
    /** Slots of a cache line. */
    public static final int LINE_SLOTS = 4;
    /** The farthest that the next slot of a chain can be. */
    public static final int REACH = 2_047;
    /** The least slots there can be. */
    public static final long LEAST = 16;
    /** The most slots there can be: 2^40 of them take a sixteenth of 48 bits of addresses. */
    public static final long MOST = 1L << 40;
    /** What is found for a key that is not there; payloads are not negative. */
    public static final long ABSENT = -1;
    /** The payload of a key that has been removed: the largest of 52 bits. */
    public static final long REMOVED = (1L << 52) - 1;

    /** Slots from this size on ask for huge pages: two of them, as less would leave much of the last one unused. */
    private static final long HUGE_FROM_BYTES = 4L << 20;
    /** From this size on the system has the memory back as soon as it is freed. */
    private static final long MAPPED_FROM_BYTES = 64L << 10;

    private static final int CACHE_LINE = 64;
    private static final int STEP_SHIFT = 52;
    private static final int STEP_BIAS = 2_048;
    private static final long PAYLOAD_BITS = (1L << STEP_SHIFT) - 1;
    /** All of them zero in the word of a free slot and of the last one of a chain, and in no other. */
    private static final long NEXT_BITS = (STEP_BIAS - 1L) << STEP_SHIFT;

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    final MemorySegment memory;
    final long seed;
    final int shift;
    private final long mask;
    private final Arena arena;

    private Slots(MemorySegment memory, long seed, Arena arena) {
        this.memory = memory;
        this.seed = seed;
        this.mask = memory.byteSize() / SLOT_BYTES - 1;
        this.shift = Long.numberOfLeadingZeros(mask);
        this.arena = arena;
        // The one slot where a key of zeroed memory belongs.
        long stranger = 1;
        while (bucket(stranger) == bucket(0)) {
            stranger++;
        }
        memory.set(JAVA_LONG, keyAt(bucket(0)), stranger);
    }

    /**
     * Free slots, on huge pages where they are many and the system gives them.
     *
     * @param slots a power of two from {@link #LEAST} to {@link #MOST}
     * @param seed with another one every key belongs elsewhere
     * @throws OutOfMemoryError if there is no memory for so many; nothing is left behind
     */
    public static Slots allocate(long slots, long seed) {
        if (slots < LEAST || slots > MOST || Long.bitCount(slots) != 1) {
            throw new IllegalArgumentException(
                    "slots must be a power of two between " + LEAST + " and " + MOST + ", got " + slots);
        }
        long bytes = slots * SLOT_BYTES;
        Arena arena = Arena.ofShared();
        boolean done = false;
        try {
            MemorySegment memory = memory(bytes, arena);
            Slots allocated = new Slots(memory, seed, arena);
            done = true;
            return allocated;
        } finally {
            if (!done) {
                arena.close();
            }
        }
    }

    private static MemorySegment memory(long bytes, Arena arena) {
        if (bytes < MAPPED_FROM_BYTES) {
            return arena.allocate(bytes, CACHE_LINE);
        }
        return bytes < HUGE_FROM_BYTES
                ? DomainMemory.allocateUncounted(bytes, arena)
                : DomainMemory.allocate(bytes, arena).segment();
    }

    /** How many slots there are. */
    public long count() {
        return mask + 1;
    }

    /** With another seed every key belongs elsewhere. */
    public long seed() {
        return seed;
    }

    /** The slot where a key belongs. */
    public long bucket(long key) {
        return KeyHash.slotHash(key, seed) >>> shift;
    }

    /**
     * The payload of a key, or {@link #ABSENT}, while nobody writes. Most keys are where they belong: that is looked at by
     * itself, so that little else stands in the loop of a caller, and the CPU gets to its next keys while this one's cache line
     * comes.
     *
     * <p>What takes fewer branches was slower: with the first two slots compared by arithmetic, .85 times the lookups in 256 KiB and half in
     * 256 MiB, as a second load that waits for the first one fills the CPU with what cannot go on; with only the second so, .75 and .6
     * times. Without the checks of bounds and of whether the memory is there, .83 times in 256 KiB. All on a Zen 3.
     *
     * @throws IllegalStateException if the slots are closed
     */
    public long find(long key) {
        long head = bucket(key);
        return key(head) == key ? found(word(head)) : findAfter(head, key);
    }

    private long findAfter(long head, long key) {
        for (long slot = next(head); slot >= 0; slot = next(slot)) {
            if (key(slot) == key) {
                return found(word(slot));
            }
        }
        return ABSENT;
    }

    /**
     * {@link #find} beside a writer, half to two thirds as fast: no load may be moved before another one.
     *
     * @throws IllegalStateException if the slots are closed
     */
    public long findBesideWriter(long key) {
        return findBesideWriter(key, Slots::nothing);
    }

    private static void nothing() {
        // Between the two loads of a slot there is nothing to do, but in tests.
    }

    /**
     * {@link #findBesideWriter(long)} with something that happens between the two loads of each slot, for tests of what a writer does there. As a constant that does
     * nothing it costs nothing.
     */
    public long findBesideWriter(long key, Runnable between) {
        long slot = bucket(key);
        while (true) {
            boolean isHere = (long) WORD.getAcquire(memory, keyAt(slot)) == key;
            between.run();
            long word = (long) WORD.getAcquire(memory, wordAt(slot));
            if (isHere) {
                return found(word);
            }
            if ((word & NEXT_BITS) == 0) {
                return ABSENT;
            }
            slot = slot + step(word) & mask;
        }
    }

    private static long found(long word) {
        long payload = word & PAYLOAD_BITS;
        return payload == REMOVED ? ABSENT : payload;
    }

    /** The slot that holds a key, also one that has been removed, or {@link #ABSENT}. For the writer. */
    public long slotOf(long key) {
        long slot = bucket(key);
        while (key(slot) != key) {
            slot = next(slot);
            if (slot < 0) {
                return ABSENT;
            }
        }
        return slot;
    }

    /** Whether no key has been put into a slot. */
    public boolean isFree(long slot) {
        return word(slot) == 0;
    }

    /** The key in a slot, which means nothing in a free one. */
    public long key(long slot) {
        return memory.get(JAVA_LONG, keyAt(slot));
    }

    /** The payload in a slot, {@link #REMOVED} if its key has been removed. */
    public long payload(long slot) {
        return word(slot) & PAYLOAD_BITS;
    }

    /** The next slot of a slot's chain, or -1 for its last one and for a free slot. */
    public long next(long slot) {
        long word = word(slot);
        return (word & NEXT_BITS) == 0 ? -1 : slot + step(word) & mask;
    }

    /** Whether a slot holds a key that belongs there: then a chain begins there. */
    public boolean isHost(long slot) {
        return !isFree(slot) && bucket(key(slot)) == slot;
    }

    /** Whether one slot of a chain can be followed by another. */
    public boolean reaches(long from, long to) {
        return Math.abs(distance(from, to)) <= REACH;
    }

    /** The slot at a distance from another. */
    public long at(long slot, long distance) {
        return slot + distance & mask;
    }

    /** The number of a slot's cache line. */
    public static long line(long slot) {
        return slot / LINE_SLOTS;
    }

    /**
     * Puts a key into a slot of which no chain leads to.
     *
     * @param next the next slot of its chain, or -1 for none
     */
    public void fill(long slot, long key, long payload, long next) {
        WORD.setOpaque(memory, wordAt(slot), word(slot, payload, next));
        WORD.setRelease(memory, keyAt(slot), key);
    }

    /** Has a chain go on from a slot to another. */
    public void link(long slot, long next) {
        WORD.setRelease(memory, wordAt(slot), word(slot, payload(slot), next));
    }

    /** Gives the key in a slot another payload. */
    public void setPayload(long slot, long payload) {
        WORD.setRelease(memory, wordAt(slot), (word(slot) & ~PAYLOAD_BITS) | payload);
    }

    /**
     * Frees the memory; whoever uses the slots from now on gets an {@link IllegalStateException}.
     *
     * @throws IllegalStateException if they have been closed, or a native lookup is reading them
     */
    @Override
    public void close() {
        arena.close();
    }

    /** Of two ways around from one slot to another the shorter one. */
    private long distance(long from, long to) {
        long half = count() / 2;
        return (to - from + half & mask) - half;
    }

    private long word(long slot) {
        return memory.get(JAVA_LONG, wordAt(slot));
    }

    private long word(long slot, long payload, long next) {
        long step = next < 0 ? 0 : distance(slot, next);
        return (step + STEP_BIAS) << STEP_SHIFT | payload;
    }

    private static long step(long word) {
        return (word >>> STEP_SHIFT) - STEP_BIAS;
    }

    private static long keyAt(long slot) {
        return slot * SLOT_BYTES;
    }

    private static long wordAt(long slot) {
        return slot * SLOT_BYTES + Long.BYTES;
    }
}
