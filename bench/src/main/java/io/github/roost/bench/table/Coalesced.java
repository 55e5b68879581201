package io.github.roost.bench.table;

/** Coalesced hashing without a cellar (Vitter, CACM 25(12), 1982): a key whose slot is taken is appended to the chain that contains the slot. */
final class Coalesced extends Chained {
    Coalesced(int bits) {
        super(bits);
    }

    @Override
    void add(long key) {
        int slot = bucket(key);
        if (!isFree(slot)) {
            int tail = tail(slot);
            slot = lastFree();
            next[tail] = slot;
        }
        slots[slot] = key;
    }
}
