package io.github.roost.rows.service;

import java.util.Map;

/**
 * The view of a server: the shards of a table that it has, at one moment. Answers carry it, so that no naming service needs to know of versions.
 *
 * @param server the server's name
 * @param sequence a number that increases with every change, also across restarts; of two views the one with the larger number is newer
 * @param versions the shards that the server has, by version
 */
record ServerView(String server, long sequence, Map<Long, Served> versions) {
    /** Copies the map. */
    public ServerView {
        versions = Map.copyOf(versions);
    }
}
