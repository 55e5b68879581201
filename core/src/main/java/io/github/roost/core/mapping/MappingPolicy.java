package io.github.roost.core.mapping;

/** Decides the next mapping at the end of a window. Must be a pure function of its arguments, so that any thread that ends a window may call it. */
@FunctionalInterface
public interface MappingPolicy {
    /**
     * Decides the next mapping.
     *
     * @param current the mapping in force
     * @param traffic bytes that each slot's searches touched in the window, none negative, one per slot of the mapping
     * @return the next mapping, with as many slots; its epoch is ignored
     */
    Mapping next(Mapping current, long[] traffic);
}
