package io.github.roost.table.kernel;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lookups that this machine can run, and which of them is for what. */
public final class BatchLookups {
    /** System property that names the lookup to use for all batches: {@code avx512 portable java}. */
    public static final String PROPERTY = "roost.table.lookup";

    /** From so many keys on a native call is worth what it costs: see docs/table.md. */
    private static final int LEAST_NATIVE = 8;
    /**
     * Up to this size a table stays in a core's own cache, where prefetching one key at a time wins nothing over Java. Gathers
     * are faster at any size.
     */
    private static final long CACHE_BYTES = 1L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(BatchLookups.class);
    private static final List<BatchLookup> AVAILABLE = find();
    private static final BatchLookup JAVA = AVAILABLE.getLast();

    private BatchLookups() {}

    /** All lookups, the fastest first; the last is plain Java and always there. */
    public static List<BatchLookup> available() {
        return AVAILABLE;
    }

    /**
     * The fastest lookup, or the one that {@link #PROPERTY} names.
     *
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public static BatchLookup preferred() {
        String name = System.getProperty(PROPERTY);
        return name == null ? AVAILABLE.getFirst() : named(name);
    }

    /** The lookup for a batch: {@code preferred}, or Java where that is faster. */
    public static BatchLookup forBatch(BatchLookup preferred, long slots, int count) {
        boolean isNative = !preferred.name().equals("portable") || slots * Slots.SLOT_BYTES > CACHE_BYTES;
        return isNative && count >= LEAST_NATIVE ? preferred : JAVA;
    }

    /**
     * The lookup of a name.
     *
     * @throws IllegalArgumentException if it is none of {@link #available()}
     */
    public static BatchLookup named(String name) {
        for (BatchLookup lookup : AVAILABLE) {
            if (lookup.name().equals(name)) {
                return lookup;
            }
        }
        throw new IllegalArgumentException(PROPERTY + " must be one of "
                + AVAILABLE.stream().map(BatchLookup::name).toList() + ", got " + name);
    }

    private static List<BatchLookup> find() {
        List<BatchLookup> lookups = new ArrayList<>();
        // C takes the words of a slot as numbers of the machine, as Java does here; only tested on such a machine.
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            lookups.addAll(natively());
        }
        lookups.add(new JavaLookup());
        return List.copyOf(lookups);
    }

    @SuppressWarnings("IllegalCatch") // whatever keeps a library from loading, Java serves
    private static List<BatchLookup> natively() {
        try {
            return NativeLookup.all();
        } catch (Throwable failure) {
            Throwable cause = failure instanceof ExceptionInInitializerError && failure.getCause() != null
                    ? failure.getCause()
                    : failure;
            LOG.warn("The native batch lookup cannot be loaded, keys are looked up in Java: {}", cause.toString());
            return List.of();
        }
    }
}
