package io.github.roost.table.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.kernel.InstructionSet;
import io.github.roost.core.kernel.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/** The lookup in C, for one instruction set. Its calls are critical, as keys and payloads may be arrays, and so are short. */
final class NativeLookup implements BatchLookup {
    /** Keys of a call, for which a safepoint has to wait: some 60 microseconds where none is in the cache. */
    private static final int MAX_CRITICAL = 4_096;

    private final InstructionSet isa;

    private NativeLookup(InstructionSet isa) {
        this.isa = isa;
    }

    /**
     * One lookup for each instruction set that this CPU has, the fastest first.
     *
     * @throws ExceptionInInitializerError if the library cannot be loaded
     */
    static List<BatchLookup> all() {
        return Library.LIBRARY.supported(NativeLookup::new);
    }

    /** The functions of the library: constants, so that a call is compiled to a call. It stays loaded for the life of the JVM. */
    static final class Library {
        static final NativeLibrary LIBRARY = NativeLibrary.load(NativeLookup.class, "roost_table");

        static final MethodHandle FIND = LIBRARY.function(
                "roost_table_find",
                FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS),
                Linker.Option.critical(true));

        private Library() {}
    }

    @Override
    public String name() {
        return isa.label();
    }

    /** Slots know their own size, and steps wrap around within them, whatever their words hold. */
    @Override
    public int find(Slots slots, MemorySegment keys, int count, MemorySegment payloads) {
        BatchLookup.requireFits(keys, count, payloads);
        long found = 0;
        for (int from = 0; from < count; from += MAX_CRITICAL) {
            long at = (long) from * Long.BYTES;
            found += call(slots, keys.asSlice(at), Math.min(MAX_CRITICAL, count - from), payloads.asSlice(at));
        }
        return (int) found;
    }

    private long call(Slots slots, MemorySegment keys, long count, MemorySegment payloads) {
        try {
            return (long)
                    Library.FIND.invokeExact(isa.code(), slots.memory, slots.shift, slots.seed, keys, count, payloads);
        } catch (IllegalStateException closed) {
            throw closed;
        } catch (Throwable failure) {
            throw new IllegalStateException("native lookup failed", failure);
        }
    }
}
