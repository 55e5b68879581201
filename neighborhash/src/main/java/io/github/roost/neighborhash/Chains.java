package io.github.roost.neighborhash;

import io.github.roost.neighborhash.kernel.Slots;

/**
 * Inserts keys into slots so that a lookup touches few cache lines: NeighborHash (Zhang et al., An Enhanced Batch Query
 * Architecture in Real-time Recommendation, CIKM 2024), which is coalesced hashing without a cellar. A key's home is the
 * slot of its hash. The key stored in its home is a <i>host</i>, the head of the chain of all keys with this home; the chain's
 * other keys are <i>lodgers</i> in slots that are not their home. A lodger gives way to a host, so that a chain has keys of one
 * home only. A lodger is stored on the cache line of its predecessor in the chain, if that line has a free slot, or has a lodger
 * of another chain that is not on its own predecessor's line and can move; otherwise in the nearest free slot on either side.
 * For one thread, the writer.
 *
 * <p><b>Why a reader concurrent with the writer sees the old or the new payload of its key, and never another key's.</b> A
 * reader compares a slot's key and then reads its word; it must be shown that the two belong together. A free slot
 * has a key that no reader finds there (see {@link Slots}), and is filled before any chain leads to it. A key stays in its
 * slot for as long as the slots exist, with two exceptions: a lodger whose slot a host needs, and a lodger that is kicked. Either
 * is first copied to a free slot, then its predecessor is linked to the copy, with release: later readers find the copy. Only
 * readers that followed the old link can still be in the old slot, or follow its link; a grace period ({@link Grace}) waits for
 * them before the slot is filled again, word first. After that only readers of keys whose home is this slot reach it, directly.
 * They read the lodger's key, which is not theirs, and continue by either word along a chain that ends; or they read the new
 * key, written with release, and so its word.
 *
 * <p>An error (a stack overflow) may occur between any two steps. Then a copied lodger's old slot keeps its contents, but no
 * chain leads to it: lookups and visits, which start at chain heads, do not find it, and an insertion may reuse the slot.
 */
final class Chains {
    /**
     * The maximum length of a chain. With random keys a chain this long occurs about once in 10^90 slots; so the keys were chosen
     * to collide, and the remedy is another seed.
     */
    static final int LONGEST = 64;

    /** A grace period: waits until all read sections that were open when it was called have ended. */
    @FunctionalInterface
    interface Grace {
        void await();
    }

    private static final long NONE = -1;

    private final Slots slots;
    private final Grace grace;
    private long used;
    private long kicks;

    Chains(Slots slots, Grace grace) {
        this.slots = slots;
        this.grace = grace;
    }

    /** The number of slots in use. */
    long used() {
        return used;
    }

    /** How often a key was moved to make room for another key on its cache line. */
    long kicks() {
        return kicks;
    }

    /**
     * Adds a key that is in no slot.
     *
     * @return whether there was room for it: a free slot within reach, and a chain that is not too long; if not, no lookup's
     *     result has changed
     */
    boolean add(long key, long payload) {
        long home = slots.bucket(key);
        if (slots.isHost(home)) {
            return append(home, key, payload);
        }
        if (!slots.isFree(home) && !evictLodger(home)) {
            return false;
        }
        occupy(home, key, payload, NONE);
        return true;
    }

    /** Adds a key to a chain: on a cache line that the chain already uses, otherwise at its end, in the nearest slot. */
    private boolean append(long head, long key, long payload) {
        long tail = head;
        long before = NONE;
        long place = NONE;
        int length = 0;
        for (long slot = head; slot >= 0; slot = slots.next(slot)) {
            long next = slots.next(slot);
            boolean isLastOnLine = next < 0 || Slots.line(next) != Slots.line(slot);
            if (place == NONE && isLastOnLine) {
                place = freeOnLine(slot, next);
                before = slot;
            }
            tail = slot;
            length++;
        }
        if (length >= LONGEST) {
            return false;
        }
        if (place != NONE) {
            insert(place, key, payload, before, slots.next(before));
            return true;
        }
        place = kickedOut(tail, NONE);
        if (place == NONE) {
            place = nearestFree(tail, NONE);
        }
        if (place == NONE) {
            return false;
        }
        insert(place, key, payload, tail, NONE);
        return true;
    }

