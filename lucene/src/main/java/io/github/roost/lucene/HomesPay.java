package io.github.roost.lucene;

import io.github.roost.topology.Topology;
import java.util.HashSet;
import java.util.Set;

/**
 * Decides whether homes of segments can pay: only if there are several last-level caches. Domains under one L3, such as the L2 of each
 * core, all find a segment there, so a home saves less than the hop to it costs. Stateless.
 */
final class HomesPay {
    private static final int LAST_LEVEL = 3;

    private HomesPay() {}

    static boolean on(Topology topology) {
        return topology.domains().size() > 1 && lastLevelCaches(topology) != 1;
    }

    /** The number of L3 caches of the usable PUs; 0 also if the caches are unknown. */
    private static long lastLevelCaches(Topology topology) {
        Set<Integer> usable = new HashSet<>();
        topology.domains().forEach(domain -> usable.addAll(domain.pus()));
        return topology.machine().caches().stream()
                .filter(cache ->
                        cache.level() == LAST_LEVEL && cache.pus().stream().anyMatch(usable::contains))
                .count();
    }
}
