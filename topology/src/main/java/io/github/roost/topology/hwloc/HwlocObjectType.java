package io.github.roost.topology.hwloc;

/** The types of hwloc's objects that Roost reads, with their numbers in {@code hwloc_obj_type_t} of hwloc 2.x. */
public enum HwlocObjectType {
    PACKAGE(1),
    CORE(2),
    PU(3),
    L1_CACHE(4),
    L2_CACHE(5),
    L3_CACHE(6),
    L4_CACHE(7),
    L5_CACHE(8),
    NUMA_NODE(13);

    private final int number;

    HwlocObjectType(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    boolean isCache() {
        return number >= L1_CACHE.number && number <= L5_CACHE.number;
    }
}
