package io.github.roost.topology.system;

import io.github.roost.topology.hwloc.NativeUnavailableException;

/** The message of modules that the JVM does not let call native functions. Stateless. */
public final class NativeAccess {
    private NativeAccess() {}

    /**
     * Returns a message that names the JVM argument that allows native access.
     *
     * @param module the name of the module in the message, such as {@code core}
     * @param caller a class of that module
     * @return the message, without a full stop
     */
    public static String denied(String module, Class<?> caller) {
        return NativeUnavailableException.denied(module, caller);
    }
}
