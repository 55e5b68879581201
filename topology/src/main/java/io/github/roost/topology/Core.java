package io.github.roost.topology;

import java.util.List;

/**
 * One core, with its processing units (PUs, hardware threads) that this process may use.
 *
 * @param id the core's index in its topology, from 0, unique over all domains
 * @param efficiency the core's efficiency class as hwloc reports it (higher is faster), or -1 if all cores are alike
 * @param pus OS numbers of the core's usable PUs, ascending, never empty
 */
public record Core(int id, int efficiency, List<Integer> pus) {
    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException if there is no PU
     */
    public Core {
        pus = List.copyOf(pus);
        if (pus.isEmpty()) {
            throw new IllegalArgumentException("core " + id + " must have at least one PU, got none");
        }
    }
}
