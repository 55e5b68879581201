package io.github.roost.topology;

import java.util.List;
import java.util.stream.Stream;

/**
 * A machine as Roost places work on it. Immutable.
 *
 * @param source where it was read from: {@code live}, {@code xml:FILE}, {@code synthetic:DESCRIPTION} or {@code flat}
 * @param level what the domains are in the machine's hierarchy; cores outside any object of the level form domains of
 *     the next level that holds them
 * @param bindable whether the PU numbers are those of CPUs of this machine, so that threads can be pinned to them
 * @param domains the cache domains, in order of their ids; every usable PU is in exactly one
 * @param machine all of the machine, what this process may not use included
 */
public record Topology(String source, DomainLevel level, boolean bindable, List<CacheDomain> domains, Machine machine) {
    /** Checks that there is a domain, and copies the list. */
    public Topology {
        domains = List.copyOf(domains);
        if (domains.isEmpty()) {
            throw new IllegalArgumentException("a topology must have at least one cache domain, got none");
        }
    }

    /**
     * A topology of which nothing but its domains is known.
     *
     * @param source where it was read from
     * @param level what the domains are
     * @param bindable whether the PU numbers are those of CPUs of this machine
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
