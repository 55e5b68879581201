package io.github.roost.topology;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A machine, divided into the cache domains that Roost places work on. Immutable.
 *
 * @param source where it was read from: {@code live}, {@code xml:FILE}, {@code synthetic:DESCRIPTION} or {@code flat}
 * @param level the level of the domains in the machine's hierarchy; cores outside any object of the level form domains of
 *     another level that holds them
 * @param bindable whether the PU numbers are CPUs of this machine, so that threads can be pinned to them
 * @param domains the cache domains, in order of their ids; every usable PU is in exactly one
 * @param machine the whole machine, including the parts that this process may not use
 */
public record Topology(String source, DomainLevel level, boolean bindable, List<CacheDomain> domains, Machine machine) {
    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException if there is no domain
     */
    public Topology {
        domains = List.copyOf(domains);
        if (domains.isEmpty()) {
            throw new IllegalArgumentException("a topology must have at least one cache domain, got none");
        }
    }

    /**
     * A topology of which only the domains are known; its machine consists of them.
     *
     * @param source where it was read from
     * @param level the level of the domains
     * @param bindable whether the PU numbers are CPUs of this machine
     * @param domains the cache domains, in order of their ids
     */
    public Topology(String source, DomainLevel level, boolean bindable, List<CacheDomain> domains) {
        this(source, level, bindable, domains, Machine.of(domains));
    }

    /**
     * Returns the topology for a process that may use the time of only so many CPUs, as under a container's CPU quota: that many cores, since
     * a core has one worker, of whole domains as far as possible: the first domain, then the next.
     *
     * <p>If that leaves cores out, threads are not to be pinned: a quota reserves no cores, so every process on the machine with a quota would
     * pin its threads to the same first ones.
     *
     * @param cpus the CPUs whose time may be used, at least 1
     * @return this topology, if it has no more cores than that; otherwise one that is not {@link #bindable}, with core and domain ids from 0
     * @throws IllegalArgumentException if {@code cpus} is less than 1
     */
    public Topology withinQuota(int cpus) {
        if (cpus < 1) {
            throw new IllegalArgumentException("a topology must have at least 1 CPU, got " + cpus);
        }
        if (cores().count() <= cpus) {
            return this;
        }
        List<CacheDomain> kept = new ArrayList<>();
        int cores = 0;
        for (CacheDomain domain : domains) {
            List<Core> some = new ArrayList<>();
            for (Core core : domain.cores()) {
                if (cores < cpus) {
                    some.add(new Core(cores, core.efficiency(), core.pus()));
                    cores++;
                }
            }
            if (!some.isEmpty()) {
                kept.add(new CacheDomain(
                        kept.size(), domain.cacheBytes(), domain.numaNodes(), domain.packageId(), some));
            }
        }
        return new Topology(source, level, false, kept, machine);
    }

    /** {@return all usable cores, domain by domain} */
    public Stream<Core> cores() {
        return domains.stream().flatMap(domain -> domain.cores().stream());
    }
}
