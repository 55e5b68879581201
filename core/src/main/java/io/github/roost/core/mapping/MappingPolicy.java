package io.github.roost.core.mapping;

/** Proposes the next mapping at the end of a window. Must be a pure function of its arguments, since any thread that ends a window may call it. */
@FunctionalInterface
public interface MappingPolicy {
    /**
     * Proposes the next mapping.
     *
     * @param current the mapping in force
     * @param traffic the bytes that searches of each slot touched in the window, not negative, one entry per slot of the mapping
     * @return the next mapping, with the same numbers of slots and domains; its epoch is ignored
     */
    Mapping next(Mapping current, long[] traffic);

    /**
     * The default: {@link #hotColdPairing} extended in two ways. An item with more traffic than one domain's fair share gets several
     * homes, and items stay at their homes unless a move pays.
     *
     * @return the policy
     */
    static MappingPolicy stayingPairing() {
        return new StayingPairing();
    }

    /**
     * Algorithm 1 of the paper (Huang et al., "CCD-Level and Load-Aware Thread Orchestration for In-Memory Vector ANNS on Multi-Core CPUs",
     * 2026): the hottest item left goes to the least loaded domain, and the coldest item left joins it there if both fit under the mean
     * load of all domains.
     *
     * @return the policy
     */
    static MappingPolicy hotColdPairing() {
        return new HotColdPairing();
    }

    /**
     * The longest processing time rule of multiprocessor scheduling (Graham, SIAM J. Appl. Math. 17(2), 1969): items by traffic descending,
     * each to the domain with the least load so far. The largest load is at most 4/3 of the optimum.
     *
     * @return the policy
     */
    static MappingPolicy longestFirst() {
        return new LongestFirst();
    }
}
