package io.github.roost.rows.service;

import io.github.roost.vector.Vectors;

/**
 * The replica, and the part of it, that a server holds. The servers of one group together hold one replica of every shard.
 *
 * @param group the replica, from 0 to 1,024
 * @param ordinal the server's index in its group, from 0 to {@code of} - 1
 * @param of the number of servers in the group, from 1 to 1,024
 */
public record Seat(int group, int ordinal, int of) {
    private static final int MAX = 1_024;

    /**
     * Checks the arguments.
     *
     * @throws IllegalArgumentException if a number is out of range
     */
    public Seat {
        Vectors.requireRange("group", group, 0, MAX);
        Vectors.requireRange("of", of, 1, MAX);
        Vectors.requireRange("ordinal", ordinal, 0, of - 1L);
    }

    /**
     * The seat of a server that holds all shards.
     *
     * @param group the replica, from 0 to 1,024
     * @return its seat
     */
    public static Seat whole(int group) {
        return new Seat(group, 0, 1);
    }
}
