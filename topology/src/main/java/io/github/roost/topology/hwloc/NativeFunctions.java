package io.github.roost.topology.hwloc;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Links the functions of one native library; the exception for a missing function names it. */
final class NativeFunctions {
    private static final Linker LINKER = Linker.nativeLinker();

    private final String library;
    private final SymbolLookup symbols;
    private final Map<String, FunctionDescriptor> linked = new ConcurrentHashMap<>();

    NativeFunctions(String library, SymbolLookup symbols) {
        this.library = library;
        this.symbols = symbols;
    }

    /**
     * The functions of Linux's C library.
     *
     * @throws NativeUnavailableException if this is not Linux
     */
    static NativeFunctions ofLinux() {
        String system = System.getProperty("os.name", "");
        if (!system.toLowerCase(Locale.ROOT).startsWith("linux")) {
            throw new NativeUnavailableException("threads and memory are placed on Linux only, not on " + system);
        }
        return new NativeFunctions("the C library", LINKER.defaultLookup());
    }

    boolean has(String name) {
        return symbols.find(name).isPresent();
    }

    @SuppressWarnings("restricted")
    MethodHandle link(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        var address = symbols.find(name)
                .orElseThrow(() -> new NativeUnavailableException(library + " has no function " + name));
        linked.put(name, descriptor);
        try {
            return LINKER.downcallHandle(address, descriptor, options);
        } catch (IllegalCallerException denied) {
            throw NativeUnavailableException.denied(denied);
        }
    }

    /** The functions linked so far, for a test to compare with the header. */
    Map<String, FunctionDescriptor> linked() {
        return Map.copyOf(linked);
    }

    /** Converts what a downcall threw: it declares {@code Throwable}, but throws unchecked exceptions and errors only. */
    static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException unchecked) {
            return unchecked;
        }
        return new IllegalStateException("a native call failed", thrown);
    }
}
