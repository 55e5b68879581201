package io.github.roost.neighborhash.kernel;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.github.roost.vector.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** The lookups that this machine can run, and the choice between them. */
public final class BatchLookups {
    /** System property that names the preferred lookup: {@code avx512}, {@code portable} or {@code java}. */
    public static final String PROPERTY = "roost.table.lookup";

    /** A table of up to this size fits into a core's private cache. */
    private static final long CACHE_BYTES = 1L << 20;
    /** The minimum batch size from which a native call is faster than Java with plain loads, in a table of up to {@link #CACHE_BYTES}. */
    private static final int MIN_IN_CACHE = 16;

    /** The same for a larger table. */
    private static final int MIN_BEYOND = 48;
    /** The same compared with Java with acquire loads, which lookups concurrent with a writer need. */
    private static final int MIN_BESIDE_WRITER = 8;

    private static final Kernels<BatchLookup> KERNELS = new Kernels<>(PROPERTY, find(), BatchLookup::name);
    private static final BatchLookup JAVA = KERNELS.available().getLast();
    private static final BatchLookup JAVA_ALONE = new JavaLookup(false);

    private BatchLookups() {}

    /** All lookups, the fastest first; the last is plain Java and always available. */
    public static List<BatchLookup> available() {
        return KERNELS.available();
    }

    /**
     * The fastest lookup, or the lookup named by {@link #PROPERTY}.
     *
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public static BatchLookup preferred() {
        return KERNELS.preferred();
    }

    /**
     * The lookup for a batch: {@code preferred}, or Java if that is faster. docs/results has the measurements.
     *
     * @param slots the number of slots of the table
     * @param count the number of keys
     * @param isBesideWriter whether a writer may run concurrently
     */
    public static BatchLookup forBatch(BatchLookup preferred, long slots, int count, boolean isBesideWriter) {
        boolean isInCache = slots * Slots.SLOT_BYTES <= CACHE_BYTES;
        int min = isInCache ? MIN_IN_CACHE : MIN_BEYOND;
        if (preferred != JAVA && count >= (isBesideWriter ? MIN_BESIDE_WRITER : min)) {
            return preferred;
        }
        return isBesideWriter ? JAVA : JAVA_ALONE;
    }

    private static List<BatchLookup> find() {
        List<BatchLookup> lookups = new ArrayList<>();
        // C reads a slot's words in the machine's byte order, as Java does; this is tested on little-endian machines
        // only.
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            lookups.addAll(natively());
        }
        lookups.add(new JavaLookup(true));
        return List.copyOf(lookups);
    }

    private static List<BatchLookup> natively() {
        return Kernels.orNone(
                "The native batch lookup cannot be loaded, keys are looked up in Java", NativeLookup::all);
    }

    /** Looks up one key after the other in Java: the reference for the native lookups, and the fallback without them. */
    private static final class JavaLookup implements BatchLookup {
        private final boolean isBesideWriter;

        /** @param isBesideWriter whether a writer may run concurrently; false is faster */
        JavaLookup(boolean isBesideWriter) {
            this.isBesideWriter = isBesideWriter;
        }

        @Override
        public String name() {
            return "java";
        }

        @Override
        public int find(Slots slots, MemorySegment keys, int count, MemorySegment payloads) {
            BatchLookup.requireFits(keys, count, payloads);
            int found = 0;
            for (int i = 0; i < count; i++) {
                long at = (long) i * Long.BYTES;
                long key = keys.get(JAVA_LONG_UNALIGNED, at);
                long payload = isBesideWriter ? slots.findBesideWriter(key) : slots.find(key);
                payloads.set(JAVA_LONG_UNALIGNED, at, payload);
                found += payload == Slots.ABSENT ? 0 : 1;
            }
            return found;
        }
    }
}
