package io.github.roost.neighborhash;

import io.github.roost.neighborhash.kernel.BatchLookup;
import io.github.roost.neighborhash.kernel.BatchLookups;
import io.github.roost.neighborhash.kernel.KeyHash;
import io.github.roost.neighborhash.kernel.Slots;
import io.github.roost.neighborhash.spi.Readers;
import io.github.roost.vector.Vectors;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An off-heap hash table from longs to payloads of 52 bits, optimized for lookups: NeighborHash (Zhang et al., CIKM 2024). A
 * slot takes 16 bytes, and at most 81 % of the slots are in use; at 79 % the lookup of a key that is present touches 1.14 cache
 * lines on average. {@link #getAll} looks up many keys at once, and overlaps their cache misses.
 *
 * <p>One thread at a time writes. That thread may read through the table's own methods, which are the fastest; so may any number
 * of threads while no thread writes. A thread that reads concurrently with the writer uses a {@link Reader}. It sees the payload
 * of each key before or after a change of that key, never another key's. Readers take no lock and never wait. The writer waits for
 * lookups in progress when it moves a key that they might be reading, and when it rebuilds the table.
 *
 * <p>Every long can be a key. If keys were chosen to collide, the table rebuilds itself with a random hash seed, so that slots
 * cannot be predicted. A removed key's slot stays in use until the table is rebuilt, as a reader may be in it; the table is rebuilt
 * at the latest when the slots in use reach the maximum load.
 *
 * <p>A change that throws an {@link OutOfMemoryError} has changed nothing. After {@link #close} lookups and changes throw an
 * {@link IllegalStateException}.
 */
public final class NeighborHashMap implements AutoCloseable {
    /** The result for an absent key: -1, which is not a payload. */
    public static final long ABSENT = Slots.ABSENT;
    /** The maximum payload: 2^52 - 2. The minimum is 0. */
    public static final long MAX_PAYLOAD = Slots.REMOVED - 1;

    /** The maximum share of slots in use, in percent. It is the paper's, at which 12 bits of distance suffice. */
    private static final long MAX_LOAD = 81;

    private static final long MAX_EXPECTED = roomOf(Slots.MAX);

    /** Allocates slots. */
    @FunctionalInterface
    interface Memory {
        Slots allocate(long slots, long seed);
    }

    private final Memory memory;
    private final BatchLookup lookup;
    private final Readers readers = new Readers();
    private final Chains.Grace grace;
    /** The slots for readers. The writer uses {@link #slots}, a plain field that its loops need not reload. */
    private volatile Slots published;

    private Slots slots;
    private Chains chains;
    /** Slots that readers may still be in. */
    private @Nullable Slots retired;

    private long size;
    private long kicksBefore;
    private long rebuilds;
    private boolean isClosed;

    private NeighborHashMap(Builder builder) {
        this.memory = builder.memory;
        this.lookup = builder.lookup;
        this.grace = builder.grace.apply(readers::awaitThoseInside);
        this.slots = memory.allocate(slotsFor(builder.expected), builder.seed);
        this.published = slots;
        this.chains = new Chains(slots, grace);
    }

    /**
     * Creates a builder of a table.
     *
     * @param expected the expected number of keys, from 0 to about 8.9 * 10^11; with more keys the table grows, by doubling
     * @return a builder
     * @throws IllegalArgumentException if {@code expected} is out of range
     */
    public static Builder builder(long expected) {
        if (expected < 0 || expected > MAX_EXPECTED) {
            throw new IllegalArgumentException("expected must be between 0 and " + MAX_EXPECTED + ", got " + expected);
        }
        return new Builder(expected);
    }

    /**
     * The shard of a key, if keys are divided among several tables. It is independent of the key's slot inside a table: with the
     * same hash for both, each of s tables would use only one in s slots.
     *
     * @param key any key
     * @param shards the number of shards, 1 or more
     * @return from 0 to {@code shards} - 1, uniformly distributed
     * @throws IllegalArgumentException if {@code shards} is less than 1
     */
    public static int shard(long key, int shards) {
        Vectors.requireRange("shards", shards, 1, Integer.MAX_VALUE);
        return KeyHash.shard(key, shards);
    }

    /**
     * The payload of a key. For the writer, or any thread while no thread writes.
     *
     * @param key any key
     * @param absent the result for an absent key
     * @return its payload, or {@code absent}
     */
    public long get(long key, long absent) {
        long found = slots.find(key);
        return found == ABSENT ? absent : found;
    }

    /**
     * Finds the payloads of many keys, as {@link #get} does; {@link #ABSENT} for absent keys. For the writer, or any thread while
     * no thread writes. With a native lookup it takes half to a fifth of the time: {@code ./roost bench table}.
     *
     * @param keys longs in the machine's byte order; on or off heap
     * @param n the number of keys, 0 or more
     * @param payloads room for as many longs; must not overlap the keys
     * @return the number of keys present
     * @throws IllegalArgumentException if {@code n} is negative, a segment is smaller than {@code n} longs, they overlap, or
     *     {@code payloads} is read-only
     */
    public int getAll(MemorySegment keys, int n, MemorySegment payloads) {
        return find(slots, keys, n, payloads, false);
    }

    /**
     * {@link #getAll} concurrently with a writer that only replaces payloads of existing keys: no key moves, so no grace period and no {@link Reader}
     * is needed.
     *
     * @param keys see {@link #getAll}
     * @param n see {@link #getAll}
     * @param payloads see {@link #getAll}
     * @return the number of keys present
     */
    public int getAllBesideReplacing(MemorySegment keys, int n, MemorySegment payloads) {
        return find(published, keys, n, payloads, true);
    }

    private int find(Slots in, MemorySegment keys, int n, MemorySegment payloads, boolean isBesideWriter) {
        return BatchLookups.forBatch(lookup, in.count(), n, isBesideWriter).find(in, keys, n, payloads);
    }

    /**
     * Sets the payload of a key. For the writer.
     *
     * @param key any key
     * @param payload from 0 to {@link #MAX_PAYLOAD}
     * @return its previous payload, or {@link #ABSENT}
     * @throws IllegalArgumentException if the payload is out of range
     * @throws OutOfMemoryError if there is no memory to grow; nothing has changed
     */
    public long put(long key, long payload) {
        if (payload < 0 || payload > MAX_PAYLOAD) {
            throw new IllegalArgumentException("payload must be between 0 and " + MAX_PAYLOAD + ", got " + payload);
        }
        long slot = slots.slotOf(key);
        if (slot >= 0) {
            return replace(slot, payload);
        }
        if (chains.used() >= roomOf(slots.count())) {
            // If most slots in use are of removed keys, the same size leaves half of the room free.
            boolean isMostlyRemoved = size < roomOf(slots.count()) / 2;
            rebuild(isMostlyRemoved ? slots.count() : 2 * slots.count(), slots.seed());
        }
        while (!chains.add(key, payload)) {
            rebuild(slots.count(), ThreadLocalRandom.current().nextLong());
        }
        size++;
        return ABSENT;
    }

    private long replace(long slot, long payload) {
        long before = slots.payload(slot);
        slots.setPayload(slot, payload);
        if (before == Slots.REMOVED) {
            size++;
            return ABSENT;
        }
        return before;
    }

    /**
     * Removes a key. For the writer. Allocates no memory.
     *
     * @param key any key
     * @return its previous payload, or {@link #ABSENT}
     */
    public long remove(long key) {
        long slot = slots.slotOf(key);
        if (slot < 0 || slots.payload(slot) == Slots.REMOVED) {
            return ABSENT;
        }
        long before = slots.payload(slot);
        slots.setPayload(slot, Slots.REMOVED);
        size--;
        return before;
    }

    /** Receives keys and their payloads. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * Visits one key.
         *
         * @param key the key
         * @param payload its payload
         */
        void visit(long key, long payload);
    }

    /**
     * Visits every key once, in no particular order. For the writer, or any thread while no thread writes.
     *
     * @param visitor receives the keys; must not change the table
     */
    public void forEach(Visitor visitor) {
        for (long head = 0; head < slots.count(); head++) {
            // Follows chains: an error may have left a copy of a key in a slot that is in no chain.
            for (long slot = slots.isHost(head) ? head : -1; slot >= 0; slot = slots.next(slot)) {
                if (slots.payload(slot) != Slots.REMOVED) {
                    visitor.visit(slots.key(slot), slots.payload(slot));
                }
            }
        }
    }

    /**
     * The number of keys. For the writer, or any thread while no thread writes.
     *
     * @return the number of keys
     */
    public long size() {
        return size;
    }

    /**
     * The memory of the slots. For the writer, or any thread while no thread writes. While the table is rebuilt, the new slots are not counted.
     *
     * @return bytes, outside the Java heap
     */
    public long memoryBytes() {
        return slots.count() * Slots.SLOT_BYTES;
    }

    /**
     * The value of {@link #memoryBytes} after more keys have been put. For the writer, or any thread while no thread writes.
     *
     * @param more the number of absent keys to put, 0 or more
     * @return bytes, outside the Java heap; rarely the table needs more, because of collisions
     */
    public long memoryBytesWith(long more) {
        long count = slots.count();
        if (chains.used() + more <= roomOf(count) || size + more < roomOf(count) / 2) {
            return memoryBytes();
        }
        return Math.max(2 * count, slotsFor(size + more)) * Slots.SLOT_BYTES;
    }

    /**
     * Statistics of the table. For the writer, or any thread while no thread writes; visits every slot.
     *
     * @return the statistics as of now
     */
    public Stats stats() {
        return new Stats(
                size,
                slots.count(),
                ProbedLines.average(slots),
                chains.used() - size,
                kicksBefore + chains.kicks(),
                rebuilds);
    }

    /**
     * Creates a reader, for lookups concurrent with the writer. Can be called by any thread.
     *
     * @return a reader for one thread at a time; the caller closes it
     */
    public Reader reader() {
        return new Reader(this, readers.join());
    }

    /** Frees the memory, after lookups in progress have ended. For the writer. Idempotent. */
    @Override
    public void close() {
        if (!isClosed) {
            freeRetired();
            readers.awaitThoseInside();
            slots.close();
            isClosed = true;
        }
    }

    /** Moves all keys that are not removed into new slots. A failure changes nothing. */
    private void rebuild(long min, long firstSeed) {
        freeRetired();
        long seed = firstSeed;
        long count = min;
        while (true) {
            Slots fresh = memory.allocate(count, seed);
            boolean isDone = false;
            try {
                Chains filled = new Chains(fresh, grace);
                if (fill(filled)) {
                    publish(fresh, filled);
                    isDone = true;
                }
            } finally {
                if (!isDone) {
                    fresh.close();
                }
            }
            if (isDone) {
                freeRetired();
                return;
            }
            seed = ThreadLocalRandom.current().nextLong();
            count *= 2;
        }
    }

    private boolean fill(Chains filled) {
        for (long head = 0; head < slots.count(); head++) {
            for (long slot = slots.isHost(head) ? head : -1; slot >= 0; slot = slots.next(slot)) {
                if (slots.payload(slot) != Slots.REMOVED && !filled.add(slots.key(slot), slots.payload(slot))) {
                    return false;
                }
            }
        }
        return true;
    }

    private void publish(Slots fresh, Chains filled) {
        kicksBefore += chains.kicks();
        rebuilds++;
        retired = slots;
        chains = filled;
        slots = fresh;
        published = fresh;
    }

    /** Frees the previous slots, if they are not freed yet; an error may have prevented that when they were retired. */
    private void freeRetired() {
        if (retired != null) {
            readers.awaitThoseInside();
            retired.close();
            retired = null;
        }
    }

    /** The maximum number of keys in a number of slots. */
    private static long roomOf(long slots) {
        return slots * MAX_LOAD / 100;
    }

    private static long slotsFor(long keys) {
        long slots = Slots.MIN;
        while (roomOf(slots) < keys) {
            slots *= 2;
        }
        return slots;
    }

    /** The slots, for tests and measurements. */
    Slots slots() {
        return slots;
    }

    /**
     * Statistics of a table.
     *
     * @param size the number of keys
     * @param capacity the number of slots, of 16 bytes each
     * @param averageProbedLines the average number of cache lines that the lookup of a stored key touches, including removed keys; a line that a
     *     chain returns to counts once
     * @param removed the number of slots in use by removed keys
     * @param kicks the number of keys moved to make room for a key of another chain on their cache line, since the table was created
     * @param rebuilds how often all keys were moved to new slots, to grow or to drop removed keys or resolve collisions
     */
    public record Stats(long size, long capacity, double averageProbedLines, long removed, long kicks, long rebuilds) {}

    /**
     * Looks up keys concurrently with the writer. For one thread at a time. Each call has the cost of a read section, so {@link
     * #getAll} is better for several keys.
     */
    public static final class Reader implements AutoCloseable {
        private final NeighborHashMap table;
        private final AtomicLongArray cell;
        private boolean isClosed;

        private Reader(NeighborHashMap table, AtomicLongArray cell) {
            this.table = table;
            this.cell = cell;
        }

        /**
         * The payload of a key.
         *
         * @param key any key
         * @param absent the result for an absent key
         * @return its payload, or {@code absent}
         * @throws IllegalStateException if the reader or the table is closed
         */
        public long get(long key, long absent) {
            enter();
            try {
                long found = table.published.findBesideWriter(key);
                return found == ABSENT ? absent : found;
            } finally {
                Readers.exit(cell);
            }
        }

        /** The payload of a key, or {@link #ABSENT}, with an action between the two loads of each slot, for tests. */
        long get(long key, Runnable between) {
            enter();
            try {
                return table.published.findBesideWriter(key, between);
            } finally {
                Readers.exit(cell);
            }
        }

        /**
         * Finds the payloads of many keys, as {@link NeighborHashMap#getAll} does. The payload of each key is one that it had during the call.
         *
         * @param keys longs in the machine's byte order; on or off heap
         * @param n the number of keys, 0 or more
         * @param payloads room for as many longs; must not overlap the keys
         * @return the number of keys present
         * @throws IllegalArgumentException as {@link NeighborHashMap#getAll} does
         * @throws IllegalStateException if the reader or the table is closed
         */
        public int getAll(MemorySegment keys, int n, MemorySegment payloads) {
            enter();
            try {
                return table.find(table.published, keys, n, payloads, true);
            } finally {
                Readers.exit(cell);
            }
        }

        private void enter() {
            if (isClosed) {
                throw new IllegalStateException("the reader is closed");
            }
            Readers.enter(cell);
        }

        /** Closes the reader; it must not be in a call. Idempotent. */
        @Override
        public void close() {
            if (!isClosed) {
                isClosed = true;
                table.readers.leave(cell);
            }
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private final long expected;
        private long seed;
        private Memory memory = Slots::allocate;
        private BatchLookup lookup = BatchLookups.preferred();
        private UnaryOperator<Chains.Grace> grace = UnaryOperator.identity();

        private Builder(long expected) {
            this.expected = expected;
        }

        /**
         * Sets the seed of the hash; a secret seed makes collisions of keys unpredictable. The default is 0.
         *
         * @param newSeed any number
         * @return this builder
         */
        public Builder seed(long newSeed) {
            this.seed = newSeed;
            return this;
        }

        /** For tests of allocation failures. */
        Builder memory(Memory newMemory) {
            this.memory = newMemory;
            return this;
        }

        /** For tests of reads during a grace period, and without it. */
        Builder grace(UnaryOperator<Chains.Grace> newGrace) {
            this.grace = newGrace;
            return this;
        }

        /** For tests of every lookup. */
        Builder lookup(BatchLookup newLookup) {
            this.lookup = newLookup;
            return this;
        }

        /**
         * Creates an empty table.
         *
         * @return the table; the caller closes it
         * @throws OutOfMemoryError if there is not enough memory for the expected keys
         */
        public NeighborHashMap build() {
            return new NeighborHashMap(this);
        }
    }
}
