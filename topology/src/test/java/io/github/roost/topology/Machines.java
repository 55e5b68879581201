package io.github.roost.topology;

import io.github.roost.topology.Machine.Group;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/** Awkward machines that hwloc's synthetic syntax cannot describe. */
final class Machines {
    private Machines() {}

    private static Group group(int index, long bytes, int... pus) {
        BitSet set = new BitSet();
        for (int pu : pus) {
            set.set(pu);
        }
        return new Group(index, bytes, set);
    }

    /** Four cores of different widths under one L3, and two more that are under none. */
    static Machine withCoresOutsideTheL3() {
        BitSet allowed = new BitSet();
        IntStream.of(0, 1, 2, 3, 4, 5, 12, 13).forEach(allowed::set);
        return new Machine(
                allowed,
                List.of(group(0, 0, 0, 1, 2, 3, 4, 5, 12, 13)),
                List.of(group(0, 0, 0, 1, 2, 3, 4, 5, 12, 13)),
                List.of(group(0, 12 << 20, 0, 1, 2, 3, 4, 5)),
                List.of(),
                List.of(
                        group(0, 0, 0, 1),
                        group(1, 0, 2, 3),
                        group(2, 0, 4),
                        group(3, 0, 5),
                        group(4, 0, 12),
                        group(5, 0, 13)),
                new int[] {1, 1, 0, 0, 0, 0});
    }

    /** Two L3s of two cores with two PUs each, of which only some PUs are allowed. */
    static Machine narrowedTo(int... pus) {
        BitSet allowed = new BitSet();
        IntStream.of(pus).forEach(allowed::set);
        return new Machine(
                allowed,
                List.of(group(0, 0, 0, 1, 2, 3, 4, 5, 6, 7)),
                List.of(group(0, 0, 0, 1, 2, 3, 4, 5, 6, 7)),
                List.of(group(0, 32 << 20, 0, 1, 4, 5), group(1, 32 << 20, 2, 3, 6, 7)),
                List.of(),
                List.of(group(0, 0, 0, 4), group(1, 0, 1, 5), group(2, 0, 2, 6), group(3, 0, 3, 7)),
                new int[] {-1, -1, -1, -1});
    }
}
