package io.github.roost.index.remote.ucx;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.topology.system.NativeAccess;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;
import org.openucx.jucx.NativeLibs;

/** Loads UCX into this process on first use. This class loads without JUCX. Thread-safe. */
final class UcxLibrary {
    /** Declared first: {@code load()} uses it during class initialization. */
    static final FunctionDescriptor SETENV = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);

    private static final @Nullable String UNAVAILABLE = load();

    private UcxLibrary() {}

    /** The reason why UCX cannot be used here, or null if it can. */
    static @Nullable String unavailable() {
        return UNAVAILABLE;
    }

    /** Throws if UCX cannot be used. */
    static void require(String region) throws RemoteMemoryException {
        if (UNAVAILABLE != null) {
            throw new RemoteMemoryException(region, "cannot be reached: " + UNAVAILABLE);
        }
    }

    private static @Nullable String load() {
        try {
            // UCX would handle signals that the JVM needs. It reads its settings when it is loaded.
            setUnlessSet("UCX_ERROR_SIGNALS", "");
            // UCX's errors are thrown as exceptions; its log would go to standard output.
            setUnlessSet("UCX_LOG_LEVEL", "fatal");
            NativeLibs.load();
            return null;
        } catch (NoClassDefFoundError absent) {
            return "the ucx provider needs org.openucx:jucx on the class path (" + absent.getMessage() + ")";
        } catch (LinkageError missing) {
            return "the ucx provider needs the libraries of UCX, Debian's libucx0 (" + missing.getMessage() + ")";
        } catch (IllegalCallerException denied) {
            return NativeAccess.denied("index-remote", UcxLibrary.class);
        }
    }

    @SuppressWarnings("restricted")
    private static void setUnlessSet(String name, String value) {
        Linker linker = Linker.nativeLinker();
        MethodHandle setenv = linker.downcallHandle(linker.defaultLookup().findOrThrow("setenv"), SETENV);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocateFrom(name);
            MemorySegment text = arena.allocateFrom(value);
            int _ = (int) setenv.invokeExact(key, text, 0);
        } catch (Throwable thrown) {
            throw new IllegalStateException("setenv failed", thrown);
        }
    }
}
