package io.github.roost.tableservice;

import io.github.roost.table.LongTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One batch of keys whose values are all of one version, as a client asks for it: which requests to send, given what has been answered. It
 * sends nothing and knows no clock, so that the client and a simulation run the same code.
 *
 * <p>An attempt has one version: the one that the caller names, or the newest that is complete by what is known. Its requests name that version, and only answers to
 * requests of the attempt that is under way, with values of its version, are kept; so whatever is lost, late, doubled or overtaken, the
 * values of a batch are of one version. A request that fails goes to another server that has the shard. Where none has it, all that the attempt
 * has got is dropped, and the next one begins with the version that is the newest then. Where no version is complete, all servers are
 * asked for what they have, and beside any attempt those of which nothing was heard for long. While a request is slow, another server may be
 * asked the same; the first answer counts. For one thread at a time.
 *
 * @param <V> what a server answers for the keys of a shard
 */
public final class StrongBatch<V> {
    /** In place of a shard: the request asks for what the server has. */
    public static final int NO_SHARD = -1;

    private static final int[] NO_POSITIONS = {};

    private final KnownServers known;
    /** 0 for the newest that is complete. */
    private final long wanted;

    private final long[] keys;
    private final RandomGenerator random;
    private final Map<Integer, Answer<V>> answers = new HashMap<>();
    /** Requests of this attempt, by id; of a shard two at most. */
    private Map<Integer, Ask> waiting = new HashMap<>();
    /** Ids of requests that nothing waits for: they ask for what a server has. */
    private final Set<Integer> probes = new HashSet<>();

    private KnownServers.@Nullable Complete of;
    private int attempt;
    private int nextId;
    /** That have no answer in this attempt. */
    private int shardsLeft = Integer.MAX_VALUE;

    /**
     * A request to one server.
     *
     * @param id of no other request of this batch
     * @param server its name
     * @param version that values must be of; 0 if it is asked what it has
     * @param shards of the version
     * @param shard or {@link #NO_SHARD}
     * @param positions of its keys in the batch
     * @param keys in the order of the positions
     */
    public record Ask(int id, String server, long version, int shards, int shard, int[] positions, long[] keys) {}

    /**
     * Values of one shard.
     *
     * @param positions of its keys in the batch
     * @param values what the server has answered
     * @param <V> what a server answers
     */
    public record Answer<V>(int[] positions, V values) {}

    /**
     * A batch that has sent nothing.
     *
     * @param known is asked for servers, and told which fail
     * @param keys any; not to be changed
     * @param random chooses among servers
     */
    public StrongBatch(KnownServers known, long[] keys, RandomGenerator random) {
        this(known, 0, keys, random);
    }

    /**
     * A batch of a version that the caller names.
     *
     * @param known is asked for servers, and told which fail
     * @param version that values must be of, or 0 for the newest that is complete
     * @param keys any; not to be changed
     * @param random chooses among servers
     */
    public StrongBatch(KnownServers known, long version, long[] keys, RandomGenerator random) {
        this.known = known;
        this.wanted = version;
        this.keys = keys;
        this.random = random;
    }

