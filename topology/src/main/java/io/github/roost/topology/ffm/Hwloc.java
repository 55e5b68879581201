package io.github.roost.topology.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The functions of hwloc 2.x that Roost uses. hwloc's own inline functions are not exported by the library, so objects
 * are found by depth. Thread-safe; a {@link Loaded} machine is not.
 */
public final class Hwloc {
    /** Kinds of object, with hwloc's numbers for them. */
    public enum Kind {
        PACKAGE(1),
        CORE(2),
        PU(3),
        L2(5),
        L3(6),
        NUMA_NODE(13);

        private final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    /** The library could not be used; the message says why. */
    public static final class UnavailableException extends Exception {
        private static final long serialVersionUID = 1;

        UnavailableException(String message) {
            super(message);
        }
    }

    private static final String LIBRARY =
            System.getProperty("os.name", "").startsWith("Mac") ? "libhwloc.15.dylib" : "libhwloc.so.15";
    private static final long IS_THIS_SYSTEM = 1L << 1;
    /** Depth of a type that the machine does not have, and of one that it has at several depths. */
    private static final int DEPTH_UNKNOWN = -1;

    private static final int DEPTH_MULTIPLE = -2;
    /** Offsets in struct hwloc_obj on every LP64 platform. */
    private static final long OBJECT_BYTES = 248;

    private static final long OS_INDEX = 16;
    private static final long ATTRIBUTES = 40;
    private static final long LOGICAL_INDEX = 52;
    private static final long CPUSET = 184;

    private final MethodHandle init;
    private final MethodHandle load;
    private final MethodHandle destroy;
    private final MethodHandle setXml;
    private final MethodHandle setSynthetic;
    private final MethodHandle setFlags;
    private final MethodHandle typeDepth;
    private final MethodHandle countAtDepth;
    private final MethodHandle objectAtDepth;
    private final MethodHandle bitmapNext;
    private final MethodHandle kindCount;
    private final MethodHandle kindOfCpus;
    private final MethodHandle kindInfo;

