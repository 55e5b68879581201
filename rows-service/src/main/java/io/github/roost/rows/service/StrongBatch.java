package io.github.roost.rows.service;

import io.github.roost.neighborhash.NeighborHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The client side of one batch of keys whose values are all of one version: decides which requests to send, given the answers so far. It sends
 * nothing and has no clock, so that the client and a simulation run the same code.
 *
 * <p>An attempt has one version: the version that the caller names, or the newest that is complete as far as is known. Its requests name that
 * version, and only answers to requests of the current attempt, with values of its version, are kept. So the values of a batch are of one version,
 * whatever messages are lost, late, duplicated or reordered. A failed request is sent to another server that has the shard. If there is none, the
 * attempt's answers are dropped, and the next attempt begins with the newest complete version. If no version is complete, all servers are asked for
 * their views; during an attempt, so are servers that have been silent for long. A slow request may be sent to a second server; the first answer
 * counts. For one thread at a time.
 *
 * @param <V> the type of a server's answer for the keys of a shard
 */
final class StrongBatch<V> implements Batch<V> {
    /** The shard of a request that asks for the server's view. */
    public static final int NO_SHARD = -1;

    private static final int[] NO_POSITIONS = {};

    private final KnownServers known;
    /** 0 for the newest complete version. */
    private final long wanted;

    private final long[] keys;
    private final RandomGenerator random;
    private final Map<Integer, Answer<V>> answers = new HashMap<>();
    /** The requests in flight of this attempt, by id; at most two per shard. */
    private Map<Integer, Ask> waiting = new HashMap<>();
    /** The ids of requests for views that the batch does not wait for. */
    private final Set<Integer> probes = new HashSet<>();

    private KnownServers.@Nullable Complete of;
    private int attempt;
    private int nextId;
    /** The number of shards without an answer in this attempt. */
    private int shardsLeft = Integer.MAX_VALUE;

    /**
     * A request to one server.
     *
     * @param id unique in this batch
     * @param server the server's name
     * @param version the version of the values; 0 if the request asks for the server's view
     * @param shards the number of shards of the version
     * @param shard the shard, or {@link #NO_SHARD}
     * @param positions the positions of its keys in the batch
     * @param keys the keys, in the order of the positions
     */
    public record Ask(int id, String server, long version, int shards, int shard, int[] positions, long[] keys) {}

    /**
     * The values of one shard.
     *
     * @param positions the positions of its keys in the batch
     * @param values the server's answer
     * @param <V> the type of a server's answer
     */
    public record Answer<V>(int[] positions, V values) {}

    /**
     * Creates a batch of the newest complete version.
     *
     * @param known chooses servers, and is told which fail
     * @param keys any keys; must not change
     * @param random chooses among servers
     */
    public StrongBatch(KnownServers known, long[] keys, RandomGenerator random) {
        this(known, 0, keys, random);
    }

    /**
     * Creates a batch of a given version.
     *
     * @param known chooses servers, and is told which fail
     * @param version the version of the values, or 0 for the newest complete version
     * @param keys any keys; must not change
     * @param random chooses among servers
     */
    public StrongBatch(KnownServers known, long version, long[] keys, RandomGenerator random) {
        this.known = known;
        this.wanted = version;
        this.keys = keys;
        this.random = random;
    }

    /**
     * Begins an attempt. To be called first, and again from time to time while no request is in flight and the batch is not done.
     *
     * @param now nanoseconds of the caller's clock
     * @return requests to send; empty if there is no server, or the version is no longer complete
     */
    @Override
    public List<Ask> begin(long now) {
        KnownServers.Complete target = complete(now);
        attempt++;
        answers.clear();
        waiting = new HashMap<>();
        of = target;
        shardsLeft = Integer.MAX_VALUE;
        List<Ask> asks = new ArrayList<>();
        if (target == null) {
            for (String server : known.servers()) {
                asks.add(view(server));
            }
        } else {
            int[][] byShard = byShard(keys, IntStream.range(0, keys.length).toArray(), target.shards());
            int requested = 0;
            for (int shard = 0; shard < byShard.length; shard++) {
                if (byShard[shard].length > 0) {
                    String server = known.choose(target, shard, now, null, random);
                    if (server == null) {
                        // Another batch has just learned that the version is not complete any more.
                        of = null;
                        return List.of();
                    }
                    asks.add(ask(target, server, shard, byShard[shard]));
                    requested++;
                }
            }
            shardsLeft = requested;
        }
        asks.forEach(ask -> waiting.put(ask.id(), ask));
        asks.addAll(probes(now));
        return asks;
    }