    /**
     * Begins, or begins anew where nothing could be sent: to be called first, and from time to time while nothing is under way.
     *
     * @param now nanoseconds of the caller's clock
     * @return requests to send; empty if there is no server, or the version is complete no more
     */
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
            int[][] byShard = byShard(target.shards());
            int asked = 0;
            for (int shard = 0; shard < byShard.length; shard++) {
                if (byShard[shard].length > 0) {
                    String server = known.choose(target, shard, now, null, random);
                    if (server == null) {
                        // Another batch has learned meanwhile that the version is complete no more.
                        of = null;
                        return List.of();
                    }
                    asks.add(ask(target, server, shard, byShard[shard]));
                    asked++;
                }
            }
            shardsLeft = asked;
        }
        asks.forEach(ask -> waiting.put(ask.id(), ask));
        asks.addAll(probes(now));
        return asks;
    }

    private KnownServers.@Nullable Complete complete(long now) {
        return wanted == 0 ? known.newest(now) : known.complete(wanted);
    }

    /** Servers that have joined, or are back, have shards that nobody would know of. */
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

    /** The positions of the keys of each shard. */
    private int[][] byShard(int shards) {
        int[] shardOf = new int[keys.length];
        int[] counts = new int[shards];
        for (int i = 0; i < keys.length; i++) {
            shardOf[i] = LongTable.shard(keys[i], shards);
            counts[shardOf[i]]++;
        }
        int[][] byShard = new int[shards][];
        Arrays.setAll(byShard, shard -> counts[shard] == 0 ? NO_POSITIONS : new int[counts[shard]]);
        for (int i = keys.length - 1; i >= 0; i--) {
            byShard[shardOf[i]][--counts[shardOf[i]]] = i;
        }
        return byShard;
    }

    private Ask ask(KnownServers.Complete version, String server, int shard, int[] positions) {
        long[] wanted = new long[positions.length];
        Arrays.setAll(wanted, i -> keys[positions[i]]);
        return new Ask(nextId++, server, version.version(), version.shards(), shard, positions, wanted);
    }

    /**
     * A server has answered with values.
     *
     * @param ask what was asked
     * @param version that the values are of
     * @param values for the keys of the request
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
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
     * A server has answered that it does not have what was asked for; what it has was {@linkplain KnownServers#learn learned}.
     *
     * @param ask what was asked
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
    public List<Ask> notServed(Ask ask, long now) {
        known.answered(ask.server(), now);
        return isWaitedFor(ask) ? again(ask, now) : List.of();
    }

    /**
     * A server has not answered in time, or cannot be reached.
     *
     * @param ask what was asked
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
    public List<Ask> failed(Ask ask, long now) {
        if (probes.contains(ask.id()) || waiting.containsKey(ask.id())) {
            known.failed(ask.server(), now);
        }
        return isWaitedFor(ask) ? again(ask, now) : List.of();
    }

    /**
     * The requests under way are slow: each is sent to another server that has the shard in the same version, once, where there is one that has
     * not failed lately.
     *
     * @param now nanoseconds of the caller's clock
     * @param most requests
     * @return requests to send
     */
    public List<Ask> hedge(long now, int most) {
        KnownServers.Complete version = of;
        if (version == null) {
            return List.of();
        }
        List<Ask> hedges = new ArrayList<>();
        for (Ask slow : List.copyOf(waiting.values())) {
            if (hedges.size() < most && under(slow.shard()) == 1) {
                String server = known.chooseOther(version, slow.shard(), now, slow.server(), random);
                if (server != null) {
                    hedges.add(ask(version, server, slow.shard(), slow.positions()));
                }
            }
        }
        hedges.forEach(ask -> waiting.put(ask.id(), ask));
        return hedges;
    }

    /** How many requests for a shard are under way. */
    private int under(int shard) {
        return (int)
                waiting.values().stream().filter(ask -> ask.shard() == shard).count();
    }

    private List<Ask> again(Ask ask, long now) {
        waiting.remove(ask.id());
        KnownServers.Complete version = of;
        if (version == null) {
            // As soon as one answer makes a version complete, the others are not waited for.
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
            // No other has it, and this one has just failed: not again before the caller has waited a while.
            return List.of();
        }
        Ask next = ask(version, server, ask.shard(), ask.positions());
        waiting.put(next.id(), next);
        return List.of(next);
    }

    /**
     * Whether requests are under way.
     *
     * @return whether an answer is waited for; if not, and the batch is not done, {@link #begin} is to be called after a while
     */
    public boolean isWaiting() {
        return !waiting.isEmpty();
    }

    /**
     * How many requests are under way that an answer is waited for of.
     *
     * @return 0 or more
     */
    public int waiting() {
        return waiting.size();
    }

    /**
     * Whether all values are there.
     *
     * @return whether it is done
     */
    public boolean isDone() {
        return shardsLeft == 0;
    }

    /**
     * The version that all values are of.
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
     * @return an answer for each shard that has keys of the batch
     * @throws IllegalStateException if the batch is not done
     */
    public List<Answer<V>> answers() {
        version();
        return List.copyOf(answers.values());
    }

    /**
     * How often it has begun.
     *
     * @return 1 or more after {@link #begin}
     */
    public int attempts() {
        return attempt;
    }
}
