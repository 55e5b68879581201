package io.github.roost.bench.table;

/** Lodgers go to any free slot, as in a cellar that always has the right size. */
final class PerfectCellar extends LodgerRelocation {
    PerfectCellar(int bits) {
        super(bits);
    }

    @Override
    int freeFor(int before) {
        return lastFree();
    }
}
