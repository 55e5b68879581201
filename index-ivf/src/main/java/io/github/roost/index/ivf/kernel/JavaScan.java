package io.github.roost.index.ivf.kernel;

import io.github.roost.vector.math.ScalarQuantizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** The scan in plain Java, for machines without the native library. Stateless. */
final class JavaScan implements ScanKernel {
    /** The constants of {@code weigh_body.h}. */
    private static final int MAX_WEIGHT = 127;

    private static final int MIN_MEAN = 16;
    private static final float LOW_UNIT = 0x1p-7f;
    private static final float ROUNDER = 0x1.8p23f;
    private static final float MAX_BASE = 0x1p126f;

    @Override
    public String name() {
        return "java";
    }

    @Override
    public void scan(RowRun run, QueryGroup group) {
        if (run.stride() != group.stride) {
            throw new IllegalArgumentException(
                    "the queries' stride must be the rows' " + run.stride() + ", got " + group.stride);
        }
        boolean isFloat32 = run.componentBytes() == Float.BYTES;
        MemorySegment floats = isFloat32 ? run.vectors() : group.floats();
        for (long row = 0; row < run.count(); row++) {
            if (!isFloat32) {
                convert(run, row, floats);
            }
            scanRow(run, row, floats, isFloat32 ? row * run.rowBytes() : 0, group);
        }
    }

    private static void convert(RowRun run, long row, MemorySegment floats) {
        for (long i = 0; i < run.stride(); i++) {
            short half = run.vectors().getAtIndex(ValueLayout.JAVA_SHORT, row * run.stride() + i);
            floats.setAtIndex(ValueLayout.JAVA_FLOAT, i, Float.float16ToFloat(half));
        }
    }

    /** @param at offset of the row in {@code floats} */
    private static void scanRow(RowRun run, long row, MemorySegment floats, long at, QueryGroup group) {
        long queryBytes = (long) group.stride * Float.BYTES;
        for (int query = 0; query < group.size(); query++) {
            float distance = distance(
                    group.innerProduct, group.bias, group.queries, query * queryBytes, floats, at, group.stride);
            // False for NaN, so deleted rows never get in.
            if (distance <= group.bounds.getAtIndex(ValueLayout.JAVA_FLOAT, query)) {
                take(group, query, distance, run.ids().getAtIndex(ValueLayout.JAVA_LONG, row));
            }
        }
    }

    private static float distance(
            boolean innerProduct,
            float bias,
            MemorySegment queries,
            long queryAt,
            MemorySegment rows,
            long rowAt,
            int stride) {
        float[] sums = new float[RowRun.LANES];
        for (int i = 0; i < stride; i++) {
            float left = get(queries, queryAt, i);
            float right = get(rows, rowAt, i);
            int lane = i % RowRun.LANES;
            float difference = left - right;
            sums[lane] =
                    innerProduct ? Math.fma(left, right, sums[lane]) : Math.fma(difference, difference, sums[lane]);
        }
        return innerProduct ? bias - fold(sums) : fold(sums);
    }

    private static float get(MemorySegment segment, long at, int index) {
        return segment.get(ValueLayout.JAVA_FLOAT, at + (long) index * Float.BYTES);
    }

