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
}
