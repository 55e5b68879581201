package io.github.roost.tableservice;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What a client knows of the servers of one table: who there is, what each has, and which of them has not answered lately. All of it may be out
 * of date; a request to the wrong server is answered with what that one has. Thread-safe.
 */
public final class KnownServers {
    /** How long a server that has not answered is asked only where no other can be. */
    private static final long AVOID_NANOS = 1_000_000_000;
    /** How long nothing is heard of a server before it is asked what it has. */
    private static final long SILENT_NANOS = 1_000_000_000;

    private final Map<String, Known> servers = new TreeMap<>();

    private static final class Known {
        private @Nullable ServerView view;
        private boolean isAvoided;
        private long avoidedUntil;
        private boolean isHeardOf;
        private long silentSince;

        /** Whether nothing was heard of it for long; if so, that begins anew. */
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

    /** Nobody is known. */
    public KnownServers() {}

    /**
     * Says who there is; what is known of others is forgotten.
     *
     * @param names of all servers
     */
    public synchronized void setServers(Collection<String> names) {
        servers.keySet().retainAll(names);
        names.forEach(name -> servers.computeIfAbsent(name, unknown -> new Known()));
    }

    /**
     * Takes in what a server has told of itself, unless something later is known.
     *
     * @param view of a server; nothing happens if there is no server of its name
     */
    public synchronized void learn(ServerView view) {
        Known known = servers.get(view.server());
        if (known != null && (known.view == null || view.sequence() > known.view.sequence())) {
            known.view = view;
        }
    }

    /**
     * A server has answered.
     *
     * @param server its name
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
     * The servers of which nothing was heard for a second, such as those that have joined, or had no shard when they were heard of last. Each is
     * given to one caller a second, who is to ask what it has.
     *
     * @param now nanoseconds of the caller's clock
     * @return their names
     */
    public synchronized List<String> claimSilent(long now) {
        return servers.entrySet().stream()
                .filter(entry -> entry.getValue().claimIfSilent(now))
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * A server has not answered: for a second it is asked only where no other can be.
     *
     * @param server its name
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
     * The sequence of the view of a server that is known, which tells the server whether to send another.
     *
     * @param server its name
     * @return the sequence, or {@link Long#MIN_VALUE} if nothing is known
     */
    public synchronized long sequence(String server) {
        Known known = servers.get(server);
        return known == null || known.view == null ? Long.MIN_VALUE : known.view.sequence();
    }

    /**
     * The newest version of which some server has every shard. Servers that have not answered lately count only if there is none without
     * them.
     *
     * @param now nanoseconds of the caller's clock
     * @return the version and its number of shards, or null if none is complete
     */
    public synchronized @Nullable Complete newest(long now) {
        Complete newest = newest(now, false);
        return newest == null ? newest(now, true) : newest;
    }

    /**
     * A version of which some server has every shard, those that have not answered lately among them.
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
     * A version of which every shard is somewhere.
     *
     * @param version its number
     * @param shards into how many its keys are divided
     */
    public record Complete(long version, int shards) {}

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
     * A server that has a shard, at random: one that has not failed lately, and not the one that has just been asked, where there is
     * another.
     *
     * @param of a version
     * @param shard of it
     * @param now nanoseconds of the caller's clock
     * @param asked is to be asked again only if there is no other; may be null
     * @param random chooses
     * @return its name, or null if no server has the shard
     */
    public synchronized @Nullable String choose(
            Complete of, int shard, long now, @Nullable String asked, RandomGenerator random) {
        List<String> best = new ArrayList<>();
        int bestRank = Integer.MAX_VALUE;
        for (Map.Entry<String, Known> entry : servers.entrySet()) {
            if (hasShard(entry.getValue(), of.version, of.shards, shard)) {
                int rank = (entry.getValue().isAvoidedAt(now) ? 2 : 0)
                        + (entry.getKey().equals(asked) ? 1 : 0);
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
     * A server that has a shard, at random, of those that have not failed lately.
     *
     * @param of a version
     * @param shard of it
     * @param now nanoseconds of the caller's clock
     * @param asked is not to be asked again
     * @param random chooses
     * @return its name, or null if there is no such server
     */
    public synchronized @Nullable String chooseOther(
            Complete of, int shard, long now, String asked, RandomGenerator random) {
        String other = choose(of, shard, now, asked, random);
        return other == null || other.equals(asked) || named(other).isAvoidedAt(now) ? null : other;
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
     * What is known.
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
