package io.github.roost.bench.sim;

import java.util.Arrays;

/**
 * Simulates one of so many nodes and blocks, in caches smaller by as much, and lets it stand for the others: what a cache
 * of a size misses is the same (spatial sampling: Waldspurger, Park, Garthwaite and Ahmad, FAST 2015). Immutable.
 *
 * @param every 1 to simulate all
 */
record Sampling(int every) {
    Sampling {
        if (every < 1 || every > 64) {
            throw new IllegalArgumentException("sample must be between 1 and 64, got " + every);
        }
    }

    /** Those of a table's nodes that are simulated; at least one where there is one. {@code ~n} is node n as well. */
    int[] of(int[] nodes) {
        int[] kept = Arrays.stream(nodes)
                .filter(node -> hash(node < 0 ? ~node : node) % every == 0)
                .toArray();
        return kept.length > 0 ? kept : Arrays.copyOf(nodes, Math.min(1, nodes.length));
    }

    /** The finaliser of MurmurHash3 (Appleby): neighbours in memory must not be kept or left out together. */
    private static int hash(int node) {
        int h = node;
        h ^= h >>> 16;
        h *= 0x85ebca6b;
        h ^= h >>> 13;
        h *= 0xc2b2ae35;
        return (h ^ h >>> 16) & Integer.MAX_VALUE;
    }

    /** How many of consecutive blocks are simulated: those whose key is a multiple. */
    int countIn(int firstKey, int blocks) {
        return (firstKey + blocks - 1) / every - (firstKey - 1 + every) / every + 1;
    }

    /** The first such block. */
    int firstFrom(int key) {
        return (key + every - 1) / every * every;
    }
}
