package io.github.roost.topology.hwloc;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The functions and struct fields of hwloc 2.x that Roost uses, as the header declares them.
 *
 * <p>The descriptors are data ({@link #FUNCTIONS}), so that a test can compare them with the installed header, including
 * functions that the installed library lacks.
 */
final class HwlocBindings {
    /** The system property that names another library than the system's: a file path or a name for the dynamic linker. */
    static final String LIBRARY_PROPERTY = "roost.hwloc.library";

    /** The head of {@code struct hwloc_obj}, up to the last field that is read. */
    static final StructLayout OBJECT = MemoryLayout.structLayout(
            JAVA_INT.withName("type"),
            MemoryLayout.paddingLayout(4),
            ADDRESS.withName("subtype"),
            JAVA_INT.withName("os_index"),
            MemoryLayout.paddingLayout(4),
            ADDRESS.withName("name"),
            JAVA_LONG.withName("total_memory"),
            ADDRESS.withName("attr"),
            MemoryLayout.paddingLayout(184 - 48),
            ADDRESS.withName("cpuset"));

    static final long OS_INDEX = OBJECT.byteOffset(groupElement("os_index"));
    static final long ATTR = OBJECT.byteOffset(groupElement("attr"));
    static final long CPUSET = OBJECT.byteOffset(groupElement("cpuset"));

    /** In {@code union hwloc_obj_attr_u}, {@code cache.size} and {@code numanode.local_memory} are both at offset 0. */
    static final long ATTR_BYTES = 0;

    static final Map<String, FunctionDescriptor> FUNCTIONS = functions();

    private static final int API_MAJOR = 2;
    private static final List<String> SONAMES = List.of("libhwloc.so.15", "libhwloc.so");

    private static @Nullable HwlocBindings opened;

    final MethodHandle topologyInit;
    final MethodHandle topologySetFlags;
    final MethodHandle topologySetXmlBuffer;
    final MethodHandle topologySetSynthetic;
    final MethodHandle topologyLoad;
    final MethodHandle topologyDestroy;
    final MethodHandle topologyIsThisSystem;
    final MethodHandle topologyAllowedCpus;
    final MethodHandle topologyCompleteCpus;
    final MethodHandle typeDepth;
    final MethodHandle countByDepth;
    final MethodHandle objectByDepth;
    final MethodHandle bitmapAlloc;
    final MethodHandle bitmapFree;
    final MethodHandle bitmapNext;
    /** Null before hwloc 2.4. */
    final @Nullable MethodHandle cpuKindsCount;

    final @Nullable MethodHandle cpuKindsInfo;

    private HwlocBindings(NativeFunctions library) {
        topologyInit = link(library, "hwloc_topology_init");
        topologySetFlags = link(library, "hwloc_topology_set_flags");
        topologySetXmlBuffer = link(library, "hwloc_topology_set_xmlbuffer");
        topologySetSynthetic = link(library, "hwloc_topology_set_synthetic");
        topologyLoad = link(library, "hwloc_topology_load");
        topologyDestroy = link(library, "hwloc_topology_destroy");
        topologyIsThisSystem = link(library, "hwloc_topology_is_thissystem");
        topologyAllowedCpus = link(library, "hwloc_topology_get_allowed_cpuset");
        topologyCompleteCpus = link(library, "hwloc_topology_get_complete_cpuset");
        typeDepth = link(library, "hwloc_get_type_depth");
        countByDepth = link(library, "hwloc_get_nbobjs_by_depth");
        objectByDepth = link(library, "hwloc_get_obj_by_depth");
        bitmapAlloc = link(library, "hwloc_bitmap_alloc");
        bitmapFree = link(library, "hwloc_bitmap_free");
        bitmapNext = link(library, "hwloc_bitmap_next");
        boolean kinds = library.has("hwloc_cpukinds_get_nr");
        cpuKindsCount = kinds ? link(library, "hwloc_cpukinds_get_nr") : null;
        cpuKindsInfo = kinds ? link(library, "hwloc_cpukinds_get_info") : null;
    }

    /**
     * The system's hwloc, or the library that the property {@value #LIBRARY_PROPERTY} names.
     *
     * @throws NativeUnavailableException if there is none, or it is not hwloc 2.x
     */
    static synchronized HwlocBindings open() {
        if (opened == null) {
            String named = System.getProperty(LIBRARY_PROPERTY);
            opened = load(named == null ? SONAMES : List.of(named));
        }
        return opened;
    }

    private static HwlocBindings load(List<String> names) {
        for (String name : names) {
            NativeFunctions library = find(name);
            if (library != null) {
                checkVersion(name, library);
                HwlocBindings bindings = new HwlocBindings(library);
                bindings.keepPluginsLoaded();
                return bindings;
            }
        }
        throw new NativeUnavailableException("hwloc 2.x is not installed (no " + names.getFirst() + ")");
    }

    /**
     * Initializes a topology that is never loaded or destroyed. hwloc unloads its plugins with the last topology and
     * reloads them with the next, which costs 3 ms; reading a small machine takes 11 us.
     */
    private void keepPluginsLoaded() {
        try {
            int ignored = (int) topologyInit.invokeExact(Arena.global().allocate(ADDRESS));
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    @SuppressWarnings("restricted")
    private static @Nullable NativeFunctions find(String name) {
        try {
            return new NativeFunctions(name, SymbolLookup.libraryLookup(name, Arena.global()));
        } catch (IllegalArgumentException missing) {
            return null;
        } catch (IllegalCallerException denied) {
            throw NativeUnavailableException.denied(denied);
        }
    }

    private static void checkVersion(String name, NativeFunctions library) {
        int version;
        try {
            version = (int) link(library, "hwloc_get_api_version").invokeExact();
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
        if (version >> 16 != API_MAJOR) {
            throw new NativeUnavailableException("Roost needs hwloc 2.x, and " + name + " is hwloc " + (version >> 16)
                    + "." + (version >> 8 & 0xff));
        }
    }

    private static MethodHandle link(NativeFunctions library, String name) {
        return library.link(name, descriptor(name));
    }

    private static FunctionDescriptor descriptor(String name) {
        FunctionDescriptor descriptor = FUNCTIONS.get(name);
        if (descriptor == null) {
            throw new IllegalArgumentException("no descriptor for the function " + name);
        }
        return descriptor;
    }

    private static Map<String, FunctionDescriptor> functions() {
        Map<String, FunctionDescriptor> functions = new LinkedHashMap<>();
        functions.put("hwloc_get_api_version", FunctionDescriptor.of(JAVA_INT));
        functions.put("hwloc_topology_init", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        functions.put("hwloc_topology_set_flags", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        functions.put("hwloc_topology_set_xmlbuffer", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
        functions.put("hwloc_topology_set_synthetic", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
        functions.put("hwloc_topology_load", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        functions.put("hwloc_topology_destroy", FunctionDescriptor.ofVoid(ADDRESS));
        functions.put("hwloc_topology_is_thissystem", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        functions.put("hwloc_topology_get_allowed_cpuset", FunctionDescriptor.of(ADDRESS, ADDRESS));
        functions.put("hwloc_topology_get_complete_cpuset", FunctionDescriptor.of(ADDRESS, ADDRESS));
        functions.put("hwloc_get_type_depth", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
        functions.put("hwloc_get_nbobjs_by_depth", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
        functions.put("hwloc_get_obj_by_depth", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, JAVA_INT));
        functions.put("hwloc_bitmap_alloc", FunctionDescriptor.of(ADDRESS));
        functions.put("hwloc_bitmap_free", FunctionDescriptor.ofVoid(ADDRESS));
        functions.put("hwloc_bitmap_next", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
        functions.put("hwloc_cpukinds_get_nr", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        functions.put(
                "hwloc_cpukinds_get_info",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
        return functions;
    }
}
