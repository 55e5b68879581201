package io.github.roost.rows.service;

import io.github.roost.vector.Vectors;
import java.util.Set;

/**
 * The shards of a version that a server has, or is to load. The number of shards and the content are fixed per version.
 *
 * @param shards the version's number of shards, from 1 to {@link #MAX_SHARDS}
 * @param here the shards at the server, each from 0 to {@code shards} - 1
 * @param content identifies the rows of the whole version: two servers whose numbers differ have different rows, and are never asked for rows of one
 *     batch; 0 if it is not known yet
 */
public record Served(int shards, Set<Integer> here, long content) {
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

    /**
     * Shards to load, of any content.
     *
     * @param shards the version's number of shards, from 1 to {@link #MAX_SHARDS}
     * @param here the shards to load, each from 0 to {@code shards} - 1
     * @throws IllegalArgumentException if a number is out of range
     */
    public Served(int shards, Set<Integer> here) {
        this(shards, here, 0);
    }

    /** These shards with a content. */
    Served of(long newContent) {
        return new Served(shards, here, newContent);
    }

    /** Whether these are the same shards, of any content. */
    boolean hasShardsOf(Served other) {
        return shards == other.shards && here.equals(other.here);
    }
}
