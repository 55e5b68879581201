package io.github.roost.topology.ffm;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** Binds native functions by name. */
final class Bindings {
    private final SymbolLookup library;

    Bindings(SymbolLookup library) {
        this.library = library;
    }

    @SuppressWarnings("restricted")
    MethodHandle bind(String function, FunctionDescriptor descriptor, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(function), descriptor, options);
    }

    /** The functions bound here throw nothing: what comes out of them is a broken virtual machine. */
    static AssertionError unexpected(Throwable thrown) {
        return new AssertionError("a native call threw", thrown);
    }
}
