package io.github.roost.core.kernel;

import org.jspecify.annotations.Nullable;

/** The JVM arguments of jvector, by which some indexes build graphs. For authors of indexes. Stateless. */
public final class VectorModule {
    private static final String VECTORIZATION = "jvector.vectorization_provider";
    private static final String MODULE = "jdk.incubator.vector";

    private VectorModule() {}

    /**
     * Refuses half of the arguments, before jvector ends in an error of its own static initialiser, which names no argument.
     *
     * @throws IllegalStateException if jvector is told to use a module that the JVM has not been given; names both arguments
     */
    public static void requireArguments() {
        requireArguments(System.getProperty(VECTORIZATION), ModuleLayer.boot());
    }

    static void requireArguments(@Nullable String vectorization, ModuleLayer modules) {
        if ("panama".equals(vectorization) && modules.findModule(MODULE).isEmpty()) {
            throw new IllegalStateException("-D" + VECTORIZATION + "=panama needs --add-modules " + MODULE
                    + " beside it: give the JVM both arguments, or neither");
        }
    }
}
