package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.opensearch.RoostBatch.Hit;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opensearch.core.index.shard.ShardId;

/** The merging of the hits of shards. */
class TransportRoostBatchTest {
    private static Hit hit(String id, float score) {
        return new Hit("birds", id, score, null);
    }

    @Test
    void aBatchOverNoShardHasOneEmptyListPerVector() {
        assertThat(TransportRoostBatch.merged(3, 10, List.of())).containsExactly(List.of(), List.of(), List.of());
    }

    @Test
    void eachVectorHasItsBestHitsOfAllShards() {
        List<RoostBatch.ShardResponse> shards = List.of(
                new RoostBatch.ShardResponse(
                        new ShardId("birds", "uuid", 0), false, List.of(List.of(hit("a", 3), hit("b", 1)), List.of())),
                new RoostBatch.ShardResponse(
                        new ShardId("birds", "uuid", 1), false, List.of(List.of(hit("c", 2)), List.of(hit("d", 5)))));
        assertThat(TransportRoostBatch.merged(2, 2, shards))
                .containsExactly(List.of(hit("a", 3), hit("c", 2)), List.of(hit("d", 5)));
    }
}
