package io.github.roost.simulator;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.monitor.TrafficWindows;
import io.github.roost.core.remap.DomainLoads;
import io.github.roost.core.remap.FirstHomes;
import io.github.roost.core.remap.RemapRule;
import java.util.Optional;

/** Monitor, windows and remapping of {@code core} on virtual time. Not thread-safe. */
final class VirtualMapper {
    /** The ratio of the orchestrator's default windows, 60 s and 10 s. */
    static final int SHORT_PER_LONG = 6;

    private final int slots;
    private final TrafficMonitor monitor;
    private final TrafficWindows windows = new TrafficWindows(SHORT_PER_LONG);
    private final RemapRule rule;
    private final long cacheBytes;
    private final boolean adapts;
    private Mapping mapping;
    private long remaps;
    private long movedBytes;

    VirtualMapper(int slots, int domains, RemapRule rule, long cacheBytes, boolean adapts) {
        this.slots = slots;
        this.rule = rule;
        this.cacheBytes = cacheBytes;
        this.adapts = adapts;
        this.monitor = new TrafficMonitor(domains, 0);
        monitor.ensureCapacity(slots);
        this.mapping =
                Mapping.of(domains, FirstHomes.assign(new double[domains], new int[domains], new int[domains], slots));
    }

    Mapping mapping() {
        return mapping;
    }

    void touched(int domain, int slot, long bytes) {
        monitor.add(domain, slot, bytes);
    }

    /** Ends a window; returns the max load of a domain over the mean in that window. */
    double endWindow() {
        windows.endShortWindow(monitor.totals(slots));
        double imbalance = DomainLoads.imbalance(
                DomainLoads.of(mapping, windows.shortWindow().bytes()));
        if (adapts) {
            Optional<RemapRule.Remap> remap = rule.atWindowEnd(mapping, windows, cacheBytes);
            if (remap.isPresent()) {
                remaps++;
                movedBytes += remap.get().movedBytes(mapping);
                mapping = remap.get().mapping().withEpoch(mapping.epoch() + 1);
            }
        }
        return imbalance;
    }

    void resetCounts() {
        remaps = 0;
        movedBytes = 0;
    }

    long remaps() {
        return remaps;
    }

    long movedBytes() {
        return movedBytes;
    }
}
