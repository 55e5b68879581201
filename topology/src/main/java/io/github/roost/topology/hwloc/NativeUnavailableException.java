package io.github.roost.topology.hwloc;

/** Thrown if a native library cannot be used in this process: it is missing or of another version, or native access is denied. */
public final class NativeUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean isDenied;

    NativeUnavailableException(String message) {
        super(message);
        this.isDenied = false;
    }

    private NativeUnavailableException(String message, IllegalCallerException denied) {
        super(message, denied);
        this.isDenied = true;
    }

    /** The JVM does not let this module call native functions. */
    static NativeUnavailableException denied(IllegalCallerException cause) {
        return new NativeUnavailableException(denied("topology", NativeUnavailableException.class), cause);
    }

    /** The message for a module that may not call native functions. It names the JVM argument that allows it. */
    public static String denied(String module, Class<?> caller) {
        return "native access is denied to Roost's " + module + " module; to allow it: --enable-native-access="
                + name(caller.getModule());
    }

    private static String name(Module module) {
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }

    /** Whether the JVM denies native access; then there is nothing to install. */
    public boolean isDenied() {
        return isDenied;
    }
}
