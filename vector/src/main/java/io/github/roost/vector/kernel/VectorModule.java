package io.github.roost.vector.kernel;

import org.jspecify.annotations.Nullable;

/** Check of the JVM arguments of jvector, which some indexes use to build graphs. Stateless. */
public final class VectorModule {
    private static final String VECTORIZATION = "jvector.vectorization_provider";
    private static final String MODULE = "jdk.incubator.vector";

    private VectorModule() {}

    /**
     * Checks that the JVM has the module that jvector is set to use. Without it jvector fails in a static initializer, with an error that
     * names no argument.
     *
     * @throws IllegalStateException if jvector is set to use a module that the JVM was not started with; the message names both arguments
     */
    public static void requireArguments() {
        requireArguments(System.getProperty(VECTORIZATION), ModuleLayer.boot());
    }

    static void requireArguments(@Nullable String vectorization, ModuleLayer modules) {
        if ("panama".equals(vectorization) && modules.findModule(MODULE).isEmpty()) {
            throw new IllegalStateException("-D" + VECTORIZATION + "=panama needs --add-modules " + MODULE
                    + ": start the JVM with both arguments, or with neither");
        }
    }
}
