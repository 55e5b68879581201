package io.github.roost.table.kernel;

import io.github.roost.core.kernel.Kernels;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** The lookups that this machine can run, and which of them is for what. */
public final class BatchLookups {
    /** System property that names the lookup to use for all batches: {@code avx512 portable java}. */
    public static final String PROPERTY = "roost.table.lookup";

    /** Up to this size a table stays in a core's own cache. */
    private static final long CACHE_BYTES = 1L << 20;
    /** From so many keys on a native call is faster than Java that may move its loads, in such a table and in a larger one. */
    private static final int MIN_IN_CACHE = 16;

    private static final int MIN_BEYOND = 48;
    /** From so many on it is faster than Java that may not. */
    private static final int MIN_BESIDE_WRITER = 8;

    private static final Kernels<BatchLookup> KERNELS = new Kernels<>(PROPERTY, find(), BatchLookup::name);
    private static final BatchLookup JAVA = KERNELS.available().getLast();
    private static final BatchLookup JAVA_ALONE = new JavaLookup(false);

    private BatchLookups() {}

    /** All lookups, the fastest first; the last is plain Java and always there. */
    public static List<BatchLookup> available() {
        return KERNELS.available();
    }

    /**
     * The fastest lookup, or the one that {@link #PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public static BatchLookup preferred() {
        return KERNELS.preferred();
    }

    /**
     * The lookup for a batch: {@code preferred}, or Java where that is faster. Where the limits come from is told in
     * docs/table.md.
     *
     * @param slots of the table
     * @param count of keys
     * @param isBesideWriter whether somebody may write meanwhile
     */
    public static BatchLookup forBatch(BatchLookup preferred, long slots, int count, boolean isBesideWriter) {
        boolean isInCache = slots * Slots.SLOT_BYTES <= CACHE_BYTES;
        int least = isInCache ? MIN_IN_CACHE : MIN_BEYOND;
        if (preferred != JAVA && count >= (isBesideWriter ? MIN_BESIDE_WRITER : least)) {
            return preferred;
        }
        return isBesideWriter ? JAVA : JAVA_ALONE;
    }

    /**
     * The lookup of a name.
     *
     * @throws IllegalArgumentException if it is none of {@link #available()}
     */
    public static BatchLookup named(String name) {
        return KERNELS.named(name);
    }

    private static List<BatchLookup> find() {
        List<BatchLookup> lookups = new ArrayList<>();
        // C takes the words of a slot as numbers of the machine, as Java does here; only tested on such a machine.
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
}
