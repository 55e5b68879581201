package io.github.roost.neighborhash.kernel;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The memory of a hash table: 2^n slots of 16 bytes, four per cache line, each a key and a word. The upper 12 bits of a word are
 * the <i>step</i>, the signed distance to the next slot of the chain plus 2,048; the lower 52 bits are the payload. So a word of 0
 * is a free slot, and zeroed memory is an empty table. Distances wrap around at the end of the memory.
 *
 * <p>One thread writes, any number read. {@code Chains} explains when a slot may be reused, and why a reader never takes another
 * key's payload. This class guarantees the order of accesses that the explanation relies on:
 * <ul>
 *   <li>a reader reads a slot's key, then its word, both with acquire;
 *   <li>a writer writes a slot's word, then its key with release, and then links a chain to it with release;
 *   <li>the key in a free slot never has that slot as its home: so a reader that finds its key in the key's home has found a slot
 *       in use, and need not check whether it is free.
 * </ul>
 */
public final class Slots implements AutoCloseable {
    /** Bytes per slot. */
    public static final int SLOT_BYTES = 16;
    /** Slots per cache line. */
    public static final int LINE_SLOTS = 4;
    /** The maximum distance to the next slot of a chain, in slots. */
    public static final int REACH = 2_047;
    /** The minimum number of slots. */
    public static final long MIN = 16;
    /** The maximum number of slots; 2^40 slots take a sixteenth of a 48-bit address space. */
    public static final long MAX = 1L << 40;
    /** The result for an absent key; payloads are not negative. */
    public static final long ABSENT = -1;
    /** The payload of a removed key: the largest 52-bit number. */
    public static final long REMOVED = (1L << 52) - 1;

    /** Slots of at least this size, two huge pages, request huge pages; with less, much of the last page would be unused. */
    private static final long HUGE_FROM_BYTES = 4L << 20;
    /** Slots of at least this size are mapped, so that freed memory returns to the system at once. */
    private static final long MAPPED_FROM_BYTES = 64L << 10;

    private static final int CACHE_LINE = 64;
    private static final int STEP_SHIFT = 52;
    private static final int STEP_BIAS = 2_048;
    private static final long PAYLOAD_BITS = (1L << STEP_SHIFT) - 1;
    /** The bits that are all zero in the word of a free slot and of the last slot of a chain, and in no other word. */
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
        // Zeroed memory has key 0 in every free slot, so the home of key 0 needs another key.
        long stranger = 1;
        while (bucket(stranger) == bucket(0)) {
            stranger++;
        }
        memory.set(JAVA_LONG, keyAt(bucket(0)), stranger);
    }

    /**
     * Allocates free slots; large ones are on huge pages if the system provides them.
     *
     * @param slots the number of slots, a power of two from {@link #MIN} to {@link #MAX}
     * @param seed the seed of the hash, which determines the home of every key
     * @throws OutOfMemoryError if there is not enough memory; nothing leaks
     */
    public static Slots allocate(long slots, long seed) {
        if (slots < MIN || slots > MAX || Long.bitCount(slots) != 1) {
            throw new IllegalArgumentException(
                    "slots must be a power of two between " + MIN + " and " + MAX + ", got " + slots);
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
                : DomainMemory.allocate(bytes, arena);
    }

    /** The number of slots. */
    public long count() {
        return mask + 1;
    }

    /** The seed of the hash, which determines the home of every key. */
    public long seed() {
        return seed;
    }

    /** The home of a key: the slot of its hash. */
    public long bucket(long key) {
        return KeyHash.slotHash(key, seed) >>> shift;
    }

    /**
     * The payload of a key, or {@link #ABSENT}. Must not run concurrently with a writer. Most keys are in their home; that case comes
     * first, so that the CPU reaches the next keys while this key's cache line is loaded. The rest of the chain is not in a method of
     * its own: where nearly all keys were in their homes at first, C2 would not inline it, and tables with longer chains would have
     * two thirds of the throughput from then on.
     *
     * <p>Variants with fewer branches were slower, on a Zen 3. Comparing the first two slots by arithmetic gave 0.85 times the throughput in
     * 256 KiB and half in 256 MiB, because a second load that depends on the first fills the CPU with instructions that cannot proceed;
     * comparing only the second slot so gave 0.75 and 0.6 times. Without bounds and liveness checks it was 0.83 times in 256 KiB.
     *
     * @throws IllegalStateException if the slots are closed
     */
    public long find(long key) {
        long head = bucket(key);
        if (key(head) == key) {
            return found(word(head));
        }
        for (long slot = next(head); slot >= 0; slot = next(slot)) {
            if (key(slot) == key) {
                return found(word(slot));
            }
        }
        return ABSENT;
    }

    /**
     * {@link #find} concurrently with a writer, at half to two thirds of its speed: loads are ordered by acquire.
     *
     * @throws IllegalStateException if the slots are closed
     */
    public long findBesideWriter(long key) {
        return findBesideWriter(key, Slots::nothing);
    }

    private static void nothing() {
        // Only tests do something between the two loads of a slot.
    }

    /**
     * {@link #findBesideWriter(long)} with an action between the two loads of each slot, so that tests can write there. A constant action that does
     * nothing costs nothing.
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

    /** The slot that holds a key, even if the key is removed, or {@link #ABSENT}. For the writer. */
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

    /** The key in a slot; meaningless for a free slot. */
    public long key(long slot) {
        return memory.get(JAVA_LONG, keyAt(slot));
    }

    /** The payload in a slot, {@link #REMOVED} if its key is removed. */
    public long payload(long slot) {
        return word(slot) & PAYLOAD_BITS;
    }

    /** The next slot of a slot's chain, or -1 for its last slot and for a free slot. */
    public long next(long slot) {
        long word = word(slot);
        return (word & NEXT_BITS) == 0 ? -1 : slot + step(word) & mask;
    }

    /** Whether a slot is the home of its key; then it is the head of a chain. */
    public boolean isHost(long slot) {
        return !isFree(slot) && bucket(key(slot)) == slot;
    }

    /** Whether {@code to} can follow {@code from} in a chain. */
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
     * Writes a key into a slot that no chain leads to.
     *
     * @param next the next slot of its chain, or -1 for none
     */
    public void fill(long slot, long key, long payload, long next) {
        WORD.setOpaque(memory, wordAt(slot), word(slot, payload, next));
        WORD.setRelease(memory, keyAt(slot), key);
    }

    /** Links a slot to the next slot of its chain. */
    public void link(long slot, long next) {
        WORD.setRelease(memory, wordAt(slot), word(slot, payload(slot), next));
    }

    /** Replaces the payload of the key in a slot. */
    public void setPayload(long slot, long payload) {
        WORD.setRelease(memory, wordAt(slot), (word(slot) & ~PAYLOAD_BITS) | payload);
    }

    /**
     * Frees the memory; later uses throw an {@link IllegalStateException}.
     *
     * @throws IllegalStateException if the slots are closed already, or a native lookup is reading them
     */
    @Override
    public void close() {
        arena.close();
    }

    /** The signed distance between two slots, the shorter way around. */
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
