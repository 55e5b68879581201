package io.github.roost.rows.service;

import io.github.roost.neighborhash.NeighborHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The client side of one batch of keys: decides which requests to send, given the answers so far. It sends nothing and has no clock, so that the
 * client and a simulation run the same code. {@code now} is in nanoseconds of the caller's clock. For one thread at a time.
 *
 * @param <V> the type of a server's answer for the keys of a shard
 */
abstract sealed class Batch<V> permits AnyBatch, StrongBatch {
    /** The shard of a request that asks for the server's view. */
    static final int NO_SHARD = -1;

    private static final int[] NO_POSITIONS = {};

    final KnownServers known;
    final long[] keys;
    final RandomGenerator random;
    List<Answer<V>> answers = new ArrayList<>();
    /** The requests in flight that the batch waits for, by id; those for the same keys have the same array of positions. */
    Map<Integer, Ask> waiting = new HashMap<>();
    /** The requests for views that the batch does not wait for, by id. */
    private final Map<Integer, Ask> probes = new HashMap<>();
    /** The ids of requests whose servers have sent nothing for long. */
    private final Set<Integer> silent = new HashSet<>();

    private int nextId;
    /** The number of keys without a value. */
    int keysLeft;

    /**
     * A request to one server.
     *
     * @param id unique in this batch
     * @param server the server's name
     * @param of the version of the values; version 0 if the request asks for the server's view
     * @param shard the shard, or {@link #NO_SHARD}
     * @param positions the positions of its keys in the batch
     * @param keys the keys, in the order of the positions
     */
    record Ask(int id, String server, KnownServers.Complete of, int shard, int[] positions, long[] keys) {
        long version() {
            return of.version();
        }

        int shards() {
            return of.shards();
        }
    }

    /**
     * The values of one shard.
     *
     * @param of the version of the values
     * @param positions the positions of its keys in the batch
     * @param values the server's answer
     * @param <V> the type of a server's answer
     */
    record Answer<V>(KnownServers.Complete of, int[] positions, V values) {}

    Batch(KnownServers known, long[] keys, RandomGenerator random, int keysLeft) {
        this.known = known;
        this.keys = keys;
        this.random = random;
        this.keysLeft = keysLeft;
    }

    /** Returns requests to send; called first, and again after a pause while no request is in flight and the batch is not done. */
    abstract List<Ask> begin(long now);

    /** Handles that a request gets no values and is waited for no longer; returns requests to send. */
    abstract List<Ask> again(Ask ask, long now);

    /** Handles an answer with values of a version; returns requests to send. */
    List<Ask> answered(Ask ask, long version, V values, long now) {
        known.answered(ask.server(), now);
        probes.remove(ask.id());
        if (!isWaitingFor(ask)) {
            return List.of();
        }
        if (ask.shard() == NO_SHARD || version != ask.version()) {
            throw new IllegalArgumentException("values must be of version " + ask.version() + ", are of " + version);
        }
        waiting.values().removeIf(other -> isForSameKeys(other, ask));
        answers.add(new Answer<>(ask.of(), ask.positions(), values));
        keysLeft -= ask.positions().length;
        return List.of();
    }

    /**
     * Handles the answer that a server does not have the requested shard; its view was {@linkplain KnownServers#learn learned} before. Returns
     * requests to send.
     */
    final List<Ask> notServed(Ask ask, long now) {
        known.answered(ask.server(), now);
        return givenUp(ask, now);
    }

    /** Handles that a server did not answer in time, or cannot be reached; returns requests to send. */
    final List<Ask> failed(Ask ask, long now) {
        if (probes.containsKey(ask.id()) || waiting.containsKey(ask.id())) {
            known.failed(ask.server(), now);
        }
        return givenUp(ask, now);
    }

    /** Handles that a request is not waited for any more, through no fault of its server; returns requests to send. */
    final List<Ask> givenUp(Ask ask, long now) {
        probes.remove(ask.id());
        if (waiting.remove(ask.id()) == null) {
            lost(ask);
            return List.of();
        }
        return again(ask, now);
    }

    /** Handles that a request gets no values that is not of the current attempt. */
    void lost(Ask ask) {}

    /**
     * Hedges slow requests: each request in flight, once, is sent to a second server that has the shard in the same version and has not failed
     * recently, if there is one. Returns at most {@code max} requests to send.
     */
    final List<Ask> hedge(long now, int max) {
        List<Ask> hedges = new ArrayList<>();
        for (Ask slow : List.copyOf(waiting.values())) {
            if (hedges.size() < max && under(slow) == 1) {
                hedges.addAll(beside(slow, now));
            }
        }
        return hedges;
    }

