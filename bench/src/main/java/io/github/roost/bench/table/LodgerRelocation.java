package io.github.roost.bench.table;

/**
 * Coalesced hashing with lodger relocation: a key that is not in its own slot (a lodger) is moved away for a key that belongs there, so that a chain
 * contains only keys of one slot.
 */
abstract class LodgerRelocation extends Chained {
    LodgerRelocation(int bits) {
        super(bits);
    }

    /** A free slot for the successor of slot {@code before} in a chain. */
    abstract int freeFor(int before);

    @Override
    final void add(long key) {
        int home = bucket(key);
        int slot = home;
        if (!isFree(home)) {
            int head = bucket(slots[home]);
            if (head == home) {
                int tail = tail(home);
                slot = freeFor(tail);
                next[tail] = slot;
            } else {
                move(home, head);
            }
        }
        slots[slot] = key;
    }

    private void move(int lodger, int head) {
        int before = head;
        while (next[before] != lodger) {
            before = next[before];
        }
        int place = freeFor(before);
        slots[place] = slots[lodger];
        next[place] = next[lodger];
        next[before] = place;
        next[lodger] = NONE;
    }
}
