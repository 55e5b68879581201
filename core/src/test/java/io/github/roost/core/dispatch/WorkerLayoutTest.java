package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Machines;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkerLayoutTest {
    @ParameterizedTest
    @CsvSource({
        "1, 1, 1, 1, 1",
        "1, 16, 1, 16, 16",
        "1, 17, 2, 8, 9",
        "1, 72, 5, 14, 15",
        "2, 64, 4, 16, 16",
        "3, 20, 2, 10, 10",
        "12, 8, 1, 8, 8",
    })
    void aDomainIsCutIntoEvenShardsOfAtMostSixteen(int domains, int workers, int shards, int min, int max) {
        WorkerLayout layout = WorkerLayout.of(Machines.of(domains, workers));
        assertThat(layout.shards()).isEqualTo(domains * shards);
        for (int domain = 0; domain < domains; domain++) {
            int of = domain;
            assertThat(layout.shardsIn(domain)).isEqualTo(shards);
            List<Integer> sizes = IntStream.range(0, shards)
                    .map(index -> layout.workersInShard(layout.shardIn(of, index)))
                    .boxed()
                    .toList();
            assertThat(sizes).allSatisfy(size -> assertThat(size).isBetween(min, max));
            assertThat(IntStream.range(0, shards)
                            .boxed()
                            .flatMap(index -> shard(layout, layout.shardIn(of, index)).stream()))
                    .as("every worker of domain %d in one shard", domain)
                    .containsExactlyElementsOf(IntStream.range(0, workers)
                            .mapToObj(index -> layout.workerIn(of, index))
                            .toList());
        }
    }

    private static List<Integer> shard(WorkerLayout layout, int shard) {
        return IntStream.range(0, layout.workersInShard(shard))
                .mapToObj(index -> layout.workerInShard(shard, index))
                .peek(worker -> assertThat(layout.shardOf(worker)).isEqualTo(shard))
                .toList();
    }

    @Test
    void aShardIsFirstStolenFromAndThenTheRestOfItsDomain() {
        WorkerLayout layout = WorkerLayout.of(Machines.of(1, 72));
        StealOrder order = StealOrder.nearestFirst(layout, 40);
        assertThat(order.levels()).isEqualTo(2);
        assertThat(order.victims(0)).isEqualTo(layout.workersInShard(layout.shardOf(40)) - 1);
        assertThat(order.victims(0) + order.victims(1)).isEqualTo(71);
        assertThat(IntStream.range(0, order.victims(0)).map(index -> layout.shardOf(order.victim(0, index))))
                .containsOnly(layout.shardOf(40));
        assertThat(order.gatedLevels()).isZero();
    }
}
