package io.github.roost.index.remote.ucx;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.index.remote.RemoteMemoryException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;
import org.openucx.jucx.NativeLibs;

/** UCX in this process, loaded when it is first asked for. No class of JUCX is needed to load this one. Thread-safe. */
final class UcxLibrary {
    /** Before what is loaded with it. */
    static final FunctionDescriptor SETENV = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);

    private static final @Nullable String UNAVAILABLE = load();

    private UcxLibrary() {}

    /** Why UCX cannot be used here, or null where it can. */
    static @Nullable String unavailable() {
        return UNAVAILABLE;
    }

    /** Refuses where UCX cannot be used. */
    static void require(String region) throws RemoteMemoryException {
        if (UNAVAILABLE != null) {
            throw new RemoteMemoryException(region, "cannot be reached: " + UNAVAILABLE);
        }
    }

    private static @Nullable String load() {
        try {
            // UCX would take signals that the JVM needs for itself, and reads its settings when it is loaded.
            setUnlessSet("UCX_ERROR_SIGNALS", "");
            // Its errors come as exceptions; its log would go to standard output.
            setUnlessSet("UCX_LOG_LEVEL", "fatal");
            NativeLibs.load();
            return null;
        } catch (NoClassDefFoundError absent) {
            return "the ucx provider needs org.openucx:jucx on the class path (" + absent.getMessage() + ")";
        } catch (LinkageError missing) {
            return "the ucx provider needs the libraries of UCX, Debian's libucx0 (" + missing.getMessage() + ")";
        } catch (IllegalCallerException denied) {
            return "native access is denied to Roost's index-remote module";
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
