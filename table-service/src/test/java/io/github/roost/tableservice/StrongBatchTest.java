package io.github.roost.tableservice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.table.LongTable;
import io.github.roost.tableservice.StrongBatch.Ask;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StrongBatchTest {
    private final KnownServers known = new KnownServers();
    private final long[] keys = LongStream.range(0, 20).toArray();
    private final StrongBatch<String> batch = new StrongBatch<>(known, keys, new SplittableRandom(28));

    @BeforeEach
    void threeServers() {
        known.setServers(List.of("a", "b", "c"));
    }

    private void has(String server, long sequence, Map<Long, Served> versions) {
        known.learn(new ServerView(server, sequence, versions));
    }

    private static Served shards(int shards, Integer... here) {
        return new Served(shards, Set.of(here));
    }

    private static Ask toShard(List<Ask> asks, int shard) {
        return asks.stream().filter(ask -> ask.shard() == shard).findFirst().orElseThrow();
    }

    @Test
    void everyKeyIsAskedOfAServerThatHasItsShard() {
        has("a", 1, Map.of(7L, shards(2, 0)));
        has("b", 1, Map.of(7L, shards(2, 1)));
        List<Ask> asks = batch.begin(0);
        assertThat(asks).hasSize(2);
        assertThat(toShard(asks, 0).server()).isEqualTo("a");
        assertThat(toShard(asks, 1).server()).isEqualTo("b");
        for (Ask ask : asks) {
            assertThat(ask.version()).isEqualTo(7);
            assertThat(ask.keys())
                    .containsExactly(IntStream.of(ask.positions())
                            .mapToLong(position -> keys[position])
                            .toArray());
            assertThat(LongStream.of(ask.keys())).allMatch(key -> LongTable.shard(key, 2) == ask.shard());
            assertThat(batch.isDone()).isFalse();
            assertThat(batch.answered(ask, 7, ask.server())).isEmpty();
        }
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.version()).isEqualTo(7);
        assertThat(batch.answers().stream()
                        .mapToInt(answer -> answer.positions().length)
                        .sum())
                .isEqualTo(keys.length);
    }

    @Test
    void aShardThatIsNowhereElseMakesItBeginAnewAndForgetWhatItHas() {
        has("a", 1, Map.of(7L, shards(2, 0)));
        has("b", 1, Map.of(7L, shards(2, 1)));
        List<Ask> asks = batch.begin(0);
        Ask answered = toShard(asks, 0);
        batch.answered(answered, 7, "old");
        has("b", 2, Map.of(8L, shards(1, 0)));
        List<Ask> next = batch.notServed(toShard(asks, 1), 0);
        assertThat(next).hasSize(1);
        assertThat(next.getFirst().version()).isEqualTo(8);
        assertThat(next.getFirst().keys()).isEqualTo(keys);
        // Doubled, and overtaken by what was asked later.
        batch.answered(answered, 7, "old");
        assertThat(batch.isDone()).isFalse();
        batch.answered(next.getFirst(), 8, "new");
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.version()).isEqualTo(8);
        assertThat(batch.answers()).extracting(StrongBatch.Answer::values).containsExactly("new");
        assertThat(batch.attempts()).isEqualTo(2);
    }

    @Test
    void aServerThatDoesNotAnswerIsReplacedByOneOfTheSameVersion() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(7L, shards(1, 0), 8L, shards(2, 0)));
        Ask first = batch.begin(0).getFirst();
        Ask second = batch.failed(first, 0).getFirst();
        assertThat(second.server()).isNotEqualTo(first.server());
        assertThat(second.version()).isEqualTo(7);
        // It has answered after all: too late, another answer is waited for.
        assertThat(batch.answered(first, 7, "late")).isEmpty();
        assertThat(batch.isDone()).isFalse();
        assertThat(batch.failed(first, 0)).isEmpty();
        batch.answered(second, 7, "in time");
        assertThat(batch.answers()).extracting(StrongBatch.Answer::values).containsExactly("in time");
    }

    private Set<String> chosenAt(long now) {
        Set<String> servers = new HashSet<>();
        for (int seed = 0; seed < 40; seed++) {
            new StrongBatch<String>(known, keys, new SplittableRandom(seed))
                    .begin(now)
                    .forEach(ask -> servers.add(ask.server()));
        }
        return servers;
    }

    @Test
    void aServerThatHasFailedIsAskedAgainAfterASecondOrAnAnswer() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(7L, shards(1, 0)));
        known.failed("a", 5);
        assertThat(chosenAt(5)).containsExactly("b");
        assertThat(chosenAt(1_000_000_004)).containsExactly("b");
        assertThat(chosenAt(1_000_000_005)).containsExactlyInAnyOrder("a", "b");
        known.failed("a", 0);
        known.answered("a");
        assertThat(chosenAt(0)).containsExactlyInAnyOrder("a", "b");
        // Where no other has it, one that has failed is asked nevertheless.
        known.failed("a", 0);
        known.failed("b", 0);
        assertThat(chosenAt(0)).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void whoKnowsNothingAsksAll() {
        List<Ask> asks = batch.begin(0);
        assertThat(asks).extracting(Ask::server).containsExactlyInAnyOrder("a", "b", "c");
        assertThat(asks).allMatch(ask -> ask.shard() == StrongBatch.NO_SHARD);
        assertThat(batch.notServed(asks.get(0), 0)).isEmpty();
        has("b", 1, Map.of(3L, shards(1, 0)));
        List<Ask> next = batch.notServed(asks.get(1), 0);
        assertThat(next).extracting(Ask::version).containsExactly(3L);
        assertThat(batch.notServed(asks.get(2), 0)).isEmpty();
        batch.answered(next.getFirst(), 3, "b");
        assertThat(batch.isDone()).isTrue();
    }

    @Test
    void valuesOfAnotherVersionAreRefused() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        Ask ask = batch.begin(0).getFirst();
        assertThatThrownBy(() -> batch.answered(ask, 8, "other")).hasMessage("values must be of version 7, are of 8");
        assertThatThrownBy(batch::version).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void oldViewsDoNotReplaceNewOnes() {
        has("a", 2, Map.of(7L, shards(1, 0)));
        has("a", 1, Map.of(8L, shards(1, 0)));
        has("stranger", 1, Map.of(9L, shards(1, 0)));
        assertThat(known.newest(0)).isEqualTo(new KnownServers.Complete(7, 1));
        known.setServers(List.of("b"));
        assertThat(known.newest(0)).isNull();
        assertThat(known.views()).isEmpty();
    }

    @Test
    void aVersionThatLacksAShardIsNotTheNewest() {
        has("a", 1, Map.of(7L, shards(2, 0, 1), 8L, shards(3, 0, 2)));
        has("b", 1, Map.of(8L, shards(2, 1)));
        assertThat(known.newest(0)).isEqualTo(new KnownServers.Complete(7, 2));
    }

    @Test
    void noKeysAreAnsweredAtOnce() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        StrongBatch<String> none = new StrongBatch<>(known, new long[0], new SplittableRandom(28));
        assertThat(none.begin(0)).isEmpty();
        assertThat(none.isDone()).isTrue();
        assertThat(none.version()).isEqualTo(7);
    }
}
