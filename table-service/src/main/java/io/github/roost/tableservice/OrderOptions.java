package io.github.roost.tableservice;

import java.util.Map;

/**
 * How a {@link TableServer} takes orders of a {@link Coordinator} in another process.
 *
 * @param registry is asked before each order whether who gives it is in charge; closed by who opened it, after the server
 * @param seat which part of which replica the server has
 * @param sources rows of its tables, by table; each is used by one thread at a time
 */
public record OrderOptions(Registry registry, Seat seat, Map<String, RowSource> sources) {
    /** Copies what it is given. */
    public OrderOptions {
        sources = Map.copyOf(sources);
    }
}