    /**
     * Handles that a server has sent nothing for long; called again and again while that is so, as another server may become usable later. It may
     * still answer, but is avoided, and another server is asked if all that were asked for the same keys are silent. A view is not waited for any
     * more. Returns requests to send.
     */
    List<Ask> silent(Ask slow, long now) {
        if (slow.shard() == NO_SHARD) {
            return silentView(slow, now);
        }
        if (!waiting.containsKey(slow.id())) {
            return List.of();
        }
        if (silent.add(slow.id())) {
            known.failed(slow.server(), now);
        }
        if (!waiting.values().stream().allMatch(other -> silent.contains(other.id()) || !isForSameKeys(other, slow))) {
            return List.of();
        }
        List<Ask> asks = beside(slow, now);
        return asks.isEmpty() ? elsewhere(slow, now) : asks;
    }

    private List<Ask> silentView(Ask slow, long now) {
        boolean isWaitedFor = waiting.remove(slow.id()) != null;
        if (isWaitedFor) {
            probes.put(slow.id(), slow);
        }
        if (probes.containsKey(slow.id())) {
            known.failed(slow.server(), now);
        }
        return isWaitedFor ? again(slow, now) : List.of();
    }

    /** A request for the same keys in the same version, to a server that was not asked for them and has not failed recently; none if there is none. */
    private List<Ask> beside(Ask slow, long now) {
        return beside(slow, slow.of(), now);
    }

    /** As {@link #beside(Ask, long)}, in a version with as many shards. */
    final List<Ask> beside(Ask slow, KnownServers.Complete of, long now) {
        if (slow.shard() == NO_SHARD) {
            return List.of();
        }
        Set<String> asked = waiting.values().stream()
                .filter(other -> isForSameKeys(other, slow))
                .map(Ask::server)
                .collect(Collectors.toSet());
        String server = known.chooseOther(of, slow.shard(), now, asked, random);
        List<Ask> more = server == null ? List.of() : List.of(ask(of, server, slow.shard(), slow.positions()));
        await(more);
        return more;
    }

    /** Requests in another version, if all servers that have the request's shard in its version are silent. */
    abstract List<Ask> elsewhere(Ask silent, long now);

    private static boolean isForSameKeys(Ask one, Ask other) {
        return one.positions() == other.positions();
    }

    /** The number of requests in flight for the same keys. */
    final int under(Ask ask) {
        return (int) waiting.values().stream()
                .filter(other -> isForSameKeys(other, ask))
                .count();
    }

    final void await(List<Ask> asks) {
        asks.forEach(ask -> waiting.put(ask.id(), ask));
    }

    final Ask ask(KnownServers.Complete of, String server, int shard, int[] positions) {
        long[] at = new long[positions.length];
        Arrays.setAll(at, i -> keys[positions[i]]);
        return new Ask(nextId++, server, of, shard, positions, at);
    }

    /** Requests for the views of all known servers, but those that this batch has asked and that may still answer. */
    final List<Ask> views() {
        Set<String> asked = probes.values().stream().map(Ask::server).collect(Collectors.toSet());
        return known.servers().stream()
                .filter(server -> !asked.contains(server))
                .map(this::view)
                .toList();
    }

    /** Requests for views to silent servers, not waited for: servers that joined or came back may have unknown shards. */
    final List<Ask> probes(long now) {
        List<Ask> asks = known.claimSilent(now).stream().map(this::view).toList();
        asks.forEach(ask -> probes.put(ask.id(), ask));
        return asks;
    }

    private Ask view(String server) {
        return new Ask(nextId++, server, KnownServers.NONE, NO_SHARD, NO_POSITIONS, new long[0]);
    }

    /** The positions, of those given, of the keys of each shard. */
    final int[][] byShard(int[] positions, int shards) {
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

    /** Whether requests are in flight that the batch waits for; if not, and it is not done, call {@link #begin} after a pause. */
    final boolean isWaiting() {
        return !waiting.isEmpty();
    }

    /** Whether the batch waits for the outcome of a request: false if it only asks for a view, or another server has answered. */
    boolean isWaitingFor(Ask ask) {
        return waiting.containsKey(ask.id());
    }

    /** The number of requests in flight that the batch waits for. */
    final int waiting() {
        return waiting.size();
    }

    /** Whether all values have arrived. */
    final boolean isDone() {
        return keysLeft == 0;
    }

    /** The values; the batch must be done. */
    final List<Answer<V>> answers() {
        if (!isDone()) {
            throw new IllegalStateException("the batch is not done");
        }
        return List.copyOf(answers);
    }

    /** The keys without a value so far, in the order of the batch. */
    final long[] missing() {
        boolean[] isHere = new boolean[keys.length];
        for (Answer<V> answer : answers) {
            for (int position : answer.positions()) {
                isHere[position] = true;
            }
        }
        return IntStream.range(0, keys.length)
                .filter(i -> !isHere[i])
                .mapToLong(i -> keys[i])
                .toArray();
    }
}
