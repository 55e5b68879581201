package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

class HedgePolicyTest {
    private static final long MILLI = 1_000_000;
    private static final int BATCHES = 50_000;

    private static long exponential(SplittableRandom random, double mean) {
        return (long) (-Math.log(1 - random.nextDouble()) * mean);
    }

    @Test
    void theDelayComesToWhereOneInTwentyIsLate() {
        HedgePolicy policy = new HedgePolicy();
        SplittableRandom random = new SplittableRandom(28);
        double mean = 2 * MILLI;
        int late = 0;
        double sum = 0;
        for (int i = 0; i < BATCHES; i++) {
            boolean isLate = exponential(random, mean) > policy.delayNanos();
            if (isLate) {
                policy.late(1);
            } else {
                policy.early(1);
            }
            if (i >= BATCHES / 10) {
                late += isLate ? 1 : 0;
                sum += policy.delayNanos();
            }
        }
        int counted = BATCHES - BATCHES / 10;
        assertThat(late / (double) counted).isCloseTo(0.05, within(0.005));
        assertThat(sum / counted).isCloseTo(-Math.log(0.05) * mean, within(0.1 * -Math.log(0.05) * mean));
    }

    @Test
    void theDelayStaysWithinItsBounds() {
        HedgePolicy policy = new HedgePolicy();
        for (int i = 0; i < 10_000; i++) {
            policy.early(1);
        }
        assertThat(policy.delayNanos()).isEqualTo(500_000);
        for (int i = 0; i < 10_000; i++) {
            policy.late(1);
        }
        assertThat(policy.delayNanos()).isEqualTo(100 * MILLI);
    }

    @Test
    void noMoreThanOneRequestInTwentyIsSentTwiceWhenAllAreSlow() {
        HedgePolicy policy = new HedgePolicy();
        int hedges = 0;
        for (int i = 0; i < 10_000; i++) {
            policy.sent(4);
            hedges += policy.late(4);
        }
        // And the twenty that may be saved up.
        assertThat(hedges).isBetween(1_990, 2_021);
    }

    /** One replica of three is slow, in virtual time: how long do batches of four shards take, and with how many requests? */
    private record Simulated(long median, long last, int requests, int hedges) {
        static Simulated run(boolean isHedged) {
            SplittableRandom random = new SplittableRandom(28);
            KnownServers known = new KnownServers();
            List<String> names = List.of("a", "b", "slow");
            known.setServers(names);
            names.forEach(name -> known.learn(new ServerView(name, 1, Map.of(7L, RollingUpdate.shardsAt(1, 0, 4)))));
            HedgePolicy policy = new HedgePolicy();
            ToLongFunction<String> latency = server -> server.equals("slow") && random.nextInt(10) == 0
                    ? 80 * MILLI
                    : MILLI / 2 + exponential(random, MILLI / 4.0);
            List<Long> took = new ArrayList<>();
            int requests = 0;
            int hedges = 0;
            for (int i = 0; i < 20_000; i++) {
                long begin = i * 200L * MILLI;
                known.claimSilent(begin);
                long[] keys = random.longs(40).toArray();
                StrongBatch<String> batch = new StrongBatch<>(known, 0, keys, random);
                PriorityQueue<Arrival> arrivals = new PriorityQueue<>();
                for (Batch.Ask ask : batch.begin(begin)) {
                    arrivals.add(new Arrival(begin + latency.applyAsLong(ask.server()), ask));
                    requests++;
                }
                int sent = arrivals.size();
                policy.sent(sent);
                long hedgeAt = begin + policy.delayNanos();
                boolean isHedgeDue = isHedged;
                long now = begin;
                while (!batch.isDone()) {
                    if (isHedgeDue && arrivals.element().at() > hedgeAt) {
                        isHedgeDue = false;
                        now = hedgeAt;
                        policy.early(sent - batch.waiting());
                        for (Batch.Ask ask : batch.hedge(now, policy.late(batch.waiting()))) {
                            arrivals.add(new Arrival(now + latency.applyAsLong(ask.server()), ask));
                            hedges++;
                        }
                    }
                    Arrival next = arrivals.remove();
                    now = next.at();
                    batch.answered(next.ask(), 7, "", now);
                }
                if (isHedgeDue) {
                    policy.early(sent);
                }
                took.add(now - begin);
            }
            Collections.sort(took);
            return new Simulated(took.get(10_000), took.get(19_800), requests, hedges);
        }

        private record Arrival(long at, Batch.Ask ask) implements Comparable<Arrival> {
            @Override
            public int compareTo(Arrival other) {
                return Long.compare(at, other.at);
            }
        }
    }

