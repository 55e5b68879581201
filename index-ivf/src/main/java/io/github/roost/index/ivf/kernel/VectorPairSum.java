package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums with the Vector API, in two registers of 8 lanes, which every CPU with AVX2 or better has. Works on slices, whose bounds
 * are checked once: with fewer instructions per row, more rows are in flight from memory at once.
 */
final class VectorPairSum implements JavaScan.PairSum {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_256;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final long HALF_BYTES = (long) SPECIES.length() * Float.BYTES;
    private static final long TURN_BYTES = 2 * HALF_BYTES;

    /**
     * Bytes per loop iteration. Not a constant, or the compiler would unroll each loop, which costs more iterations than most
     * rows have.
     */
    private long turn = TURN_BYTES;

    @Override
    public float squaredL2(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride) {
        long end = (long) stride * Float.BYTES;
        MemorySegment query = queries.asSlice(queryAt, end);
        MemorySegment row = rows.asSlice(rowAt, end);
        FloatVector low = FloatVector.zero(SPECIES);
        FloatVector high = low;
        long at = 0;
        for (; at + TURN_BYTES < end; at += 2 * turn) {
            FloatVector difference = load(query, at).sub(load(row, at));
            low = difference.fma(difference, low);
            difference = load(query, at + HALF_BYTES).sub(load(row, at + HALF_BYTES));
            high = difference.fma(difference, high);
            difference = load(query, at + TURN_BYTES).sub(load(row, at + TURN_BYTES));
            low = difference.fma(difference, low);
            difference = load(query, at + TURN_BYTES + HALF_BYTES).sub(load(row, at + TURN_BYTES + HALF_BYTES));
            high = difference.fma(difference, high);
        }
        if (at < end) {
            FloatVector difference = load(query, at).sub(load(row, at));
            low = difference.fma(difference, low);
            difference = load(query, at + HALF_BYTES).sub(load(row, at + HALF_BYTES));
            high = difference.fma(difference, high);
        }
        return fold(low.add(high));
    }

    @Override
    public float innerProduct(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride) {
        long end = (long) stride * Float.BYTES;
        MemorySegment query = queries.asSlice(queryAt, end);
        MemorySegment row = rows.asSlice(rowAt, end);
        FloatVector low = FloatVector.zero(SPECIES);
        FloatVector high = low;
        long at = 0;
        for (; at + TURN_BYTES < end; at += 2 * turn) {
            low = load(query, at).fma(load(row, at), low);
            high = load(query, at + HALF_BYTES).fma(load(row, at + HALF_BYTES), high);
            low = load(query, at + TURN_BYTES).fma(load(row, at + TURN_BYTES), low);
            high = load(query, at + TURN_BYTES + HALF_BYTES).fma(load(row, at + TURN_BYTES + HALF_BYTES), high);
        }
        if (at < end) {
            low = load(query, at).fma(load(row, at), low);
            high = load(query, at + HALF_BYTES).fma(load(row, at + HALF_BYTES), high);
        }
        return fold(low.add(high));
    }

    @Override
    public void squaredL2(
            MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride, float[] sums) {
        long end = (long) stride * Float.BYTES;
        MemorySegment query = queries.asSlice(queryAt, end);
        MemorySegment row0 = rows.asSlice(rowAt, end);
        MemorySegment row1 = rows.asSlice(rowAt + end, end);
        MemorySegment row2 = rows.asSlice(rowAt + 2 * end, end);
        MemorySegment row3 = rows.asSlice(rowAt + 3 * end, end);
        FloatVector low0 = FloatVector.zero(SPECIES);
        FloatVector high0 = low0;
        FloatVector low1 = low0;
        FloatVector high1 = low0;
        FloatVector low2 = low0;
        FloatVector high2 = low0;
        FloatVector low3 = low0;
        FloatVector high3 = low0;
        for (long at = 0; at < end; at += turn) {
            FloatVector low = load(query, at);
            FloatVector high = load(query, at + HALF_BYTES);
            FloatVector difference = low.sub(load(row0, at));
            low0 = difference.fma(difference, low0);
            difference = high.sub(load(row0, at + HALF_BYTES));
            high0 = difference.fma(difference, high0);
            difference = low.sub(load(row1, at));
            low1 = difference.fma(difference, low1);
            difference = high.sub(load(row1, at + HALF_BYTES));
            high1 = difference.fma(difference, high1);
            difference = low.sub(load(row2, at));
            low2 = difference.fma(difference, low2);
            difference = high.sub(load(row2, at + HALF_BYTES));
            high2 = difference.fma(difference, high2);
            difference = low.sub(load(row3, at));
            low3 = difference.fma(difference, low3);
            difference = high.sub(load(row3, at + HALF_BYTES));
            high3 = difference.fma(difference, high3);
        }
        sums[0] = fold(low0.add(high0));
        sums[1] = fold(low1.add(high1));
        sums[2] = fold(low2.add(high2));
        sums[3] = fold(low3.add(high3));
    }

    @Override
    public void innerProduct(
            MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride, float[] sums) {
        long end = (long) stride * Float.BYTES;
        MemorySegment query = queries.asSlice(queryAt, end);
        MemorySegment row0 = rows.asSlice(rowAt, end);
        MemorySegment row1 = rows.asSlice(rowAt + end, end);
        MemorySegment row2 = rows.asSlice(rowAt + 2 * end, end);
        MemorySegment row3 = rows.asSlice(rowAt + 3 * end, end);
        FloatVector low0 = FloatVector.zero(SPECIES);
        FloatVector high0 = low0;
        FloatVector low1 = low0;
        FloatVector high1 = low0;
        FloatVector low2 = low0;
        FloatVector high2 = low0;
        FloatVector low3 = low0;
        FloatVector high3 = low0;
        for (long at = 0; at < end; at += turn) {
            FloatVector low = load(query, at);
            FloatVector high = load(query, at + HALF_BYTES);
            low0 = low.fma(load(row0, at), low0);
            high0 = high.fma(load(row0, at + HALF_BYTES), high0);
            low1 = low.fma(load(row1, at), low1);
            high1 = high.fma(load(row1, at + HALF_BYTES), high1);
            low2 = low.fma(load(row2, at), low2);
            high2 = high.fma(load(row2, at + HALF_BYTES), high2);
            low3 = low.fma(load(row3, at), low3);
            high3 = high.fma(load(row3, at + HALF_BYTES), high3);
        }
        sums[0] = fold(low0.add(high0));
        sums[1] = fold(low1.add(high1));
        sums[2] = fold(low2.add(high2));
        sums[3] = fold(low3.add(high3));
    }

    private static FloatVector load(MemorySegment segment, long at) {
        return FloatVector.fromMemorySegment(SPECIES, segment, at, ORDER);
    }

    /** By halves, not by {@code reduceLanes}, whose order is not specified. */
    private static float fold(FloatVector sums) {
        float first = sums.lane(0) + sums.lane(4);
        float second = sums.lane(1) + sums.lane(5);
        float third = sums.lane(2) + sums.lane(6);
        float fourth = sums.lane(3) + sums.lane(7);
        return (first + third) + (second + fourth);
    }
}
