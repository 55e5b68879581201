package io.github.roost.rows.service;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;

/** A batch of 20 keys, and three servers of which nothing is known yet. */
abstract class ThreeServers {
    final KnownServers known = new KnownServers();
    final long[] keys = LongStream.range(0, 20).toArray();

    @BeforeEach
    void threeServers() {
        known.setServers(List.of("a", "b", "c"));
        known.claimSilent(0);
    }

    final void has(String server, long sequence, Map<Long, Served> versions) {
        known.learn(new ServerView(server, sequence, versions));
    }

    static Served shards(int shards, Integer... here) {
        return new Served(shards, Set.of(here));
    }
}
