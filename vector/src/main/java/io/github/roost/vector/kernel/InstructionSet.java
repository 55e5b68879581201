package io.github.roost.vector.kernel;

import java.util.List;
import java.util.Locale;

/** The instruction sets that C kernels are written for. Same order as {@code enum isa} in {@code isa.h}; must not change. */
public enum InstructionSet {
    /** Portable C: runs on every CPU. */
    PORTABLE,
    /** AVX2 with FMA and F16C. */
    AVX2,
    /** AVX-512 F, DQ and BW. */
    AVX512,
    /** NEON of 64-bit Arm. */
    NEON;

    /** All instruction sets, the widest vectors first. */
    public static final List<InstructionSet> BEST_FIRST = List.of(AVX512, AVX2, NEON, PORTABLE);

    /** {@return its number in {@code enum isa}} */
    public int code() {
        return ordinal();
    }

    /** {@return its name in system properties and reports, in lower case} */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
