package io.github.roost.table;

import io.github.roost.table.kernel.Slots;

/**
 * Puts keys into slots so that few cache lines are touched to find them: NeighborHash (Zhang et al., An Enhanced Batch Query
 * Architecture in Real-time Recommendation, CIKM 2024), which is coalesced hashing without a cellar. A key belongs into the
 * slot of its hash. There it is a <i>host</i>, and the head of the chain of all keys that belong there; those others are
 * <i>lodgers</i> in slots that are not their own. A lodger gives way to a host, so that a chain has keys of one slot only. A
 * lodger lives on the cache line of the one before it if that has room, or a foreign one there that gains nothing from it can be
 * moved away, else as near as can be, on either side. For one thread, the writer.
 *
 * <p><b>Why a reader beside the writer sees the old or the new payload of its key, and never another key's.</b> A reader
 * compares a slot's key and then reads its word; that the two belong together is all there is to show. A slot that is free
 * has a key that no reader finds there (see {@link Slots}), and is filled before any chain leads to it. A key stays in its
 * slot for as long as the slots exist, with two exceptions: a lodger whose slot a host needs, and one that is kicked. Each of
 * these is first copied to a free slot, then the one before it is linked to the copy, with release: whoever comes from now
 * on finds the copy. Only who went by the old link can still be in the old slot, or read what it leads to; and these are waited
 * for ({@link Grace}) before the slot is filled again, word first. After that the only ones who come to the slot by
 * itself are readers of keys that belong there. They read the lodger's key, which is not theirs, and go on by either word to a
 * chain that ends; or they read the new key with release, and so its word.
 *
 * <p>An error (a stack that overflows) may strike between any two steps. Then a copied lodger's old slot is left as it was
 * with no chain that leads to it: nobody finds it, chains are visited by their heads, and whoever needs that slot takes it.
 */
final class Chains {
    /**
     * The longest chain. With random keys there is one of so many about once in 10^90 slots; so the keys are made to collide, and
     * the remedy is another seed.
     */
    static final int LONGEST = 64;

    /** Waits until nobody reads any more who read when it was called. */
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

    /** Slots that are not free. */
    long used() {
        return used;
    }

    /** How often a key was moved so that another could live on its line. */
    long kicks() {
        return kicks;
    }

    /**
     * Adds a key that is in no slot.
     *
     * @return whether there was room for it: a free slot within reach, in a chain that is not too long; nothing that is found has
     *     changed if not
     */
    boolean add(long key, long payload) {
        long home = slots.bucket(key);
        if (slots.isHost(home)) {
            return append(home, key, payload);
        }
        if (!slots.isFree(home) && !giveWay(home)) {
            return false;
        }
        occupy(home, key, payload, NONE);
        return true;
    }

    /** Adds a key to a chain: on a line that the chain is on anyway, or else at its end, as near as can be. */
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

    /** Has a lodger move out of a slot that a host needs. Whether it could. */
    private boolean giveWay(long home) {
        long before = before(home);
        if (before == NONE) {
            return true;
        }
        long place = freeOnLine(before, slots.next(home));
        if (place == NONE) {
            place = kickedOut(before, home);
        }
        // Who was kicked may have been the one behind the lodger.
        if (place == NONE || !fits(place, before, slots.next(home))) {
            place = nearestFree(before, slots.next(home));
        }
        return place != NONE && copy(home, place, before);
    }

    /**
     * A slot on another's line whose lodger has moved out, because it gained nothing there, or {@link #NONE}.
     *
     * @param except a slot that is not meant
     */
    private long kickedOut(long neighbour, long except) {
        long first = firstOnLine(neighbour);
        for (long slot = first; slot < first + Slots.LINE_SLOTS; slot++) {
            if (slot != neighbour && slot != except && !slots.isHost(slot) && slots.next(slot) < 0 && isKicked(slot)) {
                return slot;
            }
        }
        return NONE;
    }

    /** Has a lodger at the end of its chain move out, if the one before it is on another line. */
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

    /** Copies a lodger to another slot and has its chain go there. */
    private boolean copy(long lodger, long place, long before) {
        insert(place, slots.key(lodger), slots.payload(lodger), before, slots.next(lodger));
        return true;
    }

    private void insert(long place, long key, long payload, long before, long next) {
        occupy(place, key, payload, next);
        slots.link(before, place);
    }

    /** Fills a slot that is free, or that no chain leads to any more. */
    private void occupy(long place, long key, long payload, long next) {
        if (slots.isFree(place)) {
            used++;
        } else {
            grace.await();
        }
        slots.fill(place, key, payload, next);
    }

    /** The slot before a lodger in its chain, or {@link #NONE} for one that an error has left behind. */
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

    /** A free slot on the line of another which can be between that and a next one in a chain, or {@link #NONE}. */
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

    /** The nearest free slot that a chain can go to from one slot, and from there to another, or {@link #NONE}. */
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