    private Hwloc(Bindings hwloc) {
        FunctionDescriptor intOfPointer = FunctionDescriptor.of(JAVA_INT, ADDRESS);
        FunctionDescriptor intOfTwoPointers = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS);
        this.init = hwloc.bind("hwloc_topology_init", intOfPointer);
        this.load = hwloc.bind("hwloc_topology_load", intOfPointer);
        this.destroy = hwloc.bind("hwloc_topology_destroy", FunctionDescriptor.ofVoid(ADDRESS));
        this.setXml = hwloc.bind("hwloc_topology_set_xml", intOfTwoPointers);
        this.setSynthetic = hwloc.bind("hwloc_topology_set_synthetic", intOfTwoPointers);
        this.setFlags = hwloc.bind("hwloc_topology_set_flags", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        this.typeDepth = hwloc.bind("hwloc_get_type_depth", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
        this.countAtDepth = hwloc.bind("hwloc_get_nbobjs_by_depth", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
        this.objectAtDepth =
                hwloc.bind("hwloc_get_obj_by_depth", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, JAVA_INT));
        this.bitmapNext = hwloc.bind("hwloc_bitmap_next", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
        this.kindCount = hwloc.bind("hwloc_cpukinds_get_nr", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        this.kindOfCpus = hwloc.bind(
                "hwloc_cpukinds_get_by_cpuset", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG));
        this.kindInfo = hwloc.bind(
                "hwloc_cpukinds_get_info",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
    }

    /** Loads the library, or says why it cannot be used. */
    public static Hwloc open() throws UnavailableException {
        return open(System.getProperty("roost.hwloc.library", LIBRARY));
    }

    @SuppressWarnings("restricted")
    static Hwloc open(String library) throws UnavailableException {
        SymbolLookup symbols;
        try {
            symbols = SymbolLookup.libraryLookup(library, Arena.global());
        } catch (IllegalArgumentException | IllegalCallerException e) {
            throw new UnavailableException(library + " could not be loaded");
        }
        Bindings bindings = new Bindings(symbols);
        int version = apiVersion(bindings);
        if (version >> 16 != 2) {
            throw new UnavailableException(
                    "hwloc must be version 2.x, " + library + " is " + (version >> 16) + "." + (version >> 8 & 0xff));
        }
        return new Hwloc(bindings);
    }

    private static int apiVersion(Bindings bindings) {
        try {
            return (int) bindings.bind("hwloc_get_api_version", FunctionDescriptor.of(JAVA_INT))
                    .invokeExact();
        } catch (Throwable e) {
            throw Bindings.unexpected(e);
        }
    }

    /** Where a description of a machine comes from. */
    public enum Origin {
        LIVE,
        XML,
        SYNTHETIC
    }

    /**
     * Loads a machine.
     *
     * @param description a file name or a synthetic description; unused for the live machine
     * @throws IllegalArgumentException if hwloc does not accept the description
     */
    public Loaded load(Origin origin, String description) {
        Arena arena = Arena.ofConfined();
        try {
            MemorySegment out = arena.allocate(ADDRESS);
            check((int) init.invokeExact(out), "hwloc_topology_init");
            Loaded loaded = new Loaded(arena, out.get(ADDRESS, 0));
            try {
                loaded.load(origin, description);
            } catch (Throwable e) {
                loaded.close();
                throw e;
            }
            return loaded;
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Bindings.unexpected(e);
        }
    }

    private static void check(int result, String function) {
        if (result < 0) {
            throw new IllegalStateException(function + " failed");
        }
    }

    /** A machine that hwloc has loaded. Used by one thread. */
    public final class Loaded implements AutoCloseable {
        private final Arena arena;
        private final MemorySegment topology;

        private Loaded(Arena arena, MemorySegment topology) {
            this.arena = arena;
            this.topology = topology;
        }

        private void load(Origin origin, String description) throws Throwable {
            MemorySegment text = arena.allocateFrom(description);
            boolean accepted = switch (origin) {
                case LIVE -> (int) setFlags.invokeExact(topology, IS_THIS_SYSTEM) == 0;
                case XML -> (int) setXml.invokeExact(topology, text) == 0;
                case SYNTHETIC -> (int) setSynthetic.invokeExact(topology, text) == 0;
            };
            if (!accepted || (int) load.invokeExact(topology) != 0) {
                throw new IllegalArgumentException("hwloc does not accept \"" + description + "\"");
            }
        }

        /** All objects of a kind, in logical order; none where the machine has no such level. */
        public List<HwlocObject> objects(Kind kind) {
            try {
                int depth = (int) typeDepth.invokeExact(topology, kind.number);
                if (depth == DEPTH_UNKNOWN || depth == DEPTH_MULTIPLE) {
                    return List.of();
                }
                int count = (int) countAtDepth.invokeExact(topology, depth);
                List<HwlocObject> objects = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    MemorySegment object = (MemorySegment) objectAtDepth.invokeExact(topology, depth, i);
                    objects.add(read(view(object, OBJECT_BYTES), kind));
                }
                return objects;
            } catch (RuntimeException e) {
                throw e;
            } catch (Throwable e) {
                throw Bindings.unexpected(e);
            }
        }

        private HwlocObject read(MemorySegment object, Kind kind) throws Throwable {
            boolean cache = kind == Kind.L2 || kind == Kind.L3;
            long cacheBytes = cache
                    ? view(object.get(ADDRESS, ATTRIBUTES), JAVA_LONG.byteSize())
                            .get(JAVA_LONG, 0)
                    : 0;
            return new HwlocObject(
                    object.get(JAVA_INT, OS_INDEX),
                    object.get(JAVA_INT, LOGICAL_INDEX),
                    cacheBytes,
                    bits(object.get(ADDRESS, CPUSET)));
        }

        private BitSet bits(MemorySegment bitmap) throws Throwable {
            BitSet bits = new BitSet();
            int bit = (int) bitmapNext.invokeExact(bitmap, -1);
            while (bit >= 0) {
                bits.set(bit);
                bit = (int) bitmapNext.invokeExact(bitmap, bit);
            }
            return bits;
        }

        /** Efficiency class of each core, in logical order; higher is faster, -1 where the cores are alike. */
        public int[] coreEfficiencies() {
            try {
                int depth = (int) typeDepth.invokeExact(topology, Kind.CORE.number);
                int kinds = (int) kindCount.invokeExact(topology, 0L);
                int cores = depth < 0 ? 0 : (int) countAtDepth.invokeExact(topology, depth);
                int[] efficiencies = new int[cores];
                MemorySegment efficiency = arena.allocate(JAVA_INT);
                for (int core = 0; core < cores; core++) {
                    efficiencies[core] = kinds < 2 ? -1 : efficiencyOf(depth, core, efficiency);
                }
                return efficiencies;
            } catch (RuntimeException e) {
                throw e;
            } catch (Throwable e) {
                throw Bindings.unexpected(e);
            }
        }

        private int efficiencyOf(int depth, int core, MemorySegment out) throws Throwable {
            MemorySegment object = view((MemorySegment) objectAtDepth.invokeExact(topology, depth, core), OBJECT_BYTES);
            int kind = (int) kindOfCpus.invokeExact(topology, object.get(ADDRESS, CPUSET), 0L);
            if (kind < 0) {
                return -1;
            }
            int result = (int) kindInfo.invokeExact(
                    topology, kind, MemorySegment.NULL, out, MemorySegment.NULL, MemorySegment.NULL, 0L);
            return result < 0 ? -1 : out.get(JAVA_INT, 0);
        }

        @SuppressWarnings("restricted")
        private MemorySegment view(MemorySegment address, long bytes) {
            return address.reinterpret(bytes, arena, null);
        }

        @Override
        public void close() {
            try {
                destroy.invokeExact(topology);
            } catch (Throwable e) {
                throw Bindings.unexpected(e);
            }
            arena.close();
        }
    }
}
