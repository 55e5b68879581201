package io.github.roost.topology.hwloc;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/** The C library's {@code errno} of a downcall; valid only after a call that failed. */
final class CapturedErrno {
    /** The link option that captures {@code errno}; the handle then takes a segment from {@link #allocate} as its first argument. */
    static final Linker.Option CAPTURED = Linker.Option.captureCallState("errno");

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle VALUE = LAYOUT.varHandle(PathElement.groupElement("errno"));

    private CapturedErrno() {}

    static MemorySegment allocate(Arena arena) {
        return arena.allocate(LAYOUT);
    }

    static int of(MemorySegment state) {
        return (int) VALUE.get(state, 0L);
    }
}
