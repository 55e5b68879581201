package io.github.roost.vector.kernel;

import io.github.roost.topology.system.NativeAccess;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The implementations of one kernel that this machine can run, and the choice of one. Immutable.
 *
 * @param <K> the type of the kernels
 */
public final class Kernels<K> {
    private static final Logger LOG = LoggerFactory.getLogger(Kernels.class);

    private final String property;
    private final List<K> available;
    private final Function<? super K, String> nameOf;

    /**
     * Creates a choice of kernels.
     *
     * @param property the system property that names the kernel to use
     * @param available the kernels, the fastest first; the last runs on every machine
     * @param nameOf returns the name of a kernel
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
     * Returns the kernels of a native library, or none if it cannot be loaded; then logs a warning.
     *
     * @param <K> the type of the kernels
     * @param otherwise the warning, such as {@code "native scans are not available; lists are scanned in Java"}
     * @param library loads the library and returns its kernels
     * @return the result of {@code library}, or an empty list
     */
    @SuppressWarnings("IllegalCatch") // whatever keeps a library from loading, Java serves
    public static <K> List<K> orNone(String otherwise, Callable<List<K>> library) {
        try {
            return library.call();
        } catch (Throwable failure) {
            // The cause of an ExceptionInInitializerError is the exception of the static initializer.
            Throwable cause = Objects.requireNonNullElse(failure.getCause(), failure);
            LOG.warn(
                    "{}: {}",
                    otherwise,
                    cause instanceof IllegalCallerException
                            ? NativeAccess.denied("core", Kernels.class)
                            : cause.toString());
            return List.of();
        }
    }

    /** {@return all kernels, the fastest first; the last runs on every machine} */
    public List<K> available() {
        return available;
    }

    /**
     * Returns the kernel that the system property names, or the fastest if it is not set.
     *
     * @return one of {@link #available()}
     * @throws IllegalArgumentException if the property names none of {@link #available()}
     */
    public K preferred() {
        String name = System.getProperty(property);
        return name == null ? available.getFirst() : named(name);
    }

    /**
     * Returns the kernel with a name.
     *
     * @param name the name of a kernel
     * @return the kernel
     * @throws IllegalArgumentException if no kernel of {@link #available()} has the name
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
