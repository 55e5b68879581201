package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.service.Batch.Answer;
import io.github.roost.rows.service.Batch.Ask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AnyBatchTest extends ThreeServers {
    private final AnyBatch<String> batch = new AnyBatch<>(known, keys, new SplittableRandom(28));

    private static Ask of(List<Ask> asks, long version) {
        return asks.stream().filter(ask -> ask.version() == version).findFirst().orElseThrow();
    }

    @Test
    void everyKeyIsAskedForInTheNewestVersionOfWhichItsShardIsThere() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(8L, shards(2, 1)));
        assertThat(known.newest(0)).isEqualTo(new KnownServers.Complete(7, 1));
        List<Ask> asks = batch.begin(0);
        assertThat(asks).extracting(Ask::version).containsExactlyInAnyOrder(7L, 8L);
        assertThat(of(asks, 8).server()).isEqualTo("b");
        assertThat(LongStream.of(of(asks, 8).keys())).allMatch(key -> NeighborHashMap.shard(key, 2) == 1);
        assertThat(LongStream.of(of(asks, 7).keys())).allMatch(key -> NeighborHashMap.shard(key, 2) == 0);
        assertThat(of(asks, 7).keys().length + of(asks, 8).keys().length).isEqualTo(keys.length);
        batch.answered(of(asks, 8), 8, "new", 0);
        assertThat(batch.missing()).isEqualTo(of(asks, 7).keys());
        assertThatThrownBy(batch::answers).isInstanceOf(IllegalStateException.class);
        // Only once: a doubled answer is dropped.
        batch.answered(of(asks, 8), 8, "again", 0);
        batch.answered(of(asks, 7), 7, "old", 0);
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.answers()).extracting(Answer::values).containsExactly("new", "old");
    }

    @Test
    void aKeyWhoseServerFailsIsAskedForInAnOlderVersionAndTheOtherAnswersStay() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(8L, shards(2, 0)));
        has("c", 1, Map.of(8L, shards(2, 1)));
        List<Ask> asks = batch.begin(0);
        Ask lost = asks.getFirst();
        batch.answered(asks.getLast(), 8, "new", 0);
        Ask next = batch.failed(lost, 0).getFirst();
        assertThat(next.version()).isEqualTo(7);
        assertThat(next.server()).isEqualTo("a");
        assertThat(next.keys()).containsExactlyInAnyOrder(lost.keys());
        // Nobody else has any version of its shard: it waits for the next begin, which asks the failed ones, too.
        assertThat(batch.failed(next, 0)).isEmpty();
        assertThat(batch.isWaiting()).isFalse();
        assertThat(batch.begin(5_000_000)).extracting(Ask::version).contains(8L);
    }

    @Test
    void whatAServerHasNoMoreIsAskedForInTheVersionThatItHasNow() {
        has("a", 1, Map.of(7L, shards(3, 0, 1, 2)));
        List<Ask> asks = batch.begin(0);
        assertThat(asks).hasSize(3);
        batch.answered(asks.get(0), 7, "old", 0);
        has("a", 2, Map.of(8L, shards(1, 0)));
        Ask second = batch.notServed(asks.get(1), 0).getFirst();
        assertThat(second.version()).isEqualTo(8);
        assertThat(second.keys()).isEqualTo(asks.get(1).keys());
        // It says that it has the shard, and again that it has not: the batch pauses.
        assertThat(batch.notServed(second, 0)).isEmpty();
        batch.answered(asks.get(2), 7, "late", 0);
        assertThat(batch.isWaiting()).isFalse();
        Ask third = batch.begin(5_000_000).getFirst();
        batch.answered(third, 8, "new", 0);
        assertThat(batch.isDone()).isTrue();
    }

    @Test
    void keysOfWhichNoShardIsThereWaitForTheViewsOfAllServers() {
        has("a", 1, Map.of(7L, shards(2, 0)));
        List<Ask> asks = batch.begin(0);
        assertThat(asks.stream().filter(ask -> ask.shard() == Batch.NO_SHARD))
                .extracting(Ask::server)
                .containsExactly("a", "b", "c");
        batch.answered(of(asks, 7), 7, "a", 0);
        has("c", 1, Map.of(6L, shards(2, 1)));
        Ask next = batch.notServed(asks.getLast(), 0).getFirst();
        assertThat(next.version()).isEqualTo(6);
        batch.answered(next, 6, "c", 0);
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.missing()).isEmpty();
    }

    @Test
    void aSlowRequestIsHedgedInItsOwnVersionAndTheFirstAnswerCounts() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(7L, shards(1, 0)));
        has("c", 1, Map.of(6L, shards(1, 0)));
        Ask slow = batch.begin(0).getFirst();
        Ask hedge = batch.hedge(1, 10).getFirst();
        assertThat(hedge.version()).isEqualTo(7);
        assertThat(hedge.server()).isIn("a", "b").isNotEqualTo(slow.server());
        assertThat(batch.hedge(2, 10)).isEmpty();
        assertThat(batch.failed(slow, 3)).isEmpty();
        batch.answered(hedge, 7, "hedge", 4);
        batch.answered(slow, 7, "late", 5);
        assertThat(batch.answers()).extracting(Answer::values).containsExactly("hedge");
    }

    @Test
    void keysOfASilentServerAreAskedOfOneWithAnotherVersion() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(6L, shards(1, 0)));
        has("c", 1, Map.of(5L, shards(2, 0, 1)));
        Ask silent = batch.begin(0).getFirst();
        assertThat(silent.version()).isEqualTo(7);
        Ask other = batch.silent(silent, 1).getFirst();
        assertThat(other.server()).isEqualTo("b");
        assertThat(batch.silent(other, 2)).isEmpty();
        batch.answered(other, 6, "b", 3);
        batch.answered(silent, 7, "late", 4);
        assertThat(batch.answers()).extracting(Answer::values).containsExactly("b");
        assertThat(batch.isDone()).isTrue();
    }

    @Test
    void rowsOfAVersionAreOfOneContent() {
        has("a", 1, Map.of(7L, shards(2, 0).of(7)));
        has("b", 1, Map.of(7L, shards(2, 1).of(7)));
        List<Ask> asks = batch.begin(0);
        Ask toA = asks.stream()
                .filter(ask -> ask.server().equals("a"))
                .findFirst()
                .orElseThrow();
        Ask toB = asks.stream()
                .filter(ask -> ask.server().equals("b"))
                .findFirst()
                .orElseThrow();
        batch.answered(toA, 7, "old", 1);
        has("b", 2, Map.of(7L, shards(2, 0, 1).of(9)));
        assertThat(batch.notServed(toB, 2)).isEmpty();
        assertThat(batch.isWaiting()).isFalse();
        List<Ask> anew = batch.begin(3);
        assertThat(anew).extracting(Ask::server).containsOnly("b");
        anew.forEach(ask -> batch.answered(ask, 7, "new", 4));
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.answers()).extracting(Answer::values).containsOnly("new");
    }

    @Test
    void noKeysAreAnsweredAtOnceAndValuesOfAnotherVersionAreRefused() {
        assertThat(new AnyBatch<String>(known, new long[0], new SplittableRandom(1)).begin(0))
                .isEmpty();
        assertThat(new AnyBatch<String>(known, new long[0], new SplittableRandom(1)).isDone())
                .isTrue();
        has("a", 1, Map.of(7L, shards(1, 0)));
        Ask ask = batch.begin(0).getFirst();
        assertThatThrownBy(() -> batch.answered(ask, 8, "other", 0))
                .hasMessage("values must be of version 7, are of 8");
    }

    /**
     * Servers that have any shards of any versions, and messages that are lost, late and duplicated, in virtual time from a seed. A value is its key
     * and its version.
     */
    private static final class Simulation {
        private static final long MILLI = 1_000_000;
        private static final long DEADLINE = 500 * MILLI;
        private static final int[] SHARDS = {3, 5, 4};
        private static final List<String> NAMES = List.of("a", "b", "c", "d");

        private final SplittableRandom random;
        private final Map<String, ServerView> servers = new TreeMap<>();
        private long sequence;
        private long order;

        private record Event(long at, long order, Runnable action) {}

        private final PriorityQueue<Event> events =
                new PriorityQueue<>((a, b) -> a.at == b.at ? Long.compare(a.order, b.order) : Long.compare(a.at, b.at));
        private long now;

        Simulation(long seed) {
            this.random = new SplittableRandom(seed);
            NAMES.forEach(this::change);
        }

        /** Gives a server shards of one or two versions. */
        private void change(String server) {
            Map<Long, Served> versions = new HashMap<>();
            for (int i = 0; i < 2; i++) {
                long version = random.nextLong(5, 9);
                Set<Integer> here = new HashSet<>();
                int shards = SHARDS[(int) version % SHARDS.length];
                for (int shard = 0; shard < shards; shard++) {
                    if (random.nextInt(3) == 0) {
                        here.add(shard);
                    }
                }
                versions.put(version, new Served(shards, here));
            }
            servers.put(server, new ServerView(server, ++sequence, versions));
        }

        private static boolean has(ServerView view, long version, int shard) {
            Served served = view.versions().get(version);
            return served != null && served.here().contains(shard);
        }

        private boolean isThere(long key) {
            return servers.values().stream()
                    .anyMatch(view -> view.versions().values().stream()
                            .anyMatch(served -> served.here().contains(NeighborHashMap.shard(key, served.shards()))));
        }

        private boolean isSomeVersionComplete() {
            KnownServers all = new KnownServers();
            all.setServers(NAMES);
            servers.values().forEach(all::learn);
            return all.newest(0) != null;
        }

        private void after(long nanos, Runnable action) {
            events.add(new Event(now + nanos, order++, action));
        }

        private long delay() {
            return random.nextInt(20) == 0 ? random.nextLong(100 * MILLI) : random.nextLong(MILLI);
        }

        private void send(Batch<String> batch, KnownServers known, List<Ask> asks) {
            for (Ask ask : asks) {
                for (int copy = random.nextInt(20) == 0 ? 2 : 1; copy > 0; copy--) {
                    if (random.nextInt(10) > 0) {
                        after(delay(), () -> serve(batch, known, ask));
                    }
                }
                after(30 * MILLI, () -> proceed(batch, known, batch.failed(ask, now)));
            }
        }

        private void serve(Batch<String> batch, KnownServers known, Ask ask) {
            ServerView view = Objects.requireNonNull(servers.get(ask.server()));
            boolean isServed = has(view, ask.version(), ask.shard());
            StringBuilder values = new StringBuilder();
            for (long key : ask.keys()) {
                values.append(key).append('@').append(ask.version()).append(' ');
            }
            after(delay(), () -> {
                known.learn(view);
                proceed(
                        batch,
                        known,
                        isServed
                                ? batch.answered(ask, ask.version(), values.toString(), now)
                                : batch.notServed(ask, now));
            });
        }

        private void proceed(Batch<String> batch, KnownServers known, List<Ask> asks) {
            send(batch, known, asks);
            if (!batch.isDone() && !batch.isWaiting()) {
                after(5 * MILLI, () -> {
                    if (!batch.isDone() && !batch.isWaiting()) {
                        proceed(batch, known, batch.begin(now));
                    }
                });
            }
        }

        /** Returns the version of each key, or null if the deadline passed. */
        private @Nullable List<Long> run(Batch<String> batch, KnownServers known, long[] keys, boolean changes) {
            events.clear();
            long deadline = now + DEADLINE;
            if (changes) {
                for (int i = 0; i < 3; i++) {
                    after(random.nextLong(10 * MILLI), () -> change(NAMES.get(random.nextInt(NAMES.size()))));
                }
            }
            proceed(batch, known, batch.begin(now));
            after(random.nextLong(10 * MILLI), () -> send(batch, known, batch.hedge(now, 2)));
            while (!batch.isDone() && !events.isEmpty() && events.peek().at < deadline) {
                Event event = events.poll();
                now = event.at;
                event.action.run();
            }
            return batch.isDone() ? versions(batch, keys) : null;
        }

        private static List<Long> versions(Batch<String> batch, long[] keys) {
            Long[] versions = new Long[keys.length];
            for (Answer<String> answer : batch.answers()) {
                String[] values = answer.values().split(" ");
                assertThat(values).hasSameSizeAs(answer.positions());
                for (int i = 0; i < values.length; i++) {
                    int position = answer.positions()[i];
                    assertThat(versions[position]).as("one value per key").isNull();
                    assertThat(values[i]).startsWith(keys[position] + "@");
                    versions[position] = Long.parseLong(values[i].substring(values[i].indexOf('@') + 1));
                }
            }
            assertThat(versions).doesNotContainNull();
            return List.of(versions);
        }
    }

    @Test
    void anyVersionIsAnsweredWhereNoVersionIsCompleteAndStrongBatchesAreOfOneVersionOrFail() {
        Simulation simulation = new Simulation(28);
        SplittableRandom random = new SplittableRandom(7);
        KnownServers stale = new KnownServers();
        stale.setServers(Simulation.NAMES);
        int covered = 0;
        int mixed = 0;
        int strongFailed = 0;
        int strongAnswered = 0;
        List<String> unanswered = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            Simulation.NAMES.forEach(simulation::change);
            long[] wanted = random.longs(8).toArray();
            boolean changes = i % 4 == 0;
            boolean isCovered = LongStream.of(wanted).allMatch(simulation::isThere);
            boolean isComplete = simulation.isSomeVersionComplete();
            List<Long> versions = simulation.run(new AnyBatch<>(stale, wanted, random.split()), stale, wanted, changes);
            if (!changes) {
                if (isCovered == (versions == null)) {
                    unanswered.add("batch " + i);
                }
                List<Long> strong =
                        simulation.run(new StrongBatch<>(stale, 0, wanted, random.split()), stale, wanted, false);
                if (strong != null) {
                    assertThat(Set.copyOf(strong)).hasSize(1);
                    strongAnswered++;
                } else if (isCovered) {
                    strongFailed++;
                }
                if (isComplete && strong == null) {
                    unanswered.add("strong batch " + i);
                }
                covered += isCovered ? 1 : 0;
            }
            mixed += versions != null && Set.copyOf(versions).size() > 1 ? 1 : 0;
        }
        assertThat(unanswered).isEmpty();
        assertThat(covered).isGreaterThan(30);
        assertThat(mixed).isGreaterThan(30);
        assertThat(strongFailed).isGreaterThan(30);
        assertThat(strongAnswered).isPositive();
    }
}
