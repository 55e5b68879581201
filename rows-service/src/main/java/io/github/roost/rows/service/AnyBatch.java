package io.github.roost.rows.service;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
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
final class AnyBatch<V> extends Batch<V> {
    /** The positions of the keys without a value and without a request in flight. */
    private int[] open;

    /**
     * Creates a batch.
     *
     * @param known chooses servers, and is told which fail
     * @param keys any keys; must not change
     * @param random chooses among servers
     */
    AnyBatch(KnownServers known, long[] keys, RandomGenerator random) {
        super(known, keys, random, keys.length);
        this.open = IntStream.range(0, keys.length).toArray();
    }

    @Override
    List<Ask> begin(long now) {
        List<Ask> asks = planAll(now);
        if (open.length > 0 && !versions().equals(known.versions())) {
            // Of some version, servers have other rows now than those that are here: all keys are requested anew.
            answers.clear();
            waiting.clear();
            keysLeft = keys.length;
            open = IntStream.range(0, keys.length).toArray();
            asks = planAll(now);
        }
        List<Ask> views = open.length > 0 ? views() : List.of();
        await(views);
        asks.addAll(open.length > 0 ? views : probes(now));
        return asks;
    }

    private List<Ask> planAll(long now) {
        List<Ask> asks = plan(now, null, false);
        asks.addAll(plan(now, null, true));
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
        for (KnownServers.Complete of : open.length == 0 ? List.<KnownServers.Complete>of() : versions()) {
            Set<String> not = failed != null && failed.version() == of.version() ? Set.of(failed.server()) : Set.of();
            IntStream.Builder left = IntStream.builder();
            int[][] byShard = byShard(open, of.shards());
            for (int shard = 0; shard < byShard.length; shard++) {
                int[] positions = byShard[shard];
                if (positions.length > 0) {
                    String server = alsoAvoided
                            ? known.choose(of, shard, now, null, random)
                            : known.chooseOther(of, shard, now, not, random);
                    if (server == null) {
                        Arrays.stream(positions).forEach(left);
                    } else {
                        asks.add(ask(of, server, shard, positions));
                    }
                }
            }
            open = left.build().toArray();
        }
        await(asks);
        return asks;
    }

    /** The known versions, but none whose rows differ from those of the same version that are here or under way. */
    private List<KnownServers.Complete> versions() {
        Set<KnownServers.Complete> used = new HashSet<>();
        answers.forEach(answer -> used.add(answer.of()));
        waiting.values().forEach(ask -> used.add(ask.of()));
        return known.versions().stream()
                .filter(of -> used.stream()
                        .noneMatch(other -> other.version() == of.version() && other.content() != of.content()))
                .toList();
    }

    /** Requests the keys of the request, and all open keys, of servers that have not failed; other keys wait for {@link #begin}. */
    @Override
    List<Ask> again(Ask ask, long now) {
        if (under(ask) == 0) {
            int[] more = Arrays.copyOf(open, open.length + ask.positions().length);
            System.arraycopy(ask.positions(), 0, more, open.length, ask.positions().length);
            open = more;
        }
        return plan(now, ask, false);
    }

    /** A request in another version with as many shards, so that the keys are the same. */
    @Override
    List<Ask> elsewhere(Ask silent, long now) {
        for (KnownServers.Complete of : versions()) {
            List<Ask> asks = of.shards() == silent.shards() ? beside(silent, of, now) : List.of();
            if (!asks.isEmpty()) {
                return asks;
            }
        }
        return List.of();
    }
}
