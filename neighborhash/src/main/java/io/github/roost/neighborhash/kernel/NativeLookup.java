package io.github.roost.neighborhash.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.vector.kernel.InstructionSet;
import io.github.roost.vector.kernel.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/** The lookup in C, for one instruction set. Its calls are critical, as keys and payloads may be heap arrays, and therefore short. */
final class NativeLookup implements BatchLookup {
    /** The maximum keys per call, as a safepoint waits for it: some 60 microseconds if no slot is in the cache. */
    private static final int MAX_CRITICAL = 4_096;

    private final InstructionSet isa;

    private NativeLookup(InstructionSet isa) {
        this.isa = isa;
    }

    /**
     * One lookup per instruction set of this CPU, the fastest first.
     *
     * @throws ExceptionInInitializerError if the library cannot be loaded
     */
    static List<BatchLookup> all() {
        return Library.LIBRARY.supported(NativeLookup::new);
    }

    /** The library's functions, as constants so that the JIT compiles them to direct calls. The library stays loaded for the life of the JVM. */
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

    /** Memory-safe for any contents of the slots: steps wrap around within them. */
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
