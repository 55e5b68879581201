package io.github.roost.tableservice;

import io.github.roost.core.Vectors;

/**
 * Which part of which replica a server has. The servers of one group together have one replica of every shard.
 *
 * @param group which replica, from 0
 * @param ordinal which of the servers of its group it is, from 0 to {@code of} - 1
 * @param of servers that the group has, from 1 to 1,024
 */
public record Seat(int group, int ordinal, int of) {
    private static final int MOST = 1_024;

    /**
     * A seat.
     *
     * @throws IllegalArgumentException if a number is out of range
     */
    public Seat {
        Vectors.requireRange("group", group, 0, MOST);
        Vectors.requireRange("of", of, 1, MOST);
        Vectors.requireRange("ordinal", ordinal, 0, of - 1L);
    }

    /**
     * A server that has all shards.
     *
     * @param group which replica, from 0
     * @return its seat
     */
    public static Seat whole(int group) {
        return new Seat(group, 0, 1);
    }
}
