package io.github.roost.bench.table;

/** Coalesced hashing in which a key that is not in its own slot gives way to one that belongs there: chains have keys of one slot only. */
abstract class LodgerRelocation extends Chained {
    LodgerRelocation(int bits) {
        super(bits);
    }

    /** A free slot for what comes after another in a chain. */
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
