package io.github.roost.topology.hwloc;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * One loaded hwloc topology; holds native memory until it is closed. Not thread-safe.
 *
 * <p>It includes the PUs that the process may not use, so that the model can show them; {@link #allowedCpus} is the set of
 * allowed PUs.
 */
public final class HwlocTopology implements AutoCloseable {
    /** More CPUs or nodes than any machine has; a set in a file may be infinite. */
    private static final int MAX_BIT = 65_535;

    private static final long INCLUDE_DISALLOWED = 1;
    private static final int NOT_FOUND = -1;

    private final HwlocBindings hwloc;
    private final MemorySegment topology;

    private HwlocTopology(HwlocBindings hwloc, MemorySegment topology) {
        this.hwloc = hwloc;
        this.topology = topology;
    }

    /**
     * The machine that this process runs on (or the one that hwloc's own environment variables substitute).
     *
     * @throws NativeUnavailableException if hwloc 2.x cannot be used
     * @throws HwlocException if the machine cannot be read
     */
    public static HwlocTopology live() {
        return load(HwlocBindings.open(), (hwloc, topology, arena) -> {});
    }

    /**
     * The machine that an hwloc XML document describes.
     *
     * @throws NativeUnavailableException if hwloc 2.x cannot be used
     * @throws HwlocException if hwloc cannot load the document
     */
    public static HwlocTopology xml(byte[] document) {
        return load(HwlocBindings.open(), (hwloc, topology, arena) -> {
            MemorySegment buffer = arena.allocate(document.length + 1L);
            MemorySegment.copy(document, 0, buffer, JAVA_BYTE, 0, document.length);
            int result = (int) hwloc.topologySetXmlBuffer.invokeExact(topology, buffer, document.length + 1);
            requireSuccess(result, "it is not an hwloc XML document");
        });
    }

    /**
     * The machine that an hwloc synthetic description gives, for example {@code pack:2 l3:4 core:8 pu:2}.
     *
     * @throws NativeUnavailableException if hwloc 2.x cannot be used
     * @throws HwlocException if the description is not valid
     */
    public static HwlocTopology synthetic(String description) {
        return load(HwlocBindings.open(), (hwloc, topology, arena) -> {
            int result = (int) hwloc.topologySetSynthetic.invokeExact(topology, arena.allocateFrom(description));
            requireSuccess(result, "it is not a valid synthetic description");
        });
    }

    private static HwlocTopology load(HwlocBindings hwloc, Source source) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment slot = arena.allocate(ADDRESS);
            requireSuccess((int) hwloc.topologyInit.invokeExact(slot), "hwloc could not start a topology");
            HwlocTopology loaded = new HwlocTopology(hwloc, slot.get(ADDRESS, 0));
            try {
                loaded.loadFrom(source, arena);
            } catch (Throwable thrown) {
                loaded.close();
                throw thrown;
            }
            return loaded;
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    private void loadFrom(Source source, Arena arena) throws Throwable {
        source.set(hwloc, topology, arena);
        requireSuccess(
                (int) hwloc.topologySetFlags.invokeExact(topology, INCLUDE_DISALLOWED), "hwloc refused the load flags");
        requireSuccess(
                (int) hwloc.topologyLoad.invokeExact(topology),
                "hwloc could not load it, it is not a whole hwloc description of a machine");
    }

    /** Whether the PU numbers are CPUs of the machine that this process runs on. */
    public boolean isThisSystem() {
        try {
            return (int) hwloc.topologyIsThisSystem.invokeExact(topology) != 0;
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /** The objects of a type in hwloc's logical order; empty if the machine has none. */
    public List<HwlocObject> objects(HwlocObjectType type) {
        try {
            List<HwlocObject> objects = new ArrayList<>();
            int depth = (int) hwloc.typeDepth.invokeExact(topology, type.number());
            int count = depth == NOT_FOUND ? 0 : (int) hwloc.countByDepth.invokeExact(topology, depth);
            for (int i = 0; i < count; i++) {
                objects.add(copy(type, (MemorySegment) hwloc.objectByDepth.invokeExact(topology, depth, i)));
            }
            return objects;
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    @SuppressWarnings("restricted")
    private HwlocObject copy(HwlocObjectType type, MemorySegment address) throws Throwable {
        MemorySegment object = address.reinterpret(HwlocBindings.OBJECT.byteSize());
        boolean sized = type.isCache() || type == HwlocObjectType.NUMA_NODE;
        long bytes = sized
                ? object.get(ADDRESS, HwlocBindings.ATTR)
                        .reinterpret(HwlocBindings.ATTR_BYTES + JAVA_LONG.byteSize())
                        .get(JAVA_LONG, HwlocBindings.ATTR_BYTES)
                : 0;
        return new HwlocObject(
                object.get(JAVA_INT, HwlocBindings.OS_INDEX), bits(object.get(ADDRESS, HwlocBindings.CPUSET)), bytes);
    }

    /** The PUs that the process's cgroup, or the document, allows. A thread's affinity mask may be narrower. */
    public BitSet allowedCpus() {
        return cpus(hwloc.topologyAllowedCpus);
    }

    /** All known PUs, including offline ones. */
    public BitSet completeCpus() {
        return cpus(hwloc.topologyCompleteCpus);
    }

    private BitSet cpus(MethodHandle getter) {
        try {
            return bits((MemorySegment) getter.invokeExact(topology));
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /**
     * The kinds of cores, the slowest first: the element at an efficiency class holds the PUs of that class. Empty if hwloc
     * cannot tell cores apart.
     */
    public List<BitSet> cpuKinds() {
        MethodHandle count = hwloc.cpuKindsCount;
        MethodHandle info = hwloc.cpuKindsInfo;
        if (count == null || info == null) {
            return List.of();
        }
        try {
            List<BitSet> kinds = new ArrayList<>();
            int found = (int) count.invokeExact(topology, 0L);
            for (int kind = 0; kind < found; kind++) {
                kinds.add(kindCpus(info, kind));
            }
            return kinds;
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    private BitSet kindCpus(MethodHandle info, int kind) throws Throwable {
        MemorySegment none = MemorySegment.NULL;
        MemorySegment cpus = (MemorySegment) hwloc.bitmapAlloc.invokeExact();
        try {
            requireSuccess(
                    (int) info.invokeExact(topology, kind, cpus, none, none, none, 0L),
                    "hwloc does not describe CPU kind " + kind);
            return bits(cpus);
        } finally {
            hwloc.bitmapFree.invokeExact(cpus);
        }
    }

    private BitSet bits(MemorySegment bitmap) throws Throwable {
        BitSet bits = new BitSet();
        if (bitmap.address() == 0) {
            return bits;
        }
        int bit = (int) hwloc.bitmapNext.invokeExact(bitmap, -1);
        while (bit >= 0) {
            if (bit > MAX_BIT) {
                throw new HwlocException("hwloc has a set of CPUs or nodes beyond number " + MAX_BIT);
            }
            bits.set(bit);
            bit = (int) hwloc.bitmapNext.invokeExact(bitmap, bit);
        }
        return bits;
    }

    @Override
    public void close() {
        try {
            hwloc.topologyDestroy.invokeExact(topology);
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    private static void requireSuccess(int result, String otherwise) {
        if (result < 0) {
            throw new HwlocException(otherwise);
        }
    }

    @FunctionalInterface
    private interface Source {
        void set(HwlocBindings hwloc, MemorySegment topology, Arena arena) throws Throwable;
    }
}