    private KnownServers.@Nullable Complete complete(long now) {
        return wanted == 0 ? known.newest(now) : known.complete(wanted);
    }

    /** Requests for views to silent servers: servers that joined or came back may have unknown shards. */
    private List<Ask> probes(long now) {
        if (of == null) {
            return List.of();
        }
        List<Ask> asks = known.claimSilent(now).stream().map(this::view).toList();
        asks.forEach(ask -> probes.add(ask.id()));
        return asks;
    }

    private Ask view(String server) {
        return new Ask(nextId++, server, 0, 0, NO_SHARD, NO_POSITIONS, new long[0]);
    }

    /** The positions, of those given, of the keys of each shard. */
    static int[][] byShard(long[] keys, int[] positions, int shards) {
        int[] shardOf = new int[positions.length];
        int[] counts = new int[shards];
        for (int i = 0; i < positions.length; i++) {
            shardOf[i] = NeighborHashMap.shard(keys[positions[i]], shards);
            counts[shardOf[i]]++;
        }
        int[][] byShard = new int[shards][];
        Arrays.setAll(byShard, shard -> counts[shard] == 0 ? NO_POSITIONS : new int[counts[shard]]);
        for (int i = positions.length - 1; i >= 0; i--) {
            byShard[shardOf[i]][--counts[shardOf[i]]] = positions[i];
        }
        return byShard;
    }

    static long[] keysAt(long[] keys, int[] positions) {
        long[] at = new long[positions.length];
        Arrays.setAll(at, i -> keys[positions[i]]);
        return at;
    }

    private Ask ask(KnownServers.Complete version, String server, int shard, int[] positions) {
        return new Ask(
                nextId++, server, version.version(), version.shards(), shard, positions, keysAt(keys, positions));
    }

    /**
     * Handles an answer with values.
     *
     * @param ask the request
     * @param version the version of the values
     * @param values the values of the request's keys
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
    @Override
    public List<Ask> answered(Ask ask, long version, V values, long now) {
        known.answered(ask.server(), now);
        if (!isWaitedFor(ask)) {
            return List.of();
        }
        if (ask.shard() == NO_SHARD || version != ask.version()) {
            throw new IllegalArgumentException("values must be of version " + ask.version() + ", are of " + version);
        }
        waiting.values().removeIf(other -> other.shard() == ask.shard());
        answers.put(ask.shard(), new Answer<>(ask.positions(), values));
        shardsLeft--;
        return List.of();
    }

    private boolean isWaitedFor(Ask ask) {
        probes.remove(ask.id());
        return waiting.containsKey(ask.id());
    }

    /**
     * Handles the answer that a server does not have the requested shard; its view was {@linkplain KnownServers#learn learned} before.
     *
     * @param ask the request
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
    @Override
    public List<Ask> notServed(Ask ask, long now) {
        known.answered(ask.server(), now);
        return isWaitedFor(ask) ? again(ask, now) : List.of();
    }

    /**
     * Handles that a server did not answer in time, or cannot be reached.
     *
     * @param ask the request
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
    @Override
    public List<Ask> failed(Ask ask, long now) {
        if (probes.contains(ask.id()) || waiting.containsKey(ask.id())) {
            known.failed(ask.server(), now);
        }
        return isWaitedFor(ask) ? again(ask, now) : List.of();
    }

    /**
     * Hedges slow requests: each request in flight, once, is sent to a second server that has the shard in the same version and has not failed
     * recently, if there is one.
     *
     * @param now nanoseconds of the caller's clock
     * @param max the maximum number of requests to send
     * @return requests to send
     */
    @Override
    public List<Ask> hedge(long now, int max) {
        KnownServers.Complete version = of;
        if (version == null) {
            return List.of();
        }
        List<Ask> hedges = new ArrayList<>();
        for (Ask slow : List.copyOf(waiting.values())) {
            if (hedges.size() < max && under(slow.shard()) == 1) {
                String server = known.chooseOther(version, slow.shard(), now, slow.server(), random);
                if (server != null) {
                    hedges.add(ask(version, server, slow.shard(), slow.positions()));
                }
            }
        }
        hedges.forEach(ask -> waiting.put(ask.id(), ask));
        return hedges;
    }

