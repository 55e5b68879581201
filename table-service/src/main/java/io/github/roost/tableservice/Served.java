package io.github.roost.tableservice;

import io.github.roost.core.Vectors;
import java.util.Set;

/**
 * What a server has of a version. The number of shards belongs to the version: another one comes with another version only.
 *
 * @param shards into how many the version's keys are divided, from 1 to {@link #MAX_SHARDS}
 * @param here those that the server has, from 0 to {@code shards} - 1
 */
public record Served(int shards, Set<Integer> here) {
    /** The most shards of a version. */
    public static final int MAX_SHARDS = 4_096;

    /**
     * What a server has.
     *
     * @throws IllegalArgumentException if a number is out of range
     */
    public Served {
        Vectors.requireRange("shards", shards, 1, MAX_SHARDS);
        here = Set.copyOf(here);
        for (int shard : here) {
            Vectors.requireRange("shard", shard, 0, shards - 1L);
        }
    }
}
