package io.github.roost.core.kernel;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kernels for one task that this machine can run, and the one to use. Immutable.
 *
 * @param <K> the kernels
 */
public final class Kernels<K> {
    private static final Logger LOG = LoggerFactory.getLogger(Kernels.class);

    private final String property;
    private final List<K> available;
    private final Function<? super K, String> nameOf;

    /**
     * Kernels to choose from.
     *
     * @param property the system property that names the kernel to use
     * @param available the kernels, the fastest first; the last runs on every machine
     * @param nameOf the name of a kernel
     * @throws IllegalArgumentException if there are none
     */
    public Kernels(String property, List<? extends K> available, Function<? super K, String> nameOf) {
        if (available.isEmpty()) {
            throw new IllegalArgumentException("kernels must include one that runs on every machine, got none");
        }
        this.property = property;
        this.available = List.copyOf(available);
        this.nameOf = nameOf;
    }

    /**
     * The kernels of a native library, or none where it cannot be loaded, which is logged once as a warning.
     *
     * @param <K> the kernels
     * @param otherwise what happens without them: {@code "native scans are not available; lists are scanned in Java"}
     * @param library loads it
     * @return what {@code library} returns, or an empty list
     */
    @SuppressWarnings("IllegalCatch") // whatever keeps a library from loading, Java serves
    public static <K> List<K> orNone(String otherwise, Callable<List<K>> library) {
        try {
            return library.call();
        } catch (Throwable failure) {
            // What went wrong in a static initialiser is the cause of the error that says so.
            Throwable cause = failure.getCause();
            LOG.warn("{}: {}", otherwise, String.valueOf(cause == null ? failure : cause));
            return List.of();
        }
    }

    /** {@return all kernels, the fastest first; the last runs on every machine} */
    public List<K> available() {
        return available;
    }

    /**
     * The fastest kernel, or the one that the system property names.
     *
     * @return one of {@link #available()}
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public K preferred() {
        String name = System.getProperty(property);
        return name == null ? available.getFirst() : named(name);
    }

    /**
     * Returns the kernel of a name.
     *
     * @param name of a kernel
     * @return the kernel
     * @throws IllegalArgumentException if it is none of {@link #available()}
     */
    public K named(String name) {
        for (K kernel : available) {
            if (nameOf.apply(kernel).equals(name)) {
                return kernel;
            }
        }
        throw new IllegalArgumentException(
                property + " must be one of " + available.stream().map(nameOf).toList() + ", got " + name);
    }
}
