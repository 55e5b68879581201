package io.github.roost.rows.service;

import java.util.Map;

/**
 * The options of a {@link RowsServer} that takes orders of a {@link Coordinator} in another process.
 *
 * @param registry is asked before each load or unload whether the order's coordinator is in charge; the caller closes it after the server
 * @param seat the replica, and the part of it, that the server holds
 * @param sources the sources of rows, by table name; each is used by one thread at a time
 */
public record OrderOptions(Registry registry, Seat seat, Map<String, RowSource> sources) {
    /** Copies the map. */
    public OrderOptions {
        sources = Map.copyOf(sources);
    }
}
