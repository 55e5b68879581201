package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RegionRouterTest {
    private static final int CLUSTERS = 16;

    private final Orchestrator orchestrator =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();
    private final BuildWork work = new BuildWork(orchestrator, "regions");
    private final Random random = new Random(25);
    private final float[][] centers = rows(CLUSTERS, 24, 10);

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private float[][] rows(int count, int dimension, double scale) {
        float[][] rows = new float[count][dimension];
        for (float[] row : rows) {
            for (int d = 0; d < dimension; d++) {
                row[d] = (float) (scale * random.nextGaussian());
            }
        }
        return rows;
    }

    private float[] near(int cluster) {
        float[] row = centers[cluster].clone();
        for (int d = 0; d < row.length; d++) {
            row[d] += (float) (.2 * random.nextGaussian());
        }
        return row;
    }

    @Test
    void queriesOfOneClusterGoToOneRegion() {
        float[][] sample = new float[4_000][];
        Arrays.setAll(sample, row -> near(row % CLUSTERS));
        RegionRouter router = RegionRouter.of(work, sample, 8);
        assertThat(router.regions()).isEqualTo(8);
        Map<Integer, Set<Integer>> regionsOf = new HashMap<>();
        for (int i = 0; i < 1_600; i++) {
            regionsOf.computeIfAbsent(i % CLUSTERS, cluster -> new HashSet<>()).add(router.region(near(i % CLUSTERS)));
        }
        // The clusters lie far apart; a region that divides one is an accident of where the centroids began.
        assertThat(regionsOf.values().stream().filter(regions -> regions.size() == 1))
                .hasSizeGreaterThanOrEqualTo(CLUSTERS - 3);
        assertThat(regionsOf.values().stream().flatMap(Set::stream).distinct()).hasSizeGreaterThan(4);
    }

    @Test
    void theNearestCentroidIsTheRegion() {
        RegionRouter router = RegionRouter.of(work, new float[][] {{0, 0}, {10, 0}}, 2);
        int left = router.region(new float[] {4, 3});
        int right = router.region(new float[] {6, -3});
        assertThat(left).isNotEqualTo(right);
        assertThat(router.region(new float[] {-100, 0})).isEqualTo(left);
        assertThat(router.region(new float[] {100, 0})).isEqualTo(right);
    }

    @Test
    void aSampleOfFewRowsHasFewRegionsAndTheSameSampleTheSame() {
        assertThat(RegionRouter.of(work, new float[0][], 8).regions()).isEqualTo(1);
        assertThat(RegionRouter.of(work, new float[][] {{1, 2}}, 8).region(new float[] {3, 4}))
                .isZero();
        float[][] sample = rows(500, 8, 1);
        RegionRouter one = RegionRouter.of(work, sample, 8);
        RegionRouter other = RegionRouter.of(work, sample, 8);
        for (float[] query : rows(200, 8, 1)) {
            assertThat(one.region(query)).isEqualTo(other.region(query)).isBetween(0, 7);
        }
    }

    @Test
    void whatOneCacheHoldsHasOneRegion() {
        long cache = 32 << 20;
        assertThat(RegionRouter.regionsFor(cache, cache, 12)).isEqualTo(1);
        assertThat(RegionRouter.regionsFor(cache + 1, cache, 12)).isEqualTo(3);
        assertThat(RegionRouter.regionsFor(cache + 1, cache, 1)).isEqualTo(1);
        assertThat(RegionRouter.regionsFor(cache + 1, 0, 12)).isEqualTo(1);
        assertThat(RegionRouter.regionsFor(100L * cache, cache, 12)).isEqualTo(64);
        assertThat(RegionRouter.regionsFor(Long.MAX_VALUE, 1, 12)).isEqualTo(64);
    }
}
