package io.github.roost.rows.service;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A batch of keys whose values are all of one version.
 *
 * <p>An attempt has one version: the version that the caller names, or the newest that is complete as far as is known. Its requests name that
 * version, and only answers to requests of the current attempt, with values of its version, are kept. So the values of a batch are of one version,
 * whatever messages are lost, late, duplicated or reordered. A failed request is sent to another server that has the shard. If there is none, the
 * attempt's answers are dropped, and the next attempt begins with the newest complete version. If no version is complete, all servers are asked for
 * their views; during an attempt, so are servers that have been silent for long. A slow request may be sent to a second server; the first answer
 * counts.
 *
 * @param <V> the type of a server's answer for the keys of a shard
 */
final class StrongBatch<V> extends Batch<V> {
    /** 0 for the newest complete version. */
    private final long wanted;

    private KnownServers.@Nullable Complete of;
    /** An earlier attempt whose servers are silent. If it is answered before the current one, it is the batch's. */
    private @Nullable Attempt<V> beside;

    private record Attempt<V>(
            KnownServers.@Nullable Complete of, List<Answer<V>> answers, Map<Integer, Ask> waiting, int keysLeft) {}

    private int attempt;

    /**
     * Creates a batch.
     *
     * @param known chooses servers, and is told which fail
     * @param version the version of the values, or 0 for the newest complete version
     * @param keys any keys; must not change
     * @param random chooses among servers
     */
    StrongBatch(KnownServers known, long version, long[] keys, RandomGenerator random) {
        super(known, keys, random, Integer.MAX_VALUE);
        this.wanted = version;
    }

    /** Begins an attempt; returns no requests if there is no server, or the version is no longer complete. */
    @Override
    List<Ask> begin(long now) {
        KnownServers.Complete target = complete(now);
        attempt++;
        answers = new ArrayList<>();
        waiting = new HashMap<>();
        of = target;
        keysLeft = Integer.MAX_VALUE;
        if (target == null) {
            List<Ask> views = views();
            await(views);
            return views;
        }
        List<Ask> asks = new ArrayList<>();
        int[][] byShard = byShard(IntStream.range(0, keys.length).toArray(), target.shards());
        for (int shard = 0; shard < byShard.length; shard++) {
            if (byShard[shard].length > 0) {
                String server = known.choose(target, shard, now, null, random);
                if (server == null) {
                    // Another batch has just learned that the version is not complete any more.
                    of = null;
                    return List.of();
                }
                asks.add(ask(target, server, shard, byShard[shard]));
            }
        }
        keysLeft = keys.length;
        await(asks);
        asks.addAll(probes(now));
        return asks;
    }

    private KnownServers.@Nullable Complete complete(long now) {
        return wanted == 0 ? known.newest(now) : known.complete(wanted);
    }

    @Override
    List<Ask> again(Ask ask, long now) {
        KnownServers.Complete version = of;
        if (version == null) {
            // As soon as a view makes a version complete, the attempt does not wait for other views.
            return complete(now) != null ? begin(now) : List.of();
        }
        if (under(ask) > 0) {
            return List.of();
        }
        if (known.choose(version, ask.shard(), now, null, random) == null) {
            return begin(now);
        }
        // If all that have the shard have just failed, it begins again after the caller's pause.
        String server = known.chooseOther(version, ask.shard(), now, Set.of(ask.server()), random);
        List<Ask> next = server == null ? List.of() : List.of(ask(version, server, ask.shard(), ask.positions()));
        await(next);
        return next;
    }

    /** Begins an attempt with the newest complete version whose servers are not silent, beside the current one; once. */
    @Override
    List<Ask> elsewhere(Ask silent, long now) {
        KnownServers.Complete next = wanted == 0 ? known.newest(now) : null;
        if (beside != null || of == null || next == null || next.equals(of)) {
            return List.of();
        }
        beside = attempt();
        return begin(now);
    }

    private Attempt<V> attempt() {
        return new Attempt<>(of, answers, waiting, keysLeft);
    }

    private void continueWith(Attempt<V> other) {
        of = other.of;
        answers = other.answers;
        waiting = other.waiting;
        keysLeft = other.keysLeft;
    }

    private boolean isBeside(Ask ask) {
        return beside != null && beside.waiting.containsKey(ask.id());
    }

    @Override
    boolean isWaitingFor(Ask ask) {
        return super.isWaitingFor(ask) || isBeside(ask);
    }

    @Override
    List<Ask> answered(Ask ask, long version, V values, long now) {
        Attempt<V> slow = beside;
        if (slow == null || !isBeside(ask)) {
            return super.answered(ask, version, values, now);
        }
        Attempt<V> current = attempt();
        continueWith(slow);
        super.answered(ask, version, values, now);
        if (!isDone()) {
            beside = attempt();
            continueWith(current);
        }
        return List.of();
    }

    /** Another server may be asked for the keys of either attempt. */
    @Override
    List<Ask> silent(Ask slow, long now) {
        Attempt<V> other = beside;
        if (other == null || !isBeside(slow)) {
            return super.silent(slow, now);
        }
        Attempt<V> current = attempt();
        continueWith(other);
        List<Ask> asks = super.silent(slow, now);
        continueWith(current);
        return asks;
    }

    @Override
    void lost(Ask ask) {
        beside = isBeside(ask) ? null : beside;
    }

    /**
     * The version of all values.
     *
     * @return the version
     * @throws IllegalStateException if the batch is not done
     */
    long version() {
        KnownServers.Complete version = of;
        if (!isDone() || version == null) {
            throw new IllegalStateException("the batch is not done");
        }
        return version.version();
    }

    /** The number of attempts so far; 1 or more after {@link #begin}. */
    int attempts() {
        return attempt;
    }
}
