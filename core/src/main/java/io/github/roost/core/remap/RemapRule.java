package io.github.roost.core.remap;

import io.github.roost.core.mapping.DomainLoads;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.mapping.Traffic;
import io.github.roost.core.monitor.TrafficWindows;
import java.util.Optional;

/**
 * What the mapper decides at the end of a window: the policy's next mapping, if the trigger says that it pays. Trends
 * count before changes: the long window is asked first, then the short one. Pure.
 *
 * @param policy proposes a mapping
 * @param trigger says whether the proposal pays
 */
public record RemapRule(MappingPolicy policy, RemapTrigger trigger) {
    /**
     * A remap that pays.
     *
     * @param mapping the next mapping; its epoch is for the publisher to give
     * @param traffic the traffic that it was decided on, one entry per slot
     */
    public record Remap(Mapping mapping, Traffic traffic) {
        /**
         * Bytes of warm traffic that it moves away from {@code before}.
         *
         * @param before the mapping that this one replaces
         * @return bytes in the window
         */
        public long movedBytes(Mapping before) {
            return DomainLoads.movedBytes(before, mapping, traffic.bytes());
        }
    }

    /**
     * The remap that the windows ask for, or empty where the present mapping stays.
     *
     * @param now the mapping in force
     * @param windows the traffic
     * @param cacheBytes size of one domain's cache; 0 where it is not known, and moving then counts as free
     * @return the remap, with the windows' traffic
     */
    public Optional<Remap> atWindowEnd(Mapping now, TrafficWindows windows, long cacheBytes) {
        return on(now, windows.longWindow(), cacheBytes).or(() -> on(now, windows.shortWindow(), cacheBytes));
    }

    private Optional<Remap> on(Mapping now, Traffic window, long cacheBytes) {
        Traffic traffic = window.plus(Traffic.none(now.slots()));
        Mapping proposed = policy.next(now, traffic.bytes());
        if (proposed.slots() != now.slots() || proposed.domains() != now.domains()) {
            throw new IllegalStateException("a mapping policy must keep " + now.slots() + " slots and " + now.domains()
                    + " domains, got " + proposed.slots() + " and " + proposed.domains());
        }
        return proposed.sameHomes(now) || !trigger.pays(now, proposed, traffic, cacheBytes)
                ? Optional.empty()
                : Optional.of(new Remap(proposed, traffic));
    }
}