    /** Moves a lodger out of a slot that a host needs; returns whether it could. */
    private boolean evictLodger(long home) {
        long before = before(home);
        if (before == NONE) {
            return true;
        }
        long place = freeOnLine(before, slots.next(home));
        if (place == NONE) {
            place = kickedOut(before, home);
        }
        // The kicked lodger may have been the successor of this one.
        if (place == NONE || !fits(place, before, slots.next(home))) {
            place = nearestFree(before, slots.next(home));
        }
        return place != NONE && copy(home, place, before);
    }

    /**
     * Kicks a lodger that is not on its predecessor's line from the line of {@code neighbor}.
     *
     * @param except a slot that must not be kicked
     * @return the slot that it left, or {@link #NONE}
     */
    private long kickedOut(long neighbor, long except) {
        long first = firstOnLine(neighbor);
        for (long slot = first; slot < first + Slots.LINE_SLOTS; slot++) {
            if (slot != neighbor && slot != except && !slots.isHost(slot) && slots.next(slot) < 0 && isKicked(slot)) {
                return slot;
            }
        }
        return NONE;
    }

    /** Moves a lodger at the end of its chain to another slot, if its predecessor is on another line; returns whether it did. */
    private boolean isKicked(long lodger) {
        long before = before(lodger);
        if (before == NONE) {
            return true;
        }
        if (Slots.line(before) == Slots.line(lodger)) {
            return false;
        }
        long place = freeOnLine(before, NONE);
        if (place == NONE) {
            place = nearestFree(before, NONE);
        }
        if (place == NONE) {
            return false;
        }
        kicks++;
        return copy(lodger, place, before);
    }

    /** Copies a lodger to another slot and links its predecessor to the copy. */
    private boolean copy(long lodger, long place, long before) {
        insert(place, slots.key(lodger), slots.payload(lodger), before, slots.next(lodger));
        return true;
    }

    private void insert(long place, long key, long payload, long before, long next) {
        occupy(place, key, payload, next);
        slots.link(before, place);
    }

    /** Fills a slot that is free, or that no chain leads to. */
    private void occupy(long place, long key, long payload, long next) {
        if (slots.isFree(place)) {
            used++;
        } else {
            grace.await();
        }
        slots.fill(place, key, payload, next);
    }

    /** The slot before a lodger in its chain, or {@link #NONE} for a copy that an error left behind. */
    private long before(long lodger) {
        long slot = slots.bucket(slots.key(lodger));
        while (slot >= 0) {
            long next = slots.next(slot);
            if (next == lodger) {
                return slot;
            }
            slot = next;
        }
        return NONE;
    }

    /** A free slot on the line of {@code before} that can stand between it and {@code next} in a chain, or {@link #NONE}. */
    private long freeOnLine(long before, long next) {
        long first = firstOnLine(before);
        for (long slot = first; slot < first + Slots.LINE_SLOTS; slot++) {
            if (slots.isFree(slot) && fits(slot, before, next)) {
                return slot;
            }
        }
        return NONE;
    }

    private static long firstOnLine(long slot) {
        return Slots.line(slot) * Slots.LINE_SLOTS;
    }

    /** The free slot nearest to {@code before} that can stand between it and {@code next} in a chain, or {@link #NONE}. */
    private long nearestFree(long before, long next) {
        long farthest = Math.min(Slots.REACH, slots.count() / 2);
        for (long distance = 1; distance <= farthest; distance++) {
            long right = slots.at(before, distance);
            if (slots.isFree(right) && fits(right, before, next)) {
                return right;
            }
            long left = slots.at(before, -distance);
            if (slots.isFree(left) && fits(left, before, next)) {
                return left;
            }
        }
        return NONE;
    }

    private boolean fits(long place, long before, long next) {
        return slots.reaches(before, place) && (next < 0 || slots.reaches(place, next));
    }
}
