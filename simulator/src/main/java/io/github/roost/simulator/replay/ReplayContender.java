package io.github.roost.simulator.replay;

import io.github.roost.vector.SearchResult;
import java.util.concurrent.CompletableFuture;

/** One way to run a workload's searches. Thread-safe. */
interface ReplayContender extends AutoCloseable {
    String name();

    /** Starts the search of one target of one table. */
    CompletableFuture<SearchResult> search(int table, int target);

    /** Its scheduling counters since its creation. */
    Scheduled scheduled();

    @Override
    void close();

    /**
     * Counters of a scheduling.
     *
     * @param intraSteals tasks that ran on another worker of their domain
     * @param crossSteals tasks that ran in another domain
     * @param remaps mappings published because traffic had shifted
     * @param movedBytes warm traffic that the remaps moved
     */
    record Scheduled(long intraSteals, long crossSteals, long remaps, long movedBytes) {
        static final Scheduled NOTHING = new Scheduled(0, 0, 0, 0);

        Scheduled since(Scheduled earlier) {
            return new Scheduled(
                    intraSteals - earlier.intraSteals,
                    crossSteals - earlier.crossSteals,
                    remaps - earlier.remaps,
                    movedBytes - earlier.movedBytes);
        }

        Scheduled plus(Scheduled other) {
            return new Scheduled(
                    intraSteals + other.intraSteals,
                    crossSteals + other.crossSteals,
                    remaps + other.remaps,
                    movedBytes + other.movedBytes);
        }
    }
}
