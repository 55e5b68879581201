package io.github.roost.table;

import io.github.roost.core.Vectors;
import io.github.roost.table.kernel.BatchLookup;
import io.github.roost.table.kernel.BatchLookups;
import io.github.roost.table.kernel.KeyHash;
import io.github.roost.table.kernel.Slots;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A hash table from longs to payloads of 52 bits, off-heap, built to be looked up: NeighborHash (Zhang et al., CIKM 2024). A
 * slot takes 16 bytes, and at most 81 % of the slots are in use; at 79 % a lookup of a key that is there touches 1.14 cache
 * lines on average. {@link #getAll} looks many keys up at once, and waits for no cache miss.
 *
 * <p>One thread at a time writes, and that thread may read through the table's own methods, which are the fastest; any number of
 * threads may, while nobody writes. A thread that reads beside the writer has a {@link Reader}. It sees of every key the payload
 * before or after a change of that key, never another key's. Readers take no lock and never wait; the writer waits for lookups
 * that have begun, where it moves a key that they might be looking at, and where it grows.
 *
 * <p>Every long can be a key. Keys that were chosen to collide make one table rebuild itself, with places for all keys that cannot be
 * foreseen. A removed key's slot stays in use until the table is rebuilt, which it is at the latest when as many keys have been
 * added as it has room for: a slot that a reader may be at cannot simply be filled again.
 *
 * <p>An {@link OutOfMemoryError} of a change has changed nothing. Used after it was closed, a table throws an {@link
 * IllegalStateException}.
 */
public final class LongTable implements AutoCloseable {
    /** What there is for a key that is not there: -1, which is no payload. */
    public static final long ABSENT = Slots.ABSENT;
    /** The largest payload: 2^52 - 2. The least is 0. */
    public static final long MAX_PAYLOAD = Slots.REMOVED - 1;

    /** Of the slots, in hundredths. The paper's, at which 12 bits of distance are enough. */
    private static final long MAX_LOAD = 81;

    private static final long MAX_EXPECTED = roomOf(Slots.MOST);

    /** Allocates slots. */
    @FunctionalInterface
    interface Memory {
        Slots allocate(long slots, long seed);
    }

    private final Memory memory;
    private final BatchLookup lookup;
    private final Readers readers = new Readers();
    private final Chains.Grace grace;
    /** What readers read; the writer has it in {@link #slots}, too, as a field that its loops need not load again. */
    private volatile Slots published;

    private Slots slots;
    private Chains chains;
    /** Slots that readers may still be in. */
    private @Nullable Slots retired;

    private long size;
    private long kicksBefore;
    private long rebuilds;
    private boolean isClosed;

    private LongTable(Builder builder) {
        this.memory = builder.memory;
        this.lookup = builder.lookup;
        this.grace = builder.grace.apply(readers::awaitThoseInside);
        this.slots = memory.allocate(slotsFor(builder.expected), builder.seed);
        this.published = slots;
        this.chains = new Chains(slots, grace);
    }

    /**
     * What a table begins with.
     *
     * @param expected how many keys there will be, from 0 to some 8.9 * 10^11; with more the table grows, by doubling
     * @return to make a table with
     * @throws IllegalArgumentException if {@code expected} is out of range
     */
    public static Builder builder(long expected) {
        if (expected < 0 || expected > MAX_EXPECTED) {
            throw new IllegalArgumentException("expected must be between 0 and " + MAX_EXPECTED + ", got " + expected);
        }
        return new Builder(expected);
    }

    /**
     * Which of several tables a key is for, where keys are divided among them. That tells nothing of the key's place inside a
     * table: with the same hash for both, each of s tables would fill but one of s slots.
     *
     * @param key any
     * @param shards how many tables, 1 or more
     * @return from 0 to {@code shards} - 1, as likely one as the other
     * @throws IllegalArgumentException if there are no shards
     */
    public static int shard(long key, int shards) {
        Vectors.requireRange("shards", shards, 1, Integer.MAX_VALUE);
        return KeyHash.shard(key, shards);
    }

    /**
     * The payload of a key. By the writer, or while nobody writes.
     *
     * @param key any
     * @param absent what is returned for a key that is not there
     * @return its payload, or {@code absent}
     */
    public long get(long key, long absent) {
        long found = slots.find(key);
        return found == ABSENT ? absent : found;
    }

    /**
     * The payloads of many keys, each as {@link #get} would find it; {@link #ABSENT} for those that are not there. By the
     * writer, or while nobody writes. Natively that takes half to a fifth of the time: {@code ./roost bench table}.
     *
     * @param keys longs of the machine's byte order; on the heap or off it
     * @param n how many keys, 0 or more
     * @param payloads room for as many longs; must not overlap the keys
     * @return how many of the keys are there
     * @throws IllegalArgumentException if {@code n} is negative, a segment is smaller than {@code n} longs, they overlap, or
     *     payloads cannot be written
     */
    public int getAll(MemorySegment keys, int n, MemorySegment payloads) {
        return find(slots, keys, n, payloads, false);
    }

    /**
     * {@link #getAll} beside a writer that does nothing but give keys that are there other payloads: none of them moves, so the writer need not know who
     * reads.
     */
    int getAllBesideReplacing(MemorySegment keys, int n, MemorySegment payloads) {
        return find(published, keys, n, payloads, true);
    }

    private int find(Slots in, MemorySegment keys, int n, MemorySegment payloads, boolean isBesideWriter) {
        return BatchLookups.forBatch(lookup, in.count(), n, isBesideWriter).find(in, keys, n, payloads);
    }

    /**
     * Gives a key a payload. By the writer.
     *
     * @param key any
     * @param payload from 0 to {@link #MAX_PAYLOAD}
     * @return the payload that it had, or {@link #ABSENT}
     * @throws IllegalArgumentException if the payload is out of range
     * @throws OutOfMemoryError if there is no memory to grow; the table is as it was
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
            // Half of the room is enough to come, if most slots in use are of keys that are gone.
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
     * Takes a key out. By the writer. Needs no memory.
     *
     * @param key any
     * @return the payload that it had, or {@link #ABSENT}
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

    /** Told of a key and its payload. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * One key.
         *
         * @param key the key
         * @param payload its payload
         */
        void visit(long key, long payload);
    }

    /**
     * Visits every key once, in no order that means anything. By the writer, or while nobody writes.
     *
     * @param visitor is told; must not change the table
     */
    public void forEach(Visitor visitor) {
        for (long head = 0; head < slots.count(); head++) {
            // By chains: in a slot that is in none an error may have left what is elsewhere, too.
            for (long slot = slots.isHost(head) ? head : -1; slot >= 0; slot = slots.next(slot)) {
                if (slots.payload(slot) != Slots.REMOVED) {
                    visitor.visit(slots.key(slot), slots.payload(slot));
                }
            }
        }
    }

    /**
     * How many keys there are. By the writer, or while nobody writes.
     *
     * @return the number of keys
     */
    public long size() {
        return size;
    }

    /**
     * Memory of the slots. By the writer, or while nobody writes; while the table grows, that of the slots that it has so far.
     *
     * @return bytes, outside the Java heap
     */
    public long memoryBytes() {
        return slots.count() * Slots.SLOT_BYTES;
    }

    /**
     * What {@link #memoryBytes} will be once more keys have been put. By the writer, or while nobody writes.
     *
     * @param more keys that are not there, 0 or more
     * @return bytes, outside the Java heap; more where keys happen to fall so that they need another table, which is rare
     */
    public long memoryBytesWith(long more) {
        long count = slots.count();
        if (chains.used() + more <= roomOf(count) || size + more < roomOf(count) / 2) {
            return memoryBytes();
        }
        return Math.max(2 * count, slotsFor(size + more)) * Slots.SLOT_BYTES;
    }

    /**
     * What the table is like. By the writer, or while nobody writes; visits every slot.
     *
     * @return as of now
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
     * A new reader, for lookups beside the writer. By any thread.
     *
     * @return to be used by one thread at a time, and closed
     */
    public Reader reader() {
        return new Reader(this, readers.join());
    }

    /** Frees the memory, once lookups that have begun are through. By the writer; again without effect. */
    @Override
    public void close() {
        if (!isClosed) {
            freeRetired();
            readers.awaitThoseInside();
            slots.close();
            isClosed = true;
        }
    }

    /** Moves all keys that are there into fresh slots. What fails has changed nothing. */
    private void rebuild(long least, long firstSeed) {
        freeRetired();
        long seed = firstSeed;
        long count = least;
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

    /** Frees slots that were in use before. An error may have kept that from happening when they were retired. */
    private void freeRetired() {
        if (retired != null) {
            readers.awaitThoseInside();
            retired.close();
            retired = null;
        }
    }

    /** How many keys so many slots have room for. */
    private static long roomOf(long slots) {
        return slots * MAX_LOAD / 100;
    }

    private static long slotsFor(long keys) {
        long slots = Slots.LEAST;
        while (roomOf(slots) < keys) {
            slots *= 2;
        }
        return slots;
    }

    /** The slots, for tests and for who counts more of them. */
    Slots slots() {
        return slots;
    }

    /**
     * What a table is like.
     *
     * @param size keys
     * @param capacity slots, of 16 bytes each
     * @param averageProbedLines cache lines that the lookup of a key touches, on average over the keys that are there; a line that a
     *     chain comes back to counts once
     * @param removed slots in use by keys that have been removed
     * @param kicks keys that were moved so that one of another chain could live on its line, since the table was made
     * @param rebuilds how often all keys were moved to fresh slots, to grow or to be rid of removed ones or of collisions
     */
    public record Stats(long size, long capacity, double averageProbedLines, long removed, long kicks, long rebuilds) {}

    /**
     * Looks keys up beside the writer. For one thread at a time. Each call enters and leaves, so keys that are
     * wanted together are best asked for by {@link #getAll}.
     */
    public static final class Reader implements AutoCloseable {
        private final LongTable table;
        private final AtomicLongArray cell;
        private boolean isClosed;

        private Reader(LongTable table, AtomicLongArray cell) {
            this.table = table;
            this.cell = cell;
        }

        /**
         * The payload of a key.
         *
         * @param key any
         * @param absent what is returned for a key that is not there
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

        /** The payload of a key, or {@link #ABSENT}, with something that happens between the two loads of each slot: for tests. */
        long get(long key, Runnable between) {
            enter();
            try {
                return table.published.findBesideWriter(key, between);
            } finally {
                Readers.exit(cell);
            }
        }

        /**
         * The payloads of many keys, as {@link LongTable#getAll} finds them. Each key's is one it had during the call.
         *
         * @param keys longs of the machine's byte order; on the heap or off it
         * @param n how many keys, 0 or more
         * @param payloads room for as many longs; must not overlap the keys
         * @return how many of the keys are there
         * @throws IllegalArgumentException as {@link LongTable#getAll} does
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

        /** Ends it: the writer waits for it no more. Again without effect. */
        @Override
        public void close() {
            if (!isClosed) {
                isClosed = true;
                table.readers.leave(cell);
            }
        }
    }

    /** What a table begins with. */
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
         * Gives every key another place, so that nobody can foresee which keys collide. 0 if it is not called.
         *
         * @param newSeed any
         * @return this
         */
        public Builder seed(long newSeed) {
            this.seed = newSeed;
            return this;
        }

        /** For tests of what fails. */
        Builder memory(Memory newMemory) {
            this.memory = newMemory;
            return this;
        }

        /** For tests of what readers see without the wait for them, and during it. */
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
         * Makes an empty table.
         *
         * @return to be closed
         * @throws OutOfMemoryError if there is no memory for the keys expected
         */
        public LongTable build() {
            return new LongTable(this);
        }
    }
}
