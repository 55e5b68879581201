package io.github.roost.rows.service;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A client's knowledge of the servers of one table: their names, their views, and which have recently failed. All of it may be stale; a server that
 * does not have a requested shard answers with its view. Thread-safe.
 */
final class KnownServers {
    /** For how long a failed server is avoided: used only if there is no other. */
    private static final long AVOID_NANOS = 1_000_000_000;
    /** For how long a server is silent before it is asked for its view. */
    private static final long SILENT_NANOS = 1_000_000_000;

    private final Map<String, Known> servers = new TreeMap<>();

    private static final class Known {
        private @Nullable ServerView view;
        private boolean isAvoided;
        private long avoidedUntil;
        private boolean isHeardOf;
        private long silentSince;

        /** Whether the server has been silent for long; if so, restarts the period. */
        boolean claimIfSilent(long now) {
            boolean isSilent = !isHeardOf || now - silentSince >= SILENT_NANOS;
            if (isSilent) {
                heard(now);
            }
            return isSilent;
        }

        void heard(long now) {
            isHeardOf = true;
            silentSince = now;
        }

        boolean isAvoidedAt(long now) {
            isAvoided &= now - avoidedUntil < 0;
            return isAvoided;
        }

        @Nullable
        Served served(long version) {
            return view == null ? null : view.versions().get(version);
        }
    }

    /** Creates an instance without servers. */
    public KnownServers() {}

    /**
     * Sets the servers; knowledge of other servers is dropped.
     *
     * @param names the names of all servers
     */
    public synchronized void setServers(Collection<String> names) {
        servers.keySet().retainAll(names);
        names.forEach(name -> servers.computeIfAbsent(name, unknown -> new Known()));
    }

    /**
     * Stores the view of a server, unless a newer one is known.
     *
     * @param view the view; ignored if there is no server of its name
     */
    public synchronized void learn(ServerView view) {
        Known known = servers.get(view.server());
        if (known != null && (known.view == null || view.sequence() > known.view.sequence())) {
            known.view = view;
        }
    }

    /**
     * Records that a server answered; it is not avoided any more.
     *
     * @param server the server's name
     * @param now nanoseconds of the caller's clock
     */
    public synchronized void answered(String server, long now) {
        Known known = servers.get(server);
        if (known != null) {
            known.isAvoided = false;
            known.heard(now);
        }
    }

