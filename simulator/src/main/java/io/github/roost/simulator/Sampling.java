package io.github.roost.simulator;

import io.github.roost.vector.Vectors;
import java.util.Arrays;

/**
 * Simulates one in {@code every} nodes and blocks, in caches smaller by the same factor; each stands for {@code every} of them. The miss ratio stays
 * the same (spatial sampling: Waldspurger, Park, Garthwaite and Ahmad, FAST 2015). Immutable.
 *
 * @param every from 1, which simulates all, to 64
 */
record Sampling(int every) {
    Sampling {
        Vectors.requireRange("sample", every, 1, 64);
    }

    /** The simulated nodes of a table, at least one unless {@code nodes} is empty. {@code ~n} also denotes node n. */
    int[] of(int[] nodes) {
        int[] kept = Arrays.stream(nodes)
                .filter(node -> hash(node < 0 ? ~node : node) % every == 0)
                .toArray();
        return kept.length > 0 ? kept : Arrays.copyOf(nodes, Math.min(1, nodes.length));
    }

    /** The finalizer of MurmurHash3 (Appleby), so that nodes adjacent in memory are sampled independently. */
    private static int hash(int node) {
        int h = node;
        h ^= h >>> 16;
        h *= 0x85ebca6b;
        h ^= h >>> 13;
        h *= 0xc2b2ae35;
        return (h ^ h >>> 16) & Integer.MAX_VALUE;
    }

    /** The number of simulated blocks among consecutive ones: those whose key is a multiple of {@code every}. */
    int countIn(int firstKey, int blocks) {
        return (firstKey + blocks - 1) / every - (firstKey - 1 + every) / every + 1;
    }

    /** The first simulated block from {@code key} on. */
    int firstFrom(int key) {
        return (key + every - 1) / every * every;
    }
}
