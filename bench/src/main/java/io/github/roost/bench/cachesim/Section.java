package io.github.roost.bench.cachesim;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What the plugin counted between two marks.
 *
 * @param paceGivenUp how often a worker ran ahead because the slowest one did not run
 * @param domains those with workers
 */
record Section(long paceGivenUp, List<Domain> domains) {
    Section {
        domains = List.copyOf(domains);
    }

    /**
     * The counts of a domain.
     *
     * @param domain its number
     * @param references memory references of its workers
     * @param privateMisses those that missed the private cache
     * @param invalidated of these, those whose copy another worker had overwritten
     * @param l3 the counts of each size of L3
     */
    record Domain(int domain, long references, long privateMisses, long invalidated, List<L3> l3) {
        Domain {
            l3 = List.copyOf(l3);
        }
    }

    /**
     * Private misses by what became of them in an L3.
     *
     * @param bytes its size
     * @param hits found
     * @param cold of lines that the domain had never read
     * @param capacity of lines that had been replaced
     * @param coherence of lines that another domain had overwritten
     */
    record L3(long bytes, long hits, long cold, long capacity, long coherence) {
        long misses() {
            return cold + capacity + coherence;
        }
    }

    /** A count of the L3s of one size, by its place among the sizes, in all domains. */
    long sum(int size, ToLongFunction<L3> count) {
        return domains.stream()
                .mapToLong(domain -> count.applyAsLong(domain.l3().get(size)))
                .sum();
    }
}
