package io.github.roost.core.kernel;

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
 * A shared library that a module brings as a resource. It stays loaded for the life of the JVM. Thread-safe.
 *
 * <p>A handle is a constant, and a call through it is compiled to a call, only where it is kept in a {@code static final}
 * field.
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
     * Loads the library for this machine's operating system and architecture: from {@code SYSTEM-ARCHITECTURE/libNAME.so} in the
     * directory that the system property {@code roost.native.directory} names, else from a folder {@code native} beside the
     * module's jar; where neither has it, it is copied to a temporary file that only its owner can read and that is deleted before
     * this method returns.
     *
     * @param owner a class of the module that brings {@code native/SYSTEM-ARCHITECTURE/libNAME.so}
     * @param name the library's
     * @return the library
     * @throws UncheckedIOException if the module brings none for this machine, or the file cannot be written
     * @throws IllegalArgumentException if the file is not a library that this machine loads
     */
    public static NativeLibrary load(Class<?> owner, String name) {
        try {
            return new NativeLibrary(
                    name, NativeResource.load(owner, name, file -> SymbolLookup.libraryLookup(file, Arena.global())));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * Binds a function.
     *
     * @param function its name
     * @param descriptor its arguments and result
     * @param options of the linker
     * @return a handle, to be invoked with exactly the descriptor's types
     * @throws java.util.NoSuchElementException if the library has no such function
     */
    public MethodHandle function(String function, FunctionDescriptor descriptor, Linker.Option... options) {
        functions.put(function, descriptor);
        return Linker.nativeLinker().downcallHandle(symbols.findOrThrow(function), descriptor, options);
    }

    /** {@return the functions that have been bound, by name, to be held against the header that declares them} */
    public Map<String, FunctionDescriptor> functions() {
        return Map.copyOf(functions);
    }

    /**
     * Makes one kernel for each instruction set that the library is written for and this CPU has. The library says so by a
     * function {@code int32_t NAME_supports(int32_t isa)}.
     *
     * @param <K> the kernels
     * @param kernel of an instruction set
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