    /**
     * The servers that have been silent for a second, for example because they joined, or had no shard when they last answered. Each is returned to
     * one caller per second, which should ask for its view.
     *
     * @param now nanoseconds of the caller's clock
     * @return the names of these servers
     */
    public synchronized List<String> claimSilent(long now) {
        return servers.entrySet().stream()
                .filter(entry -> entry.getValue().claimIfSilent(now))
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * Records that a server failed to answer: for a second it is avoided, that is used only if there is no other.
     *
     * @param server the server's name
     * @param now nanoseconds of the caller's clock
     */
    public synchronized void failed(String server, long now) {
        Known known = servers.get(server);
        if (known != null) {
            known.isAvoided = true;
            known.avoidedUntil = now + AVOID_NANOS;
        }
    }

    /**
     * The sequence number of a server's known view, by which the server decides whether to send a newer one.
     *
     * @param server the server's name
     * @return the sequence number, or {@link Long#MIN_VALUE} if no view is known
     */
    public synchronized long sequence(String server) {
        Known known = servers.get(server);
        return known == null || known.view == null ? Long.MIN_VALUE : known.view.sequence();
    }

    /**
     * The newest complete version: each of its shards is at some server. Servers that have recently failed count only if there is no complete version
     * without them.
     *
     * @param now nanoseconds of the caller's clock
     * @return the version and its number of shards, or null if none is complete
     */
    public synchronized @Nullable Complete newest(long now) {
        Complete newest = newest(now, false);
        return newest == null ? newest(now, true) : newest;
    }

    /**
     * A given version, if it is complete: each of its shards is at some server, which may have failed recently.
     *
     * @param version its number
     * @return the version and its number of shards, or null if it is not complete
     */
    public synchronized @Nullable Complete complete(long version) {
        for (Known server : servers.values()) {
            Served served = server.served(version);
            if (served != null && isComplete(version, served.shards(), 0, true)) {
                return new Complete(version, served.shards());
            }
        }
        return null;
    }

    /**
     * A version all of whose shards are at some server.
     *
     * @param version its number
     * @param shards its number of shards
     */
    public record Complete(long version, int shards) {}

    /** All versions of which a server has a shard, by number of shards, the newest first; complete or not. */
    synchronized List<Complete> versions() {
        return servers.values().stream()
                .filter(server -> server.view != null)
                .flatMap(server -> Objects.requireNonNull(server.view).versions().entrySet().stream())
                .map(entry -> new Complete(entry.getKey(), entry.getValue().shards()))
                .distinct()
                .sorted(Comparator.comparingLong(Complete::version).reversed().thenComparingInt(Complete::shards))
                .toList();
    }

    private @Nullable Complete newest(long now, boolean alsoAvoided) {
        Complete newest = null;
        for (Known server : servers.values()) {
            if (server.view != null) {
                for (Map.Entry<Long, Served> entry : server.view.versions().entrySet()) {
                    long version = entry.getKey();
                    int shards = entry.getValue().shards();
                    if ((newest == null || version > newest.version) && isComplete(version, shards, now, alsoAvoided)) {
                        newest = new Complete(version, shards);
                    }
                }
            }
        }
        return newest;
    }

    private boolean isComplete(long version, int shards, long now, boolean alsoAvoided) {
        for (int shard = 0; shard < shards; shard++) {
            if (!isThere(version, shards, shard, now, alsoAvoided)) {
                return false;
            }
        }
        return true;
    }

    private boolean isThere(long version, int shards, int shard, long now, boolean alsoAvoided) {
        for (Known server : servers.values()) {
            if (hasShard(server, version, shards, shard) && (alsoAvoided || !server.isAvoidedAt(now))) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasShard(Known server, long version, int shards, int shard) {
        Served served = server.served(version);
        return served != null && served.shards() == shards && served.here().contains(shard);
    }

    /**
     * Chooses a random server that has a shard. Prefers servers that have not recently failed, then servers other than {@code requested}.
     *
     * @param of the version
     * @param shard the shard of the version
     * @param now nanoseconds of the caller's clock
     * @param requested the server that was just asked, or null
     * @param random chooses among equals
     * @return the server's name, or null if no server has the shard
     */
    public synchronized @Nullable String choose(
            Complete of, int shard, long now, @Nullable String requested, RandomGenerator random) {
        return choose(of, shard, now, requested == null ? Set.of() : Set.of(requested), random);
    }

    private @Nullable String choose(Complete of, int shard, long now, Set<String> requested, RandomGenerator random) {
        List<String> best = new ArrayList<>();
        int bestRank = Integer.MAX_VALUE;
        for (Map.Entry<String, Known> entry : servers.entrySet()) {
            if (hasShard(entry.getValue(), of.version, of.shards, shard)) {
                int rank = (entry.getValue().isAvoidedAt(now) ? 2 : 0) + (requested.contains(entry.getKey()) ? 1 : 0);
                if (rank < bestRank) {
                    best.clear();
                    bestRank = rank;
                }
                if (rank == bestRank) {
                    best.add(entry.getKey());
                }
            }
        }
        return best.isEmpty() ? null : best.get(random.nextInt(best.size()));
    }

    /**
     * Chooses a random server that has a shard, has not recently failed, and is not among {@code requested}.
     *
     * @param of the version
     * @param shard the shard of the version
     * @param now nanoseconds of the caller's clock
     * @param requested the servers that were asked already
     * @param random chooses among equals
     * @return the server's name, or null if there is no such server
     */
    public synchronized @Nullable String chooseOther(
            Complete of, int shard, long now, Set<String> requested, RandomGenerator random) {
        String other = choose(of, shard, now, requested, random);
        return other == null || requested.contains(other) || named(other).isAvoidedAt(now) ? null : other;
    }

    private Known named(String server) {
        return Objects.requireNonNull(servers.get(server));
    }

    /**
     * All servers.
     *
     * @return their names
     */
    public synchronized List<String> servers() {
        return List.copyOf(servers.keySet());
    }

    /**
     * The known views.
     *
     * @return a copy of all views, by server
     */
    public synchronized Map<String, ServerView> views() {
        Map<String, ServerView> views = new HashMap<>();
        servers.forEach((name, known) -> {
            if (known.view != null) {
                views.put(name, known.view);
            }
        });
        return views;
    }
}
