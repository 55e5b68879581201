package io.github.roost.core.kernel;

import java.util.List;
import java.util.Locale;

/** The instruction sets that C kernels are written for. The order is that of {@code enum isa} in {@code isa.h}, and stays. */
public enum InstructionSet {
    /** C without instructions of one CPU: runs everywhere. */
    PORTABLE,
    /** AVX2 with FMA and F16C. */
    AVX2,
    /** AVX-512 F and DQ. */
    AVX512,
    /** 64-bit Arm's vectors. */
    NEON;

    /** All, the widest vectors first. */
    public static final List<InstructionSet> BEST_FIRST = List.of(AVX512, AVX2, NEON, PORTABLE);

    /** {@return the number that C knows it by} */
    public int code() {
        return ordinal();
    }

    /** {@return the name that properties and reports use, in lower case} */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
