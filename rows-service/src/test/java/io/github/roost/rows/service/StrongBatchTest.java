package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.service.Batch.Ask;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class StrongBatchTest extends ThreeServers {
    private final StrongBatch<String> batch = new StrongBatch<>(known, 0, keys, new SplittableRandom(28));

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
            assertThat(LongStream.of(ask.keys())).allMatch(key -> NeighborHashMap.shard(key, 2) == ask.shard());
            assertThat(batch.isDone()).isFalse();
            assertThat(batch.answered(ask, 7, ask.server(), 0)).isEmpty();
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
        batch.answered(answered, 7, "old", 0);
        has("b", 2, Map.of(8L, shards(1, 0)));
        List<Ask> next = batch.notServed(toShard(asks, 1), 0);
        assertThat(next).hasSize(1);
        assertThat(next.getFirst().version()).isEqualTo(8);
        assertThat(next.getFirst().keys()).isEqualTo(keys);
        // Doubled, and overtaken by what was asked later.
        batch.answered(answered, 7, "old", 0);
        assertThat(batch.isDone()).isFalse();
        batch.answered(next.getFirst(), 8, "new", 0);
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.version()).isEqualTo(8);
        assertThat(batch.answers()).extracting(Batch.Answer::values).containsExactly("new");
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
        assertThat(batch.answered(first, 7, "late", 0)).isEmpty();
        assertThat(batch.isDone()).isFalse();
        assertThat(batch.failed(first, 0)).isEmpty();
        batch.answered(second, 7, "in time", 0);
        assertThat(batch.answers()).extracting(Batch.Answer::values).containsExactly("in time");
    }

    private Set<String> chosenAt(long now) {
        Set<String> servers = new HashSet<>();
        for (int seed = 0; seed < 40; seed++) {
            new StrongBatch<String>(known, 0, keys, new SplittableRandom(seed))
                    .begin(now).stream()
                            .filter(ask -> ask.shard() != Batch.NO_SHARD)
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
        known.answered("a", 0);
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
        assertThat(asks).allMatch(ask -> ask.shard() == Batch.NO_SHARD);
        assertThat(batch.notServed(asks.get(0), 0)).isEmpty();
        has("b", 1, Map.of(3L, shards(1, 0)));
        List<Ask> next = batch.notServed(asks.get(1), 0);
        assertThat(next).extracting(Ask::version).containsExactly(3L);
        assertThat(batch.notServed(asks.get(2), 0)).isEmpty();
        batch.answered(next.getFirst(), 3, "b", 0);
        assertThat(batch.isDone()).isTrue();
    }

    @Test
    void aServerOfWhichNothingWasHeardForASecondIsAskedWhatItHasBesideTheBatch() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        long later = 1_000_000_000;
        known.answered("a", later);
        List<Ask> asks = batch.begin(later);
        assertThat(asks).extracting(Ask::server).containsExactly("a", "b", "c");
        assertThat(asks).extracting(Ask::shard).containsExactly(0, Batch.NO_SHARD, Batch.NO_SHARD);
        // Another batch of this second does not ask them, too.
        assertThat(new StrongBatch<String>(known, 0, keys, new SplittableRandom(1)).begin(later))
                .hasSize(1);
        // The batch does not wait for them, and they may come after its end.
        assertThat(batch.failed(asks.get(2), later)).isEmpty();
        assertThat(batch.answered(asks.get(0), 7, "a", later)).isEmpty();
        assertThat(batch.isDone()).isTrue();
        has("b", 1, Map.of(8L, shards(1, 0)));
        assertThat(batch.notServed(asks.get(1), later)).isEmpty();
        assertThat(batch.version()).isEqualTo(7);
        assertThat(known.newest(later)).isEqualTo(new KnownServers.Complete(8, 1));
    }

    @Test
    void aServerThatIsTheOnlyOneIsNotAskedAgainAtOnceWhenItHasFailed() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        assertThat(batch.failed(batch.begin(0).getFirst(), 0)).isEmpty();
        assertThat(batch.isWaiting()).isFalse();
        assertThat(batch.isDone()).isFalse();
        assertThat(batch.begin(5_000_000)).extracting(Ask::server).containsExactly("a");
    }

    @Test
    void aSlowRequestIsSentToAnotherServerOfTheSameVersionOnceAndTheFirstAnswerCounts() {
        has("a", 1, Map.of(7L, shards(2, 0, 1)));
        has("b", 1, Map.of(7L, shards(2, 0, 1), 8L, shards(2, 0)));
        has("c", 1, Map.of(8L, shards(2, 0), 6L, shards(2, 0, 1)));
        List<Ask> asks = batch.begin(0);
        batch.answered(toShard(asks, 0), 7, "fast", 0);
        Ask slow = toShard(asks, 1);
        assertThat(batch.hedge(1, 0)).isEmpty();
        List<Ask> hedges = batch.hedge(1, 10);
        assertThat(hedges).hasSize(1);
        Ask hedge = hedges.getFirst();
        assertThat(hedge.version()).isEqualTo(7);
        assertThat(hedge.shard()).isEqualTo(1);
        assertThat(hedge.keys()).isEqualTo(slow.keys());
        assertThat(hedge.server()).isIn("a", "b").isNotEqualTo(slow.server());
        assertThat(batch.hedge(2, 10)).isEmpty();
        // One of two that fails is not replaced: the other one is under way.
        assertThat(batch.failed(slow, 3)).isEmpty();
        assertThat(batch.isWaiting()).isTrue();
        batch.answered(hedge, 7, "hedge", 4);
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.answered(slow, 7, "late", 5)).isEmpty();
        assertThat(batch.answers()).extracting(Batch.Answer::values).containsExactlyInAnyOrder("fast", "hedge");
    }

    @Test
    void nobodyIsAskedASecondTimeWhereNoOtherHasTheVersionOrAnswers() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(6L, shards(1, 0)));
        batch.begin(0);
        assertThat(batch.hedge(1, 10)).isEmpty();
        has("b", 2, Map.of(7L, shards(1, 0)));
        known.failed("a", 0);
        known.failed("b", 0);
        assertThat(batch.hedge(1, 10)).isEmpty();
        assertThat(new StrongBatch<String>(new KnownServers(), 0, keys, new SplittableRandom(1)).hedge(0, 10))
                .isEmpty();
    }

    @Test
    void silentServersAreNotAskedAgainButAllOthersAndMayStillAnswer() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(7L, shards(1, 0)));
        has("c", 1, Map.of(7L, shards(1, 0)));
        Ask first = batch.begin(0).getFirst();
        Ask second = batch.hedge(1, 10).getFirst();
        assertThat(batch.silent(first, 2)).isEmpty();
        assertThat(chosenAt(3)).doesNotContain(first.server());
        Ask third = batch.silent(second, 3).getFirst();
        assertThat(List.of(first.server(), second.server(), third.server())).containsExactlyInAnyOrder("a", "b", "c");
        assertThat(batch.silent(third, 4)).isEmpty();
        assertThat(batch.silent(first, 2_000_000_000)).isEmpty();
        batch.answered(second, 7, "late", 2_000_000_001);
        assertThat(batch.isDone()).isTrue();
    }

    @Test
    void aServerThatBecomesUsableLaterIsAskedForWhatTheSilentDoNotAnswer() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        Ask silent = batch.begin(0).getFirst();
        assertThat(batch.silent(silent, 1)).isEmpty();
        has("b", 1, Map.of(7L, shards(1, 0)));
        known.failed("b", 2);
        assertThat(batch.silent(silent, 3)).isEmpty();
        known.answered("b", 4);
        assertThat(batch.silent(silent, 5)).extracting(Ask::server).containsExactly("b");
        assertThat(batch.silent(silent, 6)).isEmpty();
    }

    @Test
    void aServerThatBecomesUsableLaterIsAskedInEitherVersion() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(6L, shards(1, 0)));
        Ask newest = batch.begin(0).getFirst();
        Ask older = batch.silent(newest, 1).getFirst();
        assertThat(batch.silent(older, 2)).isEmpty();
        has("c", 1, Map.of(7L, shards(1, 0)));
        Ask again = batch.silent(newest, 3).getFirst();
        assertThat(again.server()).isEqualTo("c");
        assertThat(batch.isWaitingFor(older)).isTrue();
        batch.answered(again, 7, "c", 4);
        assertThat(batch.version()).isEqualTo(7);
    }

    @Test
    void aServerThatIsStartedElsewhereIsAskedThere() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        Ask silent = batch.begin(0).getFirst();
        assertThat(batch.silent(silent, 1)).isEmpty();
        assertThat(batch.givenUp(silent, 2)).isEmpty();
        assertThat(batch.isWaiting()).isFalse();
        assertThat(batch.begin(3)).extracting(Ask::server).contains("a");
    }

    @Test
    void aSilentViewIsNotWaitedForNorAskedForTwiceAndStillLearned() {
        List<Ask> views = batch.begin(0);
        Ask late = views.getFirst();
        batch.notServed(views.get(1), 1);
        batch.notServed(views.get(2), 1);
        assertThat(batch.isWaiting()).isTrue();
        assertThat(batch.silent(late, 2)).isEmpty();
        assertThat(batch.isWaiting()).isFalse();
        assertThat(batch.begin(3)).extracting(Ask::server).containsExactly("b", "c");
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(7L, shards(1, 0)));
        // It is avoided until it answers.
        assertThat(chosenAt(4)).containsExactly("b");
        assertThat(batch.notServed(late, 4)).isEmpty();
        assertThat(chosenAt(4)).containsExactlyInAnyOrder("a", "b");
        assertThat(batch.begin(5)).extracting(Ask::version).containsExactly(7L);
    }

    @Test
    void aVersionWhoseServersAreSilentIsLeftForAnotherOnce() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(6L, shards(1, 0)));
        Ask newest = batch.begin(0).getFirst();
        assertThat(newest.server()).isEqualTo("a");
        Ask other = batch.silent(newest, 1).getFirst();
        assertThat(other.server()).isEqualTo("b");
        // Whichever is answered first is the batch.
        assertThat(batch.isWaitingFor(newest)).isTrue();
        known.answered("a", 2);
        assertThat(batch.silent(other, 3)).isEmpty();
        batch.answered(other, 6, "older", 4);
        assertThat(batch.version()).isEqualTo(6);
        assertThat(batch.answers()).extracting(Batch.Answer::values).containsExactly("older");
        StrongBatch<String> ofOne = new StrongBatch<>(known, 7, keys, new SplittableRandom(1));
        assertThat(ofOne.silent(ofOne.begin(5).getFirst(), 6)).isEmpty();
        assertThat(ofOne.isWaiting()).isTrue();
    }

    @Test
    void aSlowVersionMayStillBeAnsweredBesideAnOlderOneWhoseServerHangs() {
        has("a", 1, Map.of(7L, shards(2, 0, 1)));
        has("b", 1, Map.of(6L, shards(1, 0)));
        List<Ask> newest = batch.begin(0);
        Ask older = batch.silent(toShard(newest, 1), 1).getFirst();
        assertThat(older.version()).isEqualTo(6);
        assertThat(batch.silent(older, 2)).isEmpty();
        batch.answered(toShard(newest, 0), 7, "a0", 3);
        assertThat(batch.isDone()).isFalse();
        assertThat(batch.isWaitingFor(older)).isTrue();
        batch.answered(toShard(newest, 1), 7, "a1", 4);
        assertThat(batch.isDone()).isTrue();
        assertThat(batch.version()).isEqualTo(7);
        assertThat(batch.answers()).extracting(Batch.Answer::values).containsExactly("a0", "a1");
    }

    @Test
    void theSlowVersionIsGivenUpWhenOneOfItsRequestsFails() {
        has("a", 1, Map.of(7L, shards(2, 0, 1)));
        has("b", 1, Map.of(6L, shards(1, 0)));
        List<Ask> newest = batch.begin(0);
        Ask older = batch.silent(toShard(newest, 1), 1).getFirst();
        assertThat(batch.failed(toShard(newest, 1), 2)).isEmpty();
        assertThat(batch.isWaitingFor(toShard(newest, 0))).isFalse();
        batch.answered(toShard(newest, 0), 7, "late", 3);
        batch.answered(older, 6, "b", 4);
        assertThat(batch.version()).isEqualTo(6);
    }

    @Test
    void twoServersThatFailAreNotAskedInTurnWithoutAPause() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        has("b", 1, Map.of(7L, shards(1, 0)));
        Ask first = batch.begin(0).getFirst();
        Ask second = batch.failed(first, 1).getFirst();
        assertThat(second.server()).isNotEqualTo(first.server());
        assertThat(batch.failed(second, 2)).isEmpty();
        assertThat(batch.isWaiting()).isFalse();
        assertThat(batch.begin(5_000_000)).extracting(Ask::shard).containsExactly(0);
    }

    @Test
    void valuesOfAnotherVersionAreRefused() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        Ask ask = batch.begin(0).getFirst();
        assertThatThrownBy(() -> batch.answered(ask, 8, "other", 0))
                .hasMessage("values must be of version 7, are of 8");
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
    void serversWithOtherRowsAreNotOfTheVersion() {
        has("a", 1, Map.of(7L, shards(2, 0, 1).of(1)));
        has("b", 1, Map.of(7L, shards(2, 0, 1).of(2)));
        has("c", 1, Map.of(7L, shards(2, 0).of(1), 6L, shards(1, 0).of(5)));
        assertThat(known.newest(0)).isEqualTo(new KnownServers.Complete(7, 2, 1));
        assertThat(known.complete(7)).isEqualTo(new KnownServers.Complete(7, 2, 1));
        assertThat(known.versions())
                .containsExactly(new KnownServers.Complete(7, 2, 1), new KnownServers.Complete(6, 1, 5));
        for (int seed = 0; seed < 40; seed++) {
            assertThat(new StrongBatch<String>(known, 0, keys, new SplittableRandom(seed)).begin(0))
                    .extracting(Ask::server)
                    .doesNotContain("b");
        }
        has("a", 2, Map.of(7L, shards(2, 1).of(2)));
        assertThat(known.newest(0)).isEqualTo(new KnownServers.Complete(7, 2, 2));
        has("b", 2, Map.of());
        assertThat(known.newest(0)).isEqualTo(new KnownServers.Complete(6, 1, 5));
    }

    @Test
    void aVersionThatIsCompleteNoMoreWhileServersAreChosenIsNotBegunWith() {
        has("a", 1, Map.of(7L, shards(2, 0)));
        has("b", 1, Map.of(7L, shards(2, 1)));
        // Called when the first server is chosen: another batch learns of the second one.
        RandomGenerator learning = () -> {
            has("b", 2, Map.of(8L, shards(2, 1)));
            return 0;
        };
        StrongBatch<String> late = new StrongBatch<>(known, 0, keys, learning);
        assertThat(late.begin(0)).isEmpty();
        assertThat(late.isWaiting()).isFalse();
        assertThat(late.isDone()).isFalse();
        assertThat(late.hedge(0, 10)).isEmpty();
        // Nothing is complete, so all are asked; then it goes on.
        assertThat(late.begin(5_000_000)).extracting(Ask::shard).containsOnly(Batch.NO_SHARD);
        has("a", 2, Map.of(8L, shards(2, 0)));
        assertThat(late.begin(10_000_000)).extracting(Ask::version).containsExactly(8L, 8L);
    }

    @Test
    void manyKeysOfOneShardTakeMemoryInProportion() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        int count = 50_000;
        StrongBatch<String> many =
                new StrongBatch<>(known, 0, LongStream.range(0, count).toArray(), new SplittableRandom(28));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        Ask ask = many.begin(0).getFirst();
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(100L * count);
        assertThat(ask.positions()).isEqualTo(IntStream.range(0, count).toArray());
    }

    @Test
    void aVersionThatIsNamedIsAskedForThoughThereIsANewerOneAndWaitedForWhereItIsNot() {
        has("a", 1, Map.of(7L, shards(1, 0), 8L, shards(1, 0)));
        StrongBatch<String> older = new StrongBatch<>(known, 7, keys, new SplittableRandom(28));
        Ask first = older.begin(0).getFirst();
        assertThat(first.version()).isEqualTo(7);
        // Its only server gives it up, and another one has it again.
        has("a", 2, Map.of(8L, shards(1, 0)));
        List<Ask> views = older.notServed(first, 0);
        assertThat(views).extracting(Ask::shard).containsOnly(Batch.NO_SHARD);
        assertThat(older.notServed(views.get(0), 0)).isEmpty();
        has("b", 1, Map.of(7L, shards(1, 0)));
        Ask again = older.notServed(views.get(1), 0).getFirst();
        assertThat(again.server()).isEqualTo("b");
        older.answered(again, 7, "b", 0);
        assertThat(older.version()).isEqualTo(7);
    }

    @Test
    void keysThatLackAValueAreKnown() {
        assertThat(batch.missing()).isEqualTo(keys);
        has("a", 1, Map.of(7L, shards(2, 0)));
        has("b", 1, Map.of(7L, shards(2, 1)));
        List<Ask> asks = batch.begin(0);
        Ask late = toShard(asks, 1);
        batch.answered(toShard(asks, 0), 7, "a", 0);
        assertThat(batch.missing()).isEqualTo(late.keys());
        batch.answered(late, 7, "b", 0);
        assertThat(batch.missing()).isEmpty();
    }

    @Test
    void noKeysAreAnsweredAtOnce() {
        has("a", 1, Map.of(7L, shards(1, 0)));
        StrongBatch<String> none = new StrongBatch<>(known, 0, new long[0], new SplittableRandom(28));
        assertThat(none.begin(0)).isEmpty();
        assertThat(none.isDone()).isTrue();
        assertThat(none.version()).isEqualTo(7);
    }
}
