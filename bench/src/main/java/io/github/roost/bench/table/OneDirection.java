package io.github.roost.bench.table;

/** Lodgers go to the next free slot to the right. */
final class OneDirection extends LodgerRelocation {
    OneDirection(int bits) {
        super(bits);
    }

    @Override
    int freeFor(int before) {
        int slot = before;
        while (!isFree(slot)) {
            slot = slot + 1 & mask();
        }
        return slot;
    }
}
