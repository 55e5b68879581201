package io.github.roost.bench.table;

/** Linear probing: a key whose slot is taken goes to the next free slot to the right. */
final class LinearProbing extends Placement {
    LinearProbing(int bits) {
        super(bits);
    }

    @Override
    void add(long key) {
        int slot = bucket(key);
        while (!isFree(slot)) {
            slot = after(slot);
        }
        slots[slot] = key;
    }

    @Override
    int after(int slot) {
        return slot + 1 & mask();
    }
}
