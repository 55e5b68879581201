package io.github.roost.tableservice;

import java.util.Map;

/**
 * What a server has of a table, at one moment. It travels with answers, so that no naming service needs to know of versions.
 *
 * @param server its name
 * @param sequence larger with every change of what the server has, also after a restart: of two views the one with the larger counts
 * @param versions what it has, by version
 */
public record ServerView(String server, long sequence, Map<Long, Served> versions) {
    /** Copies what it is given. */
    public ServerView {
        versions = Map.copyOf(versions);
    }
}
