package io.github.roost.rows.service;

import java.util.ArrayList;
import java.util.Arrays;
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
        List<Ask> asks = plan(now, null, false);
        asks.addAll(plan(now, null, true));
        if (open.length > 0) {
            asks.addAll(views());
        }
        await(asks);
        if (open.length == 0) {
            asks.addAll(probes(now));
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
        return asks;
    }

    /** Requests the keys of the request, and all open keys, of servers that have not failed; other keys wait for {@link #begin}. */
    @Override
    List<Ask> again(Ask ask, long now) {
        if (under(ask) == 0) {
            int[] more = Arrays.copyOf(open, open.length + ask.positions().length);
            System.arraycopy(ask.positions(), 0, more, open.length, ask.positions().length);
            open = more;
        }
        List<Ask> asks = plan(now, ask, false);
        await(asks);
        return asks;
    }

    /** A request in another version with as many shards, so that the keys are the same. */
    @Override
    List<Ask> elsewhere(Ask silent, long now) {
        for (KnownServers.Complete of : known.versions()) {
            List<Ask> asks = of.shards() == silent.shards() ? beside(silent, of, now) : List.of();
            if (!asks.isEmpty()) {
                return asks;
            }
        }
        return List.of();
    }
}
