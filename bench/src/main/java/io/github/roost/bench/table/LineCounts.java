package io.github.roost.bench.table;

import io.github.roost.neighborhash.NeighborHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Question: how many cache lines does a lookup touch if 79 % of the slots are in use? Measured for NeighborHashMap and for variants that each omit a part
 * of its design, on the same keys. These are counts, not times: they are the same on every machine.
 */
public final class LineCounts {
    /** Share of the slots. At 79 % linear probing touches the paper's 1.47 lines; at the 75 % stated in its text, 1.375. */
    static final double LOAD = .79;

    private LineCounts() {}

    /**
     * The result of one placement.
     *
     * @param placement its name
     * @param slotBits the binary logarithm of the number of slots
     * @param lines mean number of cache lines per lookup
     * @param paper the paper's figure, or NaN
     */
    public record Count(String placement, int slotBits, double lines, double paper) {}

    private record Variant(String name, double paper, IntFunction<Placement> maker) {}

    private static final List<Variant> VARIANTS = List.of(
            new Variant("coalesced hashing", 1.72, Coalesced::new),
            new Variant("perfect cellar", 1.48, PerfectCellar::new),
            new Variant("linear probing", 1.47, LinearProbing::new),
            new Variant("lodger relocation, one direction", 1.24, OneDirection::new));

    /**
     * Counts for all placements.
     *
     * @param slotBits the binary logarithm of the number of slots
     */
    public static List<Count> of(int slotBits, long seed) {
        long[] keys = Placement.keys((int) (LOAD * (1 << slotBits)), seed);
        List<Count> counts = new ArrayList<>();
        for (Variant variant : VARIANTS) {
            Placement placement = variant.maker().apply(slotBits);
            for (long key : keys) {
                placement.add(key);
            }
            counts.add(new Count(variant.name(), slotBits, placement.averageLines(keys), variant.paper()));
        }
        try (NeighborHashMap table = NeighborHashMap.builder(keys.length).build()) {
            for (int i = 0; i < keys.length; i++) {
                table.put(keys[i], i);
            }
            counts.add(new Count("NeighborHashMap", slotBits, table.stats().averageProbedLines(), 1.14));
        }
        return counts;
    }

    /** Lodgers go to any free slot, as in a cellar that always has the right size. */
    private static final class PerfectCellar extends LodgerRelocation {
        PerfectCellar(int bits) {
            super(bits);
        }

        @Override
        int freeFor(int before) {
            return lastFree();
        }
    }

    /** Linear probing: a key whose slot is taken goes to the next free slot to the right. */
    private static final class LinearProbing extends Placement {
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

    /** Lodgers go to the next free slot to the right. */
    private static final class OneDirection extends LodgerRelocation {
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
}
