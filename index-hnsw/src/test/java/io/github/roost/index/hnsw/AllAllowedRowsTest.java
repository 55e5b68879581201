package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A search finds k rows whenever so many are in the table and allowed, however they lie. */
class AllAllowedRowsTest {
    /** With the last two, some graphs lead from the first node to fewer than k of the clustered rows. */
    private static final int[] SEEDS = {0, 1, 2, 3, 8, 53};

    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    /** How the rows of a table lie. */
    enum Rows {
        SCATTERED,
        /** Far from each other and added one cluster after the other, so that no neighbors may lead from one to another. */
        CLUSTERED,
        /** Many times the same ones. */
        EQUAL,
        ONE
    }

    private static float[][] vectors(Rows rows, Random random) {
        int count = rows == Rows.ONE ? 1 : 400 + random.nextInt(800);
        int dimension = 1 + random.nextInt(6);
        float[][] vectors = gaussian(count, dimension, random);
        float[][] means = gaussian(2 + random.nextInt(100), dimension, random);
        for (int row = 0; row < count; row++) {
            float[] mean = means[row * means.length / count];
            for (int i = 0; i < dimension; i++) {
                switch (rows) {
                    case CLUSTERED -> vectors[row][i] += 1_000 * mean[i];
                    case EQUAL -> vectors[row][i] = mean[i];
                    default -> {}
                }
            }
        }
        return vectors;
    }

    @ParameterizedTest
    @EnumSource(Rows.class)
    void aFixedTableFindsAsManyAsAreAllowed(Rows rows) {
        for (int seed : SEEDS) {
            Random random = new Random(seed);
            float[][] vectors = vectors(rows, random);
            try (HnswTable table = HnswTable.builder()
                    .metric(Metric.values()[seed % 3])
                    .m(2 + random.nextInt(3))
                    .efConstruction(1 + random.nextInt(8))
                    .layout(GraphLayout.values()[seed / 3 % 2])
                    .build(ORCHESTRATOR, vectors)) {
                check(table, vectors, id -> true, random, rows + " with seed " + seed);
            }
        }
    }

    /** In graphs of some rows, and in none; rows near a query are removed, and put again or replaced. */
    @ParameterizedTest
    @EnumSource(Rows.class)
    void aLiveTableFindsAsManyAsAreAllowedAndNotRemoved(Rows rows) {
        for (int seed : SEEDS) {
            Random random = new Random(seed);
            float[][] vectors = vectors(rows, random);
            int first = 1 + random.nextInt(vectors.length);
            try (LiveTable table = LiveTable.builder()
                    .metric(Metric.values()[seed % 3])
                    .m(2 + random.nextInt(3))
                    .efConstruction(1 + random.nextInt(8))
                    .elementType(seed / 3 % 2 == 0 ? ElementType.FLOAT32 : ElementType.INT8)
                    .mergeAfter(64 + random.nextInt(400))
                    .build(ORCHESTRATOR, LongStream.range(0, first).toArray(), Arrays.copyOf(vectors, first))) {
                Set<Long> alive = new HashSet<>();
                LongStream.range(0, vectors.length).forEach(alive::add);
                for (int row = first; row < vectors.length; row++) {
                    table.put(row, vectors[row]);
                }
                float[] query = near(vectors);
                for (long id : nearest(table, vectors, query, (vectors.length + 2) / 3)) {
                    table.remove(id);
                    alive.remove(id);
                }
                for (int change = 0; change < 50; change++) {
                    int row = random.nextInt(vectors.length);
                    table.put(row, vectors[row]);
                    alive.add((long) row);
                }
                check(table, vectors, alive::contains, random, rows + " with seed " + seed);
            }
        }
    }

    /** A query near the first row. */
    private static float[] near(float[][] vectors) {
        float[] query = vectors[0].clone();
        query[0] += .1f;
        return query;
    }

    private static long[] nearest(VectorTable table, float[][] vectors, float[] query, int k) {
        return new ExactSearch(vectors, table.metric()).search(query, k).ids();
    }

    private static void check(VectorTable table, float[][] vectors, LongPredicate alive, Random random, String what) {
        for (float[] query : List.of(near(vectors), vectors[random.nextInt(vectors.length)])) {
            long[] byDistance = nearest(table, vectors, query, vectors.length);
            Set<Long> far = new HashSet<>();
            Arrays.stream(byDistance)
                    .skip(byDistance.length - byDistance.length / 20)
                    .forEach(far::add);
            int from = random.nextInt(vectors.length);
            int share = 1 + random.nextInt(100);
            for (LongPredicate allowed : List.<LongPredicate>of(
                    id -> true,
                    id -> false,
                    far::contains,
                    id -> !far.contains(id),
                    // Whole clusters.
                    id -> Math.floorMod(id - from, vectors.length) < vectors.length / 2,
                    id -> new Random(id * 7_919).nextInt(100) < share,
                    id -> id == byDistance[byDistance.length - 1])) {
                long truth =
                        Arrays.stream(byDistance).filter(alive).filter(allowed).count();
                for (int k : new int[] {1, 10, 1 + random.nextInt(1 + vectors.length / 4), 10_000}) {
                    for (IdFilter filter :
                            List.of(IdFilter.of(allowed), IdFilter.of(allowed).cached())) {
                        SearchRequest request = SearchRequest.of(query, k).filter(filter);
                        for (SearchRequest each : List.of(request, request.effort(k))) {
                            SearchResult found = table.search(each).join();
                            String which = "%s: k %,d of %,d allowed of %,d, cached %s"
                                    .formatted(what, k, truth, vectors.length, filter.isCached());
                            assertThat(Arrays.stream(found.ids())
                                            .distinct()
                                            .filter(alive)
                                            .filter(allowed))
                                    .describedAs(which)
                                    .hasSize(found.size());
                            assertThat(found.size()).describedAs(which).isEqualTo((int) Math.min(k, truth));
                        }
                    }
                }
            }
        }
    }
}
