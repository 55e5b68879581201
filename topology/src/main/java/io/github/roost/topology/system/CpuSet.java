package io.github.roost.topology.system;

import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/** Sets of CPUs as bit sets, as lists and in the kernel's text format ({@code 0-3,8}). */
public final class CpuSet {
    private CpuSet() {}

    public static BitSet of(Collection<Integer> cpus) {
        BitSet bits = new BitSet();
        cpus.forEach(bits::set);
        return bits;
    }

    public static List<Integer> list(BitSet bits) {
        return bits.stream().boxed().toList();
    }

    public static BitSet intersection(BitSet a, BitSet b) {
        BitSet both = (BitSet) a.clone();
        both.and(b);
        return both;
    }

    public static BitSet difference(BitSet a, BitSet b) {
        BitSet rest = (BitSet) a.clone();
        rest.andNot(b);
        return rest;
    }

    public static boolean contains(BitSet outer, BitSet inner) {
        return difference(inner, outer).isEmpty();
    }

    /** Ranges, as in {@code 0-3,8}; {@code none} for the empty set. */
    public static String text(BitSet bits) {
        StringBuilder text = new StringBuilder();
        for (int first = bits.nextSetBit(0); first >= 0; ) {
            int last = bits.nextClearBit(first) - 1;
            text.append(text.isEmpty() ? "" : ",").append(first);
            if (last > first) {
                text.append('-').append(last);
            }
            first = bits.nextSetBit(last + 1);
        }
        return text.isEmpty() ? "none" : text.toString();
    }

    public static String text(Collection<Integer> cpus) {
        return text(of(cpus));
    }

    /** Parses the kernel's text format: the inverse of {@link #text(BitSet)}, but an empty set is an empty string. */
    public static BitSet parse(String text) {
        BitSet bits = new BitSet();
        for (String range : text.strip().split(",", -1)) {
            if (!range.isEmpty()) {
                int dash = range.indexOf('-');
                int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
                int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
                bits.set(first, last + 1);
            }
        }
        return bits;
    }
}
