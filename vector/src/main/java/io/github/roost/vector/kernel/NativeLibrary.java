package io.github.roost.vector.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * A shared library that a module contains as a resource. It stays loaded for the life of the JVM. Thread-safe.
 *
 * <p>Keep handles in {@code static final} fields: only then are they constants that the JIT compiles to a direct call.
 */
@SuppressWarnings("restricted")
public final class NativeLibrary {
    private final String name;
    private final SymbolLookup symbols;
    private final Map<String, FunctionDescriptor> functions = new ConcurrentHashMap<>();

    private NativeLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    /**
     * Loads the library for this machine's operating system and architecture: from {@code SYSTEM-ARCHITECTURE/libNAME.so} in the directory
     * named by the system property {@code roost.native.directory}, or else in a folder {@code native} next to the module's jar. If neither
     * has it, the resource is compared with its checksum and copied to a file that only its owner can read and that is deleted before this
     * method returns: in the directory of the property, or else in the one for temporary files.
     *
     * @param owner a class of the module that contains {@code native/SYSTEM-ARCHITECTURE/libNAME.so}
     * @param name the name of the library, without {@code lib} and {@code .so}
     * @return the library
     * @throws UncheckedIOException if the module contains no library for this machine, it is damaged, or this machine cannot load it
     * @throws IllegalArgumentException if this machine cannot load a file that was found as a library
     */
    public static NativeLibrary load(Class<?> owner, String name) {
        try {
            return new NativeLibrary(
                    name, NativeResource.load(owner, name, file -> SymbolLookup.libraryLookup(file, Arena.global())));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure.getMessage(), failure);
        }
    }

    /**
     * Binds a function.
     *
     * @param function the name of the function
     * @param descriptor the types of its arguments and result
     * @param options linker options
     * @return a handle, to be called by {@code invokeExact} with the descriptor's types
     * @throws java.util.NoSuchElementException if the library has no such function
     */
    public MethodHandle function(String function, FunctionDescriptor descriptor, Linker.Option... options) {
        functions.put(function, descriptor);
        return Linker.nativeLinker().downcallHandle(symbols.findOrThrow(function), descriptor, options);
    }

    /** {@return the functions that have been bound, by name, to be compared with the header that declares them} */
    public Map<String, FunctionDescriptor> functions() {
        return Map.copyOf(functions);
    }

    /**
     * Creates one kernel per instruction set that both the library and this CPU support, as reported by the library's function
     * {@code int32_t NAME_supports(int32_t isa)}.
     *
     * @param <K> the type of the kernels
     * @param kernel creates the kernel of an instruction set
     * @return the kernels, the widest vectors first
     */
    @SuppressWarnings("IllegalCatch") // what a method handle declares
    public <K> List<K> supported(Function<InstructionSet, ? extends K> kernel) {
        MethodHandle supports = function(name + "_supports", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        List<K> kernels = new ArrayList<>();
        for (InstructionSet set : InstructionSet.BEST_FIRST) {
            try {
                if ((int) supports.invokeExact(set.code()) != 0) {
                    kernels.add(kernel.apply(set));
                }
            } catch (Throwable failure) {
                throw new IllegalStateException(name + "_supports failed", failure);
            }
        }
        return kernels;
    }
}