    @Test
    void hedgingTakesAwayTheTailOfOneSlowReplicaForOneRequestInTwenty() {
        Simulated without = Simulated.run(false);
        Simulated with = Simulated.run(true);
        assertThat(without.last()).isGreaterThan(79 * MILLI);
        assertThat(with.last()).isLessThan(without.last() / 4);
        assertThat(with.hedges()).isPositive().isLessThanOrEqualTo(with.requests() / 20 + 20);
        assertThat(with.median()).isLessThanOrEqualTo(without.median() * 11 / 10);
    }

    /**
     * A batch of 64 shards, one of which one replica answers never: it is silent after 250 ms. Two thirds of the batches
     * ask another replica of that shard.
     */
    private static final class Of64Shards {
        static final int SHARDS = 64;
        private static final int DEAD = 17;
        private static final long SILENT = 250 * MILLI;
        private static final int COUNT = 3_000;

        final List<Long> took = new ArrayList<>();
        int requests;
        int hedges;

        private record Event(long at, Batch.Ask ask, boolean isAnswer) implements Comparable<Event> {
            @Override
            public int compareTo(Event other) {
                return Long.compare(at, other.at);
            }
        }

        void run(boolean isHedged) {
            SplittableRandom random = new SplittableRandom(64);
            KnownServers known = new KnownServers();
            List<String> names = List.of("a", "b", "slow");
            known.setServers(names);
            Served all = RollingUpdate.shardsAt(1, 0, SHARDS);
            // One has the next version too, and the version before is still at another: no value may be of these.
            known.learn(new ServerView("a", 1, Map.of(7L, all, 8L, RollingUpdate.shardsAt(2, 0, SHARDS))));
            known.learn(new ServerView("b", 1, Map.of(7L, all, 6L, all)));
            known.learn(new ServerView("slow", 1, Map.of(7L, all)));
            HedgePolicy policy = new HedgePolicy();
            for (int i = 0; i < COUNT; i++) {
                // So far apart that a server that failed in one batch is used by the next.
                long begin = i * 2_000L * MILLI;
                known.claimSilent(begin);
                long[] keys = random.longs(1_000).toArray();
                StrongBatch<Long> batch = new StrongBatch<>(known, 0, keys, random);
                PriorityQueue<Event> events = new PriorityQueue<>();
                List<Batch.Ask> asks = batch.begin(begin);
                requests += asks.size();
                policy.sent(asks.size());
                send(asks, begin, random, events);
                long hedgeAt = begin + policy.delayNanos();
                boolean isHedgeDue = isHedged;
                long now = begin;
                while (!batch.isDone()) {
                    if (isHedgeDue && events.element().at() > hedgeAt) {
                        isHedgeDue = false;
                        now = hedgeAt;
                        policy.early(asks.size() - batch.waiting());
                        List<Batch.Ask> more = batch.hedge(now, policy.late(batch.waiting()));
                        hedges += more.size();
                        send(more, now, random, events);
                    }
                    Event next = events.remove();
                    now = next.at();
                    send(
                            next.isAnswer()
                                    ? batch.answered(
                                            next.ask(),
                                            next.ask().version(),
                                            next.ask().version(),
                                            now)
                                    : batch.silent(next.ask(), now),
                            now,
                            random,
                            events);
                }
                if (isHedgeDue) {
                    policy.early(asks.size());
                }
                took.add(now - begin);
                assertThat(batch.version()).isEqualTo(7);
                assertThat(batch.answers()).hasSize(SHARDS).allMatch(answer -> answer.values() == 7);
                assertThat(batch.answers().stream()
                                .mapToInt(answer -> answer.positions().length)
                                .sum())
                        .isEqualTo(keys.length);
            }
            Collections.sort(took);
        }

        private static void send(List<Batch.Ask> asks, long now, SplittableRandom random, PriorityQueue<Event> events) {
            for (Batch.Ask ask : asks) {
                boolean isDead = ask.shard() == DEAD && ask.server().equals("slow");
                events.add(new Event(
                        now + (isDead ? SILENT : MILLI / 2 + exponential(random, MILLI / 4.0)), ask, !isDead));
            }
        }

        /** Of batches in order of their time. */
        long at(double share) {
            return took.get((int) (share * (COUNT - 1)));
        }
    }

    @Test
    void aBatchOf64ShardsWaitsForNoSlowReplicaOfOneLongerThanARequestAndSeldomLongerThanAHedge() {
        Of64Shards without = new Of64Shards();
        without.run(false);
        assertThat(without.at(.7)).isGreaterThan(Of64Shards.SILENT);
        Of64Shards with = new Of64Shards();
        with.run(true);
        assertThat(with.at(1)).isLessThan(Of64Shards.SILENT + 5 * MILLI);
        assertThat(with.at(.99)).isLessThan(10 * MILLI);
        assertThat(with.hedges).isLessThanOrEqualTo(with.requests / 20 + 20);
    }
}
