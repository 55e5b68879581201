package io.github.roost.table.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.NativeResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The lookup in C, for one instruction set. Its calls are critical, as keys and payloads may be arrays, and so are short. */
final class NativeLookup implements BatchLookup {
    /** The instruction sets, in the order of the C enumeration. */
    private enum Isa {
        PORTABLE,
        AVX512
    }

    private static final List<Isa> BEST_FIRST = List.of(Isa.AVX512, Isa.PORTABLE);

    /** Keys of a call, for which a safepoint has to wait: some 60 microseconds where none is in the cache. */
    private static final int MOST_CRITICAL = 4_096;

    private final Isa isa;

    private NativeLookup(Isa isa) {
        this.isa = isa;
    }

    /**
     * One lookup for each instruction set that this CPU has, the fastest first.
     *
     * @throws ExceptionInInitializerError if the library cannot be loaded
     */
    static List<BatchLookup> all() throws Throwable {
        List<BatchLookup> lookups = new ArrayList<>();
        for (Isa isa : BEST_FIRST) {
            if ((int) Library.SUPPORTS.invokeExact(isa.ordinal()) != 0) {
                lookups.add(new NativeLookup(isa));
            }
        }
        return lookups;
    }

    /** The functions of the library: constants, so that a call is compiled to a call. It stays loaded for the life of the JVM. */
    @SuppressWarnings("restricted")
    private static final class Library {
        private static final SymbolLookup SYMBOLS = load();

        static final MethodHandle SUPPORTS =
                function("roost_table_supports", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        static final MethodHandle FIND = function(
                "roost_table_find",
                FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS),
                Linker.Option.critical(true));

        private Library() {}

        private static SymbolLookup load() {
            try {
                return NativeResource.load(
                        NativeLookup.class, "roost_table", file -> SymbolLookup.libraryLookup(file, Arena.global()));
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        private static MethodHandle function(String name, FunctionDescriptor descriptor, Linker.Option... options) {
            return Linker.nativeLinker().downcallHandle(SYMBOLS.findOrThrow(name), descriptor, options);
        }
    }

    @Override
    public String name() {
        return isa.name().toLowerCase(Locale.ROOT);
    }

    /** Slots know their own size, and steps wrap around within them, whatever their words hold. */
    @Override
    public int find(Slots slots, MemorySegment keys, int count, MemorySegment payloads) {
        BatchLookup.requireFits(keys, count, payloads);
        long found = 0;
        for (int from = 0; from < count; from += MOST_CRITICAL) {
            long at = (long) from * Long.BYTES;
            found += call(slots, keys.asSlice(at), Math.min(MOST_CRITICAL, count - from), payloads.asSlice(at));
        }
        return (int) found;
    }

    private long call(Slots slots, MemorySegment keys, long count, MemorySegment payloads) {
        try {
            return (long) Library.FIND.invokeExact(
                    isa.ordinal(), slots.memory, slots.shift, slots.seed, keys, count, payloads);
        } catch (IllegalStateException closed) {
            throw closed;
        } catch (Throwable failure) {
            throw new IllegalStateException("native lookup failed", failure);
        }
    }
}
