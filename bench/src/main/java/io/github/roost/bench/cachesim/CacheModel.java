package io.github.roost.bench.cachesim;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The caches that the plugin models, which checks the values.
 *
 * @param privateBytes the private cache of a worker
 * @param privateWays its associativity
 * @param l3Bytes sizes of the L3 of a domain, all modelled at once
 * @param l3Ways associativity of each
 * @param lineBytes the line of all caches
 * @param pace memory references that a worker may be ahead of the slowest running one; 0 for no limit
 */
record CacheModel(long privateBytes, int privateWays, List<Long> l3Bytes, int l3Ways, int lineBytes, long pace) {
    CacheModel {
        l3Bytes = List.copyOf(l3Bytes);
    }

    /** As the options of a QEMU plugin. */
    String options() {
        return "private=" + privateBytes + ",private-ways=" + privateWays
                + l3Bytes.stream().map(bytes -> ",l3=" + bytes).collect(Collectors.joining())
                + ",l3-ways=" + l3Ways + ",line=" + lineBytes + ",pace=" + pace;
    }
}
