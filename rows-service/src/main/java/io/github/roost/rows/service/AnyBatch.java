package io.github.roost.rows.service;

import io.github.roost.rows.service.StrongBatch.Answer;
import io.github.roost.rows.service.StrongBatch.Ask;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A batch of keys whose values may be of different versions: each key's value is of the newest version of which a known server has the key's shard.
 * So it needs no complete version, only some version of each key's shard. Servers that have recently failed are asked only if no other server has any
 * version of the key's shard.
 *
 * <p>Keys are requested shard by shard, and each request names a version, its number of shards and the shard, as in a {@link StrongBatch}: a server
 * that has other versions meanwhile answers with its view, and the keys are requested again in a version that is there. An answer is kept for the
 * keys of its own request only, once.
 *
 * @param <V> the type of a server's answer for the keys of a shard
 */
final class AnyBatch<V> implements Batch<V> {
    private final KnownServers known;
    private final long[] keys;
    private final RandomGenerator random;
    private final List<Answer<V>> answers = new ArrayList<>();
    /** The requests in flight, by id. A request and its hedge have the same array of positions. */
    private final Map<Integer, Ask> waiting = new HashMap<>();
    /** The ids of requests for views that the batch does not wait for. */
    private final Set<Integer> probes = new HashSet<>();
    /** The positions of the keys without a value and without a request in flight. */
    private int[] open;

    private int nextId;
    private int keysLeft;

    /**
     * Creates a batch.
     *
     * @param known chooses servers, and is told which fail
     * @param keys any keys; must not change
     * @param random chooses among servers
     */
    AnyBatch(KnownServers known, long[] keys, RandomGenerator random) {
        this.known = known;
        this.keys = keys;
        this.random = random;
        this.open = IntStream.range(0, keys.length).toArray();
        this.keysLeft = keys.length;
    }

    @Override
    public List<Ask> begin(long now) {
        List<Ask> asks = plan(now, null, false);
        asks.addAll(plan(now, null, true));
        if (open.length > 0) {
            for (String server : known.servers()) {
                asks.add(view(server));
            }
        }
        asks.forEach(ask -> waiting.put(ask.id(), ask));
        if (open.length == 0) {
            for (String server : known.claimSilent(now)) {
                Ask probe = view(server);
                probes.add(probe.id());
                asks.add(probe);
            }
        }
        return asks;
    }

    /**
     * Requests for open keys, each in the newest version in which a server has its shard; keys of which there is none stay open.
     *
     * @param failed a request that is not repeated, or null
     * @param alsoAvoided whether servers that have recently failed are asked
     */
    private List<Ask> plan(long now, @Nullable Ask failed, boolean alsoAvoided) {
        List<Ask> asks = new ArrayList<>();
        for (KnownServers.Complete of : open.length == 0 ? List.<KnownServers.Complete>of() : known.versions()) {
            String not = failed != null && failed.version() == of.version() ? failed.server() : "";
            IntStream.Builder left = IntStream.builder();
            int[][] byShard = StrongBatch.byShard(keys, open, of.shards());
            for (int shard = 0; shard < byShard.length; shard++) {
                int[] positions = byShard[shard];
                if (positions.length > 0) {
                    String server = alsoAvoided
                            ? known.choose(of, shard, now, not, random)
                            : known.chooseOther(of, shard, now, not, random);
                    if (server == null) {
                        Arrays.stream(positions).forEach(left);
                    } else {
                        asks.add(ask(server, of.version(), of.shards(), shard, positions));
                    }
                }
            }
            open = left.build().toArray();
        }
        return asks;
    }

    private Ask ask(String server, long version, int shards, int shard, int[] positions) {
        return new Ask(nextId++, server, version, shards, shard, positions, StrongBatch.keysAt(keys, positions));
    }

    private Ask view(String server) {
        return new Ask(nextId++, server, 0, 0, StrongBatch.NO_SHARD, new int[0], new long[0]);
    }

    @Override
    public List<Ask> answered(Ask ask, long version, V values, long now) {
        known.answered(ask.server(), now);
        probes.remove(ask.id());
        if (!isWaitingFor(ask)) {
            return List.of();
        }
        if (ask.shard() == StrongBatch.NO_SHARD || version != ask.version()) {
            throw new IllegalArgumentException("values must be of version " + ask.version() + ", are of " + version);
        }
        waiting.values().removeIf(other -> other.positions() == ask.positions());
        answers.add(new Answer<>(ask.positions(), values));
        keysLeft -= ask.positions().length;
        return List.of();
    }

    @Override
    public List<Ask> notServed(Ask ask, long now) {
        known.answered(ask.server(), now);
        return again(ask, now);
    }

    @Override
    public List<Ask> failed(Ask ask, long now) {
        if (probes.contains(ask.id()) || waiting.containsKey(ask.id())) {
            known.failed(ask.server(), now);
        }
        return again(ask, now);
    }

    /** After a request without values, requests its keys, and all open keys, of servers that have not failed; other keys wait for {@link #begin}. */
    private List<Ask> again(Ask ask, long now) {
        probes.remove(ask.id());
        if (waiting.remove(ask.id()) == null) {
            return List.of();
        }
        if (under(ask) == 0) {
            int[] more = Arrays.copyOf(open, open.length + ask.positions().length);
            System.arraycopy(ask.positions(), 0, more, open.length, ask.positions().length);
            open = more;
        }
        List<Ask> asks = plan(now, ask, false);
        asks.forEach(next -> waiting.put(next.id(), next));
        return asks;
    }

    /** The number of requests in flight for the same keys. */
    private int under(Ask ask) {
        return (int) waiting.values().stream()
                .filter(other -> other.positions() == ask.positions())
                .count();
    }

    @Override
    public List<Ask> hedge(long now, int max) {
        List<Ask> hedges = new ArrayList<>();
        for (Ask slow : List.copyOf(waiting.values())) {
            if (hedges.size() < max && slow.shard() != StrongBatch.NO_SHARD && under(slow) == 1) {
                KnownServers.Complete of = new KnownServers.Complete(slow.version(), slow.shards());
                String server = known.chooseOther(of, slow.shard(), now, slow.server(), random);
                if (server != null) {
                    hedges.add(ask(server, slow.version(), slow.shards(), slow.shard(), slow.positions()));
                }
            }
        }
        hedges.forEach(ask -> waiting.put(ask.id(), ask));
        return hedges;
    }

    @Override
    public boolean isWaiting() {
        return !waiting.isEmpty();
    }

    @Override
    public boolean isWaitingFor(Ask ask) {
        return waiting.containsKey(ask.id());
    }

    @Override
    public int waiting() {
        return waiting.size();
    }

    @Override
    public boolean isDone() {
        return keysLeft == 0;
    }

    @Override
    public List<Answer<V>> answers() {
        if (!isDone()) {
            throw new IllegalStateException("the batch is not done");
        }
        return List.copyOf(answers);
    }

    @Override
    public long[] missing() {
        return StrongBatch.missing(keys, answers);
    }
}