    private static float fold(float[] sums) {
        for (int half = RowRun.LANES / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                sums[i] += sums[i + half];
            }
        }
        return sums[0];
    }

    @Override
    public boolean scansCodesFaster() {
        return false;
    }

    @Override
    public void compare(RowPicks picks) {
        for (int i = 0; i < picks.size(); i++) {
            MemorySegment rows = picks.run(i).vectors();
            long rowAt = (long) picks.row(i) * picks.stride * Float.BYTES;
            float distance = distance(picks.innerProduct, picks.bias, picks.query, 0, rows, rowAt, picks.stride);
            picks.distances.setAtIndex(ValueLayout.JAVA_FLOAT, i, distance);
            long id = picks.run(i).ids().getAtIndex(ValueLayout.JAVA_LONG, picks.row(i));
            picks.ids.setAtIndex(ValueLayout.JAVA_LONG, i, id);
        }
    }

    @Override
    public int order(float[] distances, int count, int wanted, int[] order) {
        DistanceOrder.requireFits(distances, count, wanted, order);
        return DistanceOrder.order(distances, count, order);
    }

    @Override
    public float bound(ScoredRows rows, float certain, int wanted) {
        return Smallest.bound(rows, certain, wanted);
    }

    @Override
    public void keepUpTo(ScoredRows rows, float bound) {
        Smallest.keepUpTo(rows, bound);
    }

    /** The twin of {@code weigh_body.h}. */
    @Override
    public void weigh(CodeGroup group) {
        float[] center = new float[group.components];
        MemorySegment.copy(group.center, ValueLayout.JAVA_FLOAT, 0, center, 0, center.length);
        float[] exact = new float[center.length];
        for (int query = 0; query < group.size(); query++) {
            long at = (long) query * exact.length * Float.BYTES;
            MemorySegment.copy(group.queries, ValueLayout.JAVA_FLOAT, at, exact, 0, exact.length);
            weigh(group, query, exact, center);
        }
    }

    private static void weigh(CodeGroup group, int query, float[] exact, float[] center) {
        float[] squares = new float[RowRun.LANES];
        float[] products = new float[RowRun.LANES];
        float max = 0;
        for (int i = 0; i < exact.length; i++) {
            if (!group.innerProduct) {
                exact[i] = Math.clamp(exact[i] - center[i], -Float.MAX_VALUE, Float.MAX_VALUE);
            }
            int lane = i % RowRun.LANES;
            max = Math.max(max, Math.abs(exact[i]));
            squares[lane] = Math.fma(exact[i], exact[i], squares[lane]);
            products[lane] = Math.fma(exact[i], center[i], products[lane]);
        }
        float length = fold(squares);
        float base = group.innerProduct ? -fold(products) : length;
        // Not a number if infinite products cancel out.
        base = base >= -MAX_BASE ? Math.min(base, MAX_BASE) : -MAX_BASE;
        float unit = max / MAX_WEIGHT;
        float perUnit = unit > 0 && 1 / unit <= Float.MAX_VALUE ? 1 / unit : 0;
        int sum = 0;
        int size = 0;
        long at = (long) query * group.stride;
        float[] squaredErrors = new float[RowRun.LANES];
        for (int i = 0; i < exact.length; i++) {
            float weight = Math.fma(exact[i], perUnit, ROUNDER) - ROUNDER;
            exact[i] = Math.fma(weight, -unit, exact[i]);
            squaredErrors[i % RowRun.LANES] = Math.fma(exact[i], exact[i], squaredErrors[i % RowRun.LANES]);
            sum += (int) weight;
            size += (int) Math.abs(weight);
            if (i < group.stride) {
                group.weights.set(ValueLayout.JAVA_BYTE, at + i, (byte) weight);
            }
        }
        boolean isFine = size < MIN_MEAN * group.stride;
        group.fine.setAtIndex(ValueLayout.JAVA_INT, query, isFine ? 1 : 0);
        group.errors.setAtIndex(ValueLayout.JAVA_FLOAT, query, fold(squaredErrors));
        if (isFine) {
            weighLow(group, query, exact, unit, perUnit);
        }
        group.bases.setAtIndex(ValueLayout.JAVA_FLOAT, query, base);
        group.lengths.setAtIndex(ValueLayout.JAVA_FLOAT, query, length);
        group.starts.setAtIndex(ValueLayout.JAVA_INT, query, -ScalarQuantizer.MIDDLE * sum);
        group.slopes.setAtIndex(ValueLayout.JAVA_FLOAT, query, group.innerProduct ? -unit : -2 * unit);
    }

    /** @param left what the weights have lost */
    private static void weighLow(CodeGroup group, int query, float[] left, float unit, float perUnit) {
        float perLow = perUnit / LOW_UNIT <= Float.MAX_VALUE ? perUnit / LOW_UNIT : 0;
        float[] squaredErrors = new float[RowRun.LANES];
        int sum = 0;
        for (int i = 0; i < left.length; i++) {
            float weight = Math.fma(left[i], perLow, ROUNDER) - ROUNDER;
            float lost = Math.fma(weight, -unit * LOW_UNIT, left[i]);
            squaredErrors[i % RowRun.LANES] = Math.fma(lost, lost, squaredErrors[i % RowRun.LANES]);
            sum += (int) weight;
            if (i < group.stride) {
                group.lowWeights.set(ValueLayout.JAVA_BYTE, (long) query * group.stride + i, (byte) weight);
            }
        }
        group.errors.setAtIndex(ValueLayout.JAVA_FLOAT, query, fold(squaredErrors));
        group.lowStarts.setAtIndex(ValueLayout.JAVA_INT, query, -ScalarQuantizer.MIDDLE * sum);
    }

    @Override
    public void scan(CodeRun run, int from, int to, CodeGroup group) {
        group.requireFits(run, from, to);
        int[] weights = new int[group.size() * run.stride()];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = group.weights.get(ValueLayout.JAVA_BYTE, i);
        }
        float[] scores = new float[CodeRun.TILE];
        group.found.fill((byte) 0);
        for (int first = from; first < to; first += CodeRun.TILE) {
            for (int query = 0; query < group.size(); query++) {
                float bound = group.bounds.getAtIndex(ValueLayout.JAVA_FLOAT, query);
                int start = group.starts.getAtIndex(ValueLayout.JAVA_INT, query);
                if (group.fine.getAtIndex(ValueLayout.JAVA_INT, query) != 0) {
                    scoreFine(group, query, run, first, scores);
                    appendWithin(bound, scores, first, Math.min(to, first + CodeRun.TILE), group, query);
                    continue;
                }
                float base = group.bases.getAtIndex(ValueLayout.JAVA_FLOAT, query);
                float slope = group.slopes.getAtIndex(ValueLayout.JAVA_FLOAT, query);
                if (anyWithin(bound, run, first, weights, query * run.stride(), start, base, slope, scores)) {
                    appendWithin(bound, scores, first, Math.min(to, first + CodeRun.TILE), group, query);
                }
            }
        }
    }

    /**
     * Scores of one query for the rows of a tile of codes.
     *
     * @param first first row of the tile
     * @param weights the query's weights, from {@code weightsAt} on
     * @param start start value of the sums of products
     * @return whether any score is at most {@code bound}
     */
    private static boolean anyWithin(
            float bound,
            CodeRun run,
            int first,
            int[] weights,
            int weightsAt,
            int start,
            float base,
            float slope,
            float[] scores) {
        byte[] tile = new byte[CodeRun.TILE * run.stride()];
        MemorySegment.copy(run.codes(), ValueLayout.JAVA_BYTE, (long) first * run.stride(), tile, 0, tile.length);
        int[] sums = new int[CodeRun.TILE];
        Arrays.fill(sums, start);
        for (int i = 0; i < run.stride(); i++) {
            int weight = weights[weightsAt + i];
            int at = (i & ~3) * CodeRun.TILE + (i & 3);
            for (int row = 0; row < CodeRun.TILE; row++) {
                sums[row] += Byte.toUnsignedInt(tile[at + row * 4]) * weight;
            }
        }
        boolean any = false;
        for (int row = 0; row < CodeRun.TILE; row++) {
            scores[row] = base + (run.term(first + row) + slope * (run.scale(first + row) * (float) sums[row]));
            any |= scores[row] <= bound;
        }
        return any;
    }

    private static void scoreFine(CodeGroup group, int query, CodeRun run, int first, float[] scores) {
        float base = group.bases.getAtIndex(ValueLayout.JAVA_FLOAT, query);
        float slope = group.slopes.getAtIndex(ValueLayout.JAVA_FLOAT, query);
        int end = Math.min(run.count(), first + CodeRun.TILE);
        for (int row = first; row < end; row++) {
            byte[] codes = run.read(row);
            int sum = 0;
            int low = 0;
            for (int i = 0; i < codes.length; i++) {
                long at = (long) query * codes.length + i;
                sum += ScalarQuantizer.centered(codes[i]) * group.weights.get(ValueLayout.JAVA_BYTE, at);
                low += ScalarQuantizer.centered(codes[i]) * group.lowWeights.get(ValueLayout.JAVA_BYTE, at);
            }
            float product = sum + low * LOW_UNIT;
            scores[row - first] = base + (run.term(row) + slope * (run.scale(row) * product));
        }
    }

    private static void appendWithin(float bound, float[] scores, int first, int end, CodeGroup group, int query) {
        int found = group.found(query);
        for (int row = first; row < end; row++) {
            float score = scores[row - first];
            // False for NaN, so deleted rows never get in.
            if (score <= bound) {
                long at = (long) query * CodeGroup.ROOM + found++;
                group.rows.setAtIndex(ValueLayout.JAVA_INT, at, row);
                group.scores.setAtIndex(ValueLayout.JAVA_FLOAT, at, score);
            }
        }
        group.found.setAtIndex(ValueLayout.JAVA_INT, query, found);
    }

    /** The twin of {@code reservoir.h}. */
    private static void take(QueryGroup group, int query, float distance, long id) {
        int size = group.sizes.getAtIndex(ValueLayout.JAVA_INT, query);
        put(group, (long) query * group.room + size++, distance, id);
        group.sizes.setAtIndex(ValueLayout.JAVA_INT, query, size);
        if (size == 2 * group.wanted.getAtIndex(ValueLayout.JAVA_INT, query)) {
            shrink(group, query, size);
        }
    }

    private static void shrink(QueryGroup group, int query, int size) {
        long first = (long) query * group.room;
        float[] distances = new float[size];
        MemorySegment.copy(group.foundDistances, ValueLayout.JAVA_FLOAT, first * Float.BYTES, distances, 0, size);
        int wanted = group.wanted.getAtIndex(ValueLayout.JAVA_INT, query);
        float bound = Smallest.nth(distances, size, wanted - 1);
        long lastId = largestIdKept(distances, group.foundIds, first, bound, wanted);
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (distances[i] <= bound) {
                long id = group.foundIds.getAtIndex(ValueLayout.JAVA_LONG, first + i);
                if (distances[i] < bound || id <= lastId) {
                    put(group, first + kept++, distances[i], id);
                }
            }
        }
        if (kept > wanted) {
            kept = dropRepeated(group, first, kept, bound, lastId, kept - wanted);
        }
        group.sizes.setAtIndex(ValueLayout.JAVA_INT, query, kept);
        group.bounds.setAtIndex(ValueLayout.JAVA_FLOAT, query, bound);
    }

    /** The twin of {@code drop_repeated}: drops copies of a row that was seen at two places during a move. */
    private static int dropRepeated(QueryGroup group, long first, int size, float distance, long id, int surplus) {
        int left = surplus;
        int kept = 0;
        for (int i = 0; i < size; i++) {
            float distanceOfRow = group.foundDistances.getAtIndex(ValueLayout.JAVA_FLOAT, first + i);
            long idOfRow = group.foundIds.getAtIndex(ValueLayout.JAVA_LONG, first + i);
            if (left > 0 && distanceOfRow == distance && idOfRow == id) {
                left--;
            } else {
                put(group, first + kept++, distanceOfRow, idOfRow);
            }
        }
        return kept;
    }

    private static void put(QueryGroup group, long at, float distance, long id) {
        group.foundDistances.setAtIndex(ValueLayout.JAVA_FLOAT, at, distance);
        group.foundIds.setAtIndex(ValueLayout.JAVA_LONG, at, id);
    }

    /** The largest id among the rows at the bound that are among the {@code wanted} nearest. */
    private static long largestIdKept(float[] distances, MemorySegment ids, long first, float bound, int wanted) {
        int nearer = 0;
        int ties = 0;
        for (float distance : distances) {
            nearer += distance < bound ? 1 : 0;
            ties += distance == bound ? 1 : 0;
        }
        if (nearer + ties == wanted) {
            return Long.MAX_VALUE;
        }
        long[] tied = new long[ties];
        int next = 0;
        for (int i = 0; i < distances.length; i++) {
            if (distances[i] == bound) {
                tied[next++] = ids.getAtIndex(ValueLayout.JAVA_LONG, first + i);
            }
        }
        Arrays.sort(tied);
        return tied[wanted - nearer - 1];
    }
}
