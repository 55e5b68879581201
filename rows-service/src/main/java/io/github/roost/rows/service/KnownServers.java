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

    /** In place of a version: that of a server's view. */
    static final Complete NONE = new Complete(0, 0);

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
     * The newest complete version: each of its shards is at some server, with the same content. Servers that have recently failed count only if there is no complete version
     * without them.
     *
     * @param now nanoseconds of the caller's clock
     * @return the version and its number of shards, or null if none is complete
     */
    public synchronized @Nullable Complete newest(long now) {
        Complete newest = newest(0, now, false);
        return newest == null ? newest(0, now, true) : newest;
    }

    /**
     * A given version, if it is complete: each of its shards is at some server, which may have failed recently.
     *
     * @param version its number
     * @return the version and its number of shards, or null if it is not complete
     */
    public synchronized @Nullable Complete complete(long version) {
        return newest(version, 0, true);
    }

    /**
     * A version all of whose shards are at some server.
     *
     * @param version its number
     * @param shards its number of shards
     * @param content its {@linkplain Served#content content}
     */
    public record Complete(long version, int shards, long content) {
        /** A version of a content that is not known. */
        Complete(long version, int shards) {
            this(version, shards, 0);
        }
    }

    /**
     * All versions of which a server has a shard, by number of shards, the newest first; complete or not. Of two contents of a version, one is left
     * out: the one that fewer servers have.
     */
    synchronized List<Complete> versions() {
        List<Complete> all = servers.values().stream()
                .filter(server -> server.view != null)
                .flatMap(server -> Objects.requireNonNull(server.view).versions().entrySet().stream())
                .map(entry -> toComplete(entry.getKey(), entry.getValue()))
                .distinct()
                .sorted(Comparator.comparingLong(Complete::version).reversed().thenComparingInt(Complete::shards))
                .toList();
        return all.stream()
                .filter(one -> all.stream().noneMatch(more -> more.version == one.version && isRather(more, one)))
                .toList();
    }

    private static Complete toComplete(long version, Served served) {
        return new Complete(version, served.shards(), served.content());
    }

    /** Whether a version has another content than an equal one, and rather this one counts. */
    private boolean isRather(Complete one, Complete other) {
        if (one.content == other.content) {
            return false;
        }
        int more = Long.compare(holders(one), holders(other));
        return more > 0 || (more == 0 && one.content > other.content);
    }

    private long holders(Complete of) {
        return servers.values().stream()
                .map(server -> server.served(of.version))
                .filter(served -> served != null && served.content() == of.content)
                .count();
    }

    /** @param wanted the only version, or 0 for any */
    private @Nullable Complete newest(long wanted, long now, boolean alsoAvoided) {
        Complete newest = null;
        for (Known server : servers.values()) {
            if (server.view != null) {
                for (Map.Entry<Long, Served> entry : server.view.versions().entrySet()) {
                    long version = entry.getKey();
                    Served served = entry.getValue();
                    if ((wanted == 0 || wanted == version) && (newest == null || version >= newest.version)) {
                        Complete next = toComplete(version, served);
                        boolean isBetter = newest == null || version > newest.version || isRather(next, newest);
                        newest = isBetter && isComplete(next, now, alsoAvoided) ? next : newest;
                    }
                }
            }
        }
        return newest;
    }

    private boolean isComplete(Complete of, long now, boolean alsoAvoided) {
        for (int shard = 0; shard < of.shards; shard++) {
            if (!isThere(of, shard, now, alsoAvoided)) {
                return false;
            }
        }
        return true;
    }

    private boolean isThere(Complete of, int shard, long now, boolean alsoAvoided) {
        for (Known server : servers.values()) {
            if (hasShard(server, of, shard) && (alsoAvoided || !server.isAvoidedAt(now))) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasShard(Known server, Complete of, int shard) {
        Served served = server.served(of.version);
        return served != null
                && served.shards() == of.shards
                && served.content() == of.content
                && served.here().contains(shard);
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
            if (hasShard(entry.getValue(), of, shard)) {
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