    /** The number of requests in flight for a shard. */
    private int under(int shard) {
        return (int)
                waiting.values().stream().filter(ask -> ask.shard() == shard).count();
    }

    private List<Ask> again(Ask ask, long now) {
        waiting.remove(ask.id());
        KnownServers.Complete version = of;
        if (version == null) {
            // As soon as a view makes a version complete, the attempt does not wait for other views.
            return complete(now) != null ? begin(now) : List.of();
        }
        if (under(ask.shard()) > 0) {
            return List.of();
        }
        String server = known.choose(version, ask.shard(), now, ask.server(), random);
        if (server == null) {
            return begin(now);
        }
        if (server.equals(ask.server())) {
            // No other server has the shard, and this one just failed: retry only after the caller's pause.
            return List.of();
        }
        Ask next = ask(version, server, ask.shard(), ask.positions());
        waiting.put(next.id(), next);
        return List.of(next);
    }

    /**
     * Whether the batch waits for requests in flight.
     *
     * @return whether it waits; if not, and the batch is not done, call {@link #begin} after a pause
     */
    @Override
    public boolean isWaiting() {
        return !waiting.isEmpty();
    }

    /**
     * Whether the batch waits for the outcome of a request.
     *
     * @param ask a request of this batch
     * @return false if the request is of an earlier attempt, or only asks for a view, or another server has answered
     */
    @Override
    public boolean isWaitingFor(Ask ask) {
        return waiting.containsKey(ask.id());
    }

    /**
     * The number of requests in flight that the batch waits for.
     *
     * @return 0 or more
     */
    @Override
    public int waiting() {
        return waiting.size();
    }

    /**
     * Whether all values have arrived.
     *
     * @return whether it is done
     */
    @Override
    public boolean isDone() {
        return shardsLeft == 0;
    }

    /**
     * The version of all values.
     *
     * @return the version
     * @throws IllegalStateException if the batch is not done
     */
    public long version() {
        KnownServers.Complete version = of;
        if (!isDone() || version == null) {
            throw new IllegalStateException("the batch is not done");
        }
        return version.version();
    }

    /**
     * The values, by shard.
     *
     * @return one answer per shard that has keys of the batch
     * @throws IllegalStateException if the batch is not done
     */
    @Override
    public List<Answer<V>> answers() {
        version();
        return List.copyOf(answers.values());
    }

    /**
     * The keys without a value so far.
     *
     * @return keys in the order of the batch; all keys if the attempt has no version
     */
    @Override
    public long[] missing() {
        return missing(keys, answers.values());
    }

    /** The keys that no answer has. */
    static long[] missing(long[] keys, Collection<? extends Answer<?>> answers) {
        boolean[] isHere = new boolean[keys.length];
        for (Answer<?> answer : answers) {
            for (int position : answer.positions()) {
                isHere[position] = true;
            }
        }
        return IntStream.range(0, keys.length)
                .filter(i -> !isHere[i])
                .mapToLong(i -> keys[i])
                .toArray();
    }

    /**
     * The number of attempts so far.
     *
     * @return 1 or more after {@link #begin}
     */
    public int attempts() {
        return attempt;
    }
}
