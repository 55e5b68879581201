package io.github.roost.tableservice;

import io.github.roost.table.LongTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One batch of keys whose values are all of one version, as a client asks for it: which requests to send, given what has been answered. It
 * sends nothing and knows no clock, so that the client and a simulation run the same code.
 *
 * <p>An attempt has one version: the newest that is complete by what is known. Its requests name that version, and only answers to
 * requests of the attempt that is under way, with values of its version, are kept; so whatever is lost, late, doubled or overtaken, the
 * values of a batch are of one version. A request that fails goes to another server that has the shard. Where none has it, all that the attempt
 * has got is dropped, and the next one begins with the version that is the newest then. Where no version is complete, all servers are
 * asked for what they have. For one thread at a time.
 *
 * @param <V> what a server answers for the keys of a shard
 */
public final class StrongBatch<V> {
    /** In place of a shard: the request asks for what the server has. */
    public static final int NO_SHARD = -1;

    private final KnownServers known;
    private final long[] keys;
    private final RandomGenerator random;
    private final Map<Integer, Answer<V>> answers = new HashMap<>();
    private Map<Integer, Ask> waiting = new HashMap<>();
    private KnownServers.@Nullable Complete of;
    private int attempt;
    private int nextId;
    private boolean isDone;

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
        this.known = known;
        this.keys = keys;
        this.random = random;
    }

    /**
     * Begins, or begins anew where nothing could be sent: to be called first, and from time to time while nothing is under way.
     *
     * @param now nanoseconds of the caller's clock
     * @return requests to send; empty if there is no server
     */
    public List<Ask> begin(long now) {
        KnownServers.Complete newest = known.newest(now);
        attempt++;
        answers.clear();
        waiting = new HashMap<>();
        of = newest;
        List<Ask> asks = new ArrayList<>();
        if (newest == null) {
            for (String server : known.servers()) {
                asks.add(new Ask(nextId++, server, 0, 0, NO_SHARD, new int[0], new long[0]));
            }
        } else {
            Map<Integer, int[]> byShard = byShard(newest.shards());
            isDone = byShard.isEmpty();
            for (Map.Entry<Integer, int[]> entry : byShard.entrySet()) {
                String server = known.choose(newest, entry.getKey(), now, null, random);
                if (server == null) {
                    throw new IllegalStateException("no server has shard " + entry.getKey() + " of a complete version");
                }
                asks.add(ask(newest, server, entry.getKey(), entry.getValue()));
            }
        }
        asks.forEach(ask -> waiting.put(ask.id(), ask));
        return asks;
    }

    private Map<Integer, int[]> byShard(int shards) {
        Map<Integer, int[]> byShard = new HashMap<>();
        for (int i = 0; i < keys.length; i++) {
            int[] before = byShard.getOrDefault(LongTable.shard(keys[i], shards), new int[0]);
            int[] more = Arrays.copyOf(before, before.length + 1);
            more[before.length] = i;
            byShard.put(LongTable.shard(keys[i], shards), more);
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
     * @return requests to send
     */
    public List<Ask> answered(Ask ask, long version, V values) {
        known.answered(ask.server());
        if (waiting.remove(ask.id()) == null || ask.shard() == NO_SHARD) {
            return List.of();
        }
        if (version != ask.version()) {
            throw new IllegalArgumentException("values must be of version " + ask.version() + ", are of " + version);
        }
        answers.put(ask.shard(), new Answer<>(ask.positions(), values));
        isDone = waiting.isEmpty();
        return List.of();
    }

    /**
     * A server has answered that it does not have what was asked for; what it has was {@linkplain KnownServers#learn learned}.
     *
     * @param ask what was asked
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
    public List<Ask> notServed(Ask ask, long now) {
        known.answered(ask.server());
        return waiting.remove(ask.id()) == null ? List.of() : again(ask, now);
    }

    /**
     * A server has not answered in time, or cannot be reached.
     *
     * @param ask what was asked
     * @param now nanoseconds of the caller's clock
     * @return requests to send
     */
    public List<Ask> failed(Ask ask, long now) {
        if (waiting.remove(ask.id()) == null) {
            return List.of();
        }
        known.failed(ask.server(), now);
        return again(ask, now);
    }

    private List<Ask> again(Ask ask, long now) {
        KnownServers.Complete version = of;
        if (version == null) {
            // As soon as one answer makes a version complete, the others are not waited for.
            return known.newest(now) != null ? begin(now) : List.of();
        }
        String server = known.choose(version, ask.shard(), now, ask.server(), random);
        if (server == null) {
            return begin(now);
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
     * Whether all values are there.
     *
     * @return whether it is done
     */
    public boolean isDone() {
        return isDone;
    }

    /**
     * The version that all values are of.
     *
     * @return the version
     * @throws IllegalStateException if the batch is not done
     */
    public long version() {
        KnownServers.Complete version = of;
        if (!isDone || version == null) {
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
