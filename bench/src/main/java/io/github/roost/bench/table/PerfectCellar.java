package io.github.roost.bench.table;

/** Lodgers live anywhere, as in a cellar that is always of the right size. */
final class PerfectCellar extends LodgerRelocation {
    PerfectCellar(int bits) {
        super(bits);
    }

    @Override
    int freeFor(int before) {
        return lastFree();
    }
}
