package io.github.roost.rows.service;

import io.github.roost.vector.Vectors;
import java.util.Set;

/**
 * The shards of a version that a server has. The number of shards is fixed per version.
 *
 * @param shards the version's number of shards, from 1 to {@link #MAX_SHARDS}
 * @param here the shards at the server, each from 0 to {@code shards} - 1
 */
public record Served(int shards, Set<Integer> here) {
    /** The maximum number of shards of a version. */
    public static final int MAX_SHARDS = 4_096;

    /**
     * Checks the arguments, and copies the set.
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
