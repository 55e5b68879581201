package io.github.roost.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

/** Random searches of small tables: each answer must have as many rows as there are to be found, unless it says that it was cut short. */
public final class FullAnswers {
    private static final int SEARCHES = 40;

    private FullAnswers() {}

    /** Builds a table. */
    @FunctionalInterface
    public interface Builder {
        MutableVectorTable build(long[] ids, float[][] rows) throws IOException;
    }

    /**
     * Builds a table of few rows, removes and puts some, and searches it.
     *
     * @param random chooses rows, changes and searches
     * @param withRadius whether distances are those of the rows, so that some searches have a radius
     */
    public static void check(Metric metric, Random random, boolean withRadius, Builder builder) throws IOException {
        int dimension = 2 + random.nextInt(5);
        float[][] values = new float[random.nextInt(4) == 0 ? 1 + random.nextInt(5) : 200][];
        Arrays.setAll(values, i -> row(dimension, random));
        float[][] rows = new float[1 + random.nextInt(150)][];
        Arrays.setAll(rows, i -> values[random.nextInt(values.length)]);
        long[] ids = LongStream.range(0, rows.length).toArray();
        try (MutableVectorTable table = builder.build(ids, rows)) {
            Map<Long, float[]> live = new TreeMap<>();
            Arrays.stream(ids).forEach(id -> live.put(id, rows[(int) id]));
            change(table, live, values, random);
            List<SearchRequest> requests = new ArrayList<>();
            for (int i = 0; i < SEARCHES; i++) {
                float[] query = random.nextBoolean() ? row(dimension, random) : values[random.nextInt(values.length)];
                requests.add(request(table, live, query, metric, withRadius, random));
            }
            for (SearchRequest request : requests) {
                requireFull(table.search(request).join(), request, live, metric);
            }
            List<CompletableFuture<SearchResult>> together = table.searchAll(requests);
            for (int i = 0; i < SEARCHES; i++) {
                requireFull(together.get(i).join(), requests.get(i), live, metric);
            }
        }
    }

    /** Of one of two regions. */
    private static float[] row(int dimension, Random random) {
        float[] row = MadeUp.gaussian(dimension, random);
        row[0] += random.nextBoolean() ? 15 : -15;
        return row;
    }

    /** Removes most rows of a region, or some; puts rows where there were others, or none. */
    private static void change(MutableVectorTable table, Map<Long, float[]> live, float[][] values, Random random) {
        int side = random.nextInt(3) - 1;
        new TreeMap<>(live).forEach((id, row) -> {
            if (row[0] * side > 0 && random.nextInt(8) > 0) {
                assertThat(table.remove(id)).isTrue();
                live.remove(id);
            } else if (random.nextInt(10) == 0) {
                float[] moved = values[random.nextInt(values.length)];
                table.put(id, moved);
                live.put(id, moved);
            }
        });
        for (int more = random.nextInt(20); more > 0; more--) {
            float[] row = row(values[0].length, random);
            table.put(1_000 + more, row);
            live.put(1_000L + more, row);
        }
    }

    private static SearchRequest request(
            MutableVectorTable table,
            Map<Long, float[]> live,
            float[] query,
            Metric metric,
            boolean withRadius,
            Random random) {
        int k = random.nextBoolean() ? 1 + random.nextInt(12) : 1 + random.nextInt(300);
        SearchRequest request = SearchRequest.of(query, k);
        if (random.nextBoolean()) {
            request = request.effort(Math.max(table.minEffort(k), 1 + random.nextInt(2)));
            request = request.effort(Math.min(table.maxEffort(), request.effortOr(0)));
        }
        float side = random.nextBoolean() ? 1 : -1;
        int modulus = 1 + random.nextInt(30);
        request = switch (random.nextInt(4)) {
            case 0 -> request.filter(IdFilter.of(id -> live.containsKey(id) && live.get(id)[0] * side > 0));
            case 1 -> request.filter(IdFilter.of(id -> id % modulus == 0));
            case 2 -> request.filter(IdFilter.of(id -> false));
            default -> request;
        };
        if (withRadius && random.nextInt(3) == 0 && live.size() > 1) {
            float[] distances = distances(live, query, metric);
            int last = random.nextInt(distances.length - 1);
            float radius = (distances[last] + distances[last + 1]) / 2;
            if (distances[last + 1] - distances[last] > 1e-3 * (1 + Math.abs(radius))) {
                request = request.radius(radius);
            }
        }
        return random.nextInt(5) == 0 ? request.visitLimit(1 + random.nextInt(60)) : request;
    }

    private static float[] distances(Map<Long, float[]> live, float[] query, Metric metric) {
        return ExactSearch.exact(live.values().toArray(float[][]::new), query, live.size(), metric)
                .distances();
    }

    private static void requireFull(SearchResult found, SearchRequest request, Map<Long, float[]> live, Metric metric) {
        long[] ids = live.keySet().stream().mapToLong(id -> id).toArray();
        SearchResult there = ids.length == 0
                ? SearchResult.EMPTY
                : ExactSearch.exact(
                                live.values().toArray(float[][]::new),
                                request.query(),
                                request.k(),
                                metric,
                                row -> request.filter().allows(ids[(int) row]))
                        .within(request.radius());
        assertThat(LongStream.of(found.ids()))
                .doesNotHaveDuplicates()
                .allMatch(request.filter()::allows)
                .allMatch(live::containsKey);
        assertThat(found.distances()).isSorted();
        if (found.cutShort()) {
            assertThat(request.visitLimit()).isLessThan(Long.MAX_VALUE);
            assertThat(found.size()).isLessThanOrEqualTo(there.size());
        } else {
            assertThat(found.size())
                    .as("k %d of %d rows, radius %f", request.k(), live.size(), request.radius())
                    .isEqualTo(there.size());
        }
    }
}
