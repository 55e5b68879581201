package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.Reservoir;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Measures the nprobe that finds a share of the true neighbors. Some of a table's rows are queries. For each, the true
 * neighbors other than itself are found among all rows, and ranked by the position of their list in the query's order of
 * lists; from the ranks follows the share for every nprobe at once.
 */
final class ProbeChoice {
    /** Rows used as queries: with ten neighbors each, the share is accurate to about a hundredth. */
    private static final int QUERIES = 2 * QueryGroup.MAX_QUERIES;

    private static final int K = 10;
    private static final int ROWS_PER_STEP = 4_096;

    private final Training training;
    private final IntFunction<float[]> rows;
    private final int[] sample;
    /** The nearest rows of each query so far, including itself; guarded by itself. */
    private final SearchResult[] nearest;

    private ProbeChoice(Training training, IntFunction<float[]> rows, int count) {
        this.training = training;
        this.rows = rows;
        this.sample = new Random(training.seed())
                .ints(0, count)
                .distinct()
                .limit(Math.min(QUERIES, count))
                .toArray();
        this.nearest = new SearchResult[sample.length];
        Arrays.fill(nearest, SearchResult.EMPTY);
    }

    /** The min nprobe, at least 1, whose lists hold the share of the neighbors that the training is for. */
    static int fewest(
            Training training, BuildWork work, IntFunction<float[]> rows, long[] ids, Lists lists, RowMap locations) {
        ProbeChoice choice = new ProbeChoice(training, rows, ids.length);
        int dimension = lists.layout().dimension();
        work.run(ids.length, ROWS_PER_STEP, (from, to) -> choice.scan(from, to, dimension));
        int[] ranks = new int[lists.count()];
        for (int query = 0; query < choice.sample.length; query++) {
            choice.countRanks(query, ids, lists, locations, ranks);
        }
        long total = Arrays.stream(ranks).asLongStream().sum();
        long held = 0;
        for (int probed = 1; probed < ranks.length; probed++) {
            held += ranks[probed - 1];
            if (held >= training.targetRecall() * total) {
                return probed;
            }
        }
        return ranks.length;
    }

    private void scan(int from, int to, int dimension) {
        int stride = RowRun.strideOf(dimension);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment vectors = arena.allocate((long) (to - from) * stride * Float.BYTES, 64);
            MemorySegment ordinals = arena.allocate((long) (to - from) * Long.BYTES, 64);
            for (int row = from; row < to; row++) {
                long at = (long) (row - from) * stride * Float.BYTES;
                MemorySegment.copy(rows.apply(row), 0, vectors, ValueLayout.JAVA_FLOAT, at, dimension);
                ordinals.setAtIndex(ValueLayout.JAVA_LONG, row - from, row);
            }
            RowRun run = new RowRun(vectors, ordinals, to - from, stride);
            for (int first = 0; first < sample.length; first += QueryGroup.MAX_QUERIES) {
                scan(run, first, Math.min(sample.length, first + QueryGroup.MAX_QUERIES), dimension);
            }
        }
    }

    private void scan(RowRun run, int firstQuery, int endQuery, int dimension) {
        List<Reservoir> reservoirs = IntStream.range(firstQuery, endQuery)
                .mapToObj(query -> new Reservoir(K + 1))
                .toList();
        QueryGroup group = Scratch.QUERY_GROUPS.take();
        try {
            group.begin(training.metric(), dimension, K + 1);
            for (int query = firstQuery; query < endQuery; query++) {
                group.add(rows.apply(sample[query]), reservoirs.get(query - firstQuery), Float.POSITIVE_INFINITY);
            }
            training.kernel().scan(run, group);
            group.finish();
        } finally {
            Scratch.QUERY_GROUPS.giveBack(group);
        }
        synchronized (nearest) {
            for (int query = firstQuery; query < endQuery; query++) {
                Reservoir reservoir = reservoirs.get(query - firstQuery);
                SearchResult found = NearestFirst.of(
                        training.kernel(), reservoir.copyOfIds(), reservoir.copyOfDistances(), reservoir.size(), K + 1);
                nearest[query] = SearchResult.merge(List.of(nearest[query], found), K + 1);
            }
        }
    }

    private void countRanks(int query, long[] ids, Lists lists, RowMap locations, int[] ranks) {
        float[][] one = {rows.apply(sample[query])};
        int[] order = lists.quantizer().nearest(one, lists.count(), training.metric())[0];
        int[] rankOf = new int[lists.count()];
        Arrays.fill(rankOf, lists.count() - 1);
        for (int rank = 0; rank < order.length; rank++) {
            rankOf[order[rank]] = rank;
        }
        Arrays.stream(nearest[query].ids())
                .filter(ordinal -> ordinal != sample[query])
                .limit(K)
                .forEach(ordinal -> ranks[rankOf[RowMap.group(locations.get(ids[(int) ordinal]))]]++);
    }
}
