package io.github.roost.topology;

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

    /** {@return all usable cores, domain by domain} */
    public Stream<Core> cores() {
        return domains.stream().flatMap(domain -> domain.cores().stream());
    }
}
