package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Sums with the Vector API, two registers of 8 lanes, which every CPU with AVX2 or better holds. */
final class VectorPairSum implements JavaScan.PairSum {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_256;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final long HALF_BYTES = (long) SPECIES.length() * Float.BYTES;

    /**
     * Bytes from one turn of a loop to the next. Not a constant, or the compiler would prepare each loop for many turns, at
     * the cost of more turns than most rows take.
     */
    private long turn = 2 * HALF_BYTES;

    @Override
    public float squaredL2(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride) {
        FloatVector low = FloatVector.zero(SPECIES);
        FloatVector high = FloatVector.zero(SPECIES);
        long end = (long) stride * Float.BYTES;
        for (long at = 0; at < end; at += turn) {
            FloatVector first = load(queries, queryAt + at).sub(load(rows, rowAt + at));
            FloatVector second = load(queries, queryAt + at + HALF_BYTES).sub(load(rows, rowAt + at + HALF_BYTES));
            low = first.fma(first, low);
            high = second.fma(second, high);
        }
        return fold(low.add(high));
    }

    @Override
    public float innerProduct(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride) {
        FloatVector low = FloatVector.zero(SPECIES);
        FloatVector high = FloatVector.zero(SPECIES);
        long end = (long) stride * Float.BYTES;
        for (long at = 0; at < end; at += turn) {
            low = load(queries, queryAt + at).fma(load(rows, rowAt + at), low);
            high = load(queries, queryAt + at + HALF_BYTES).fma(load(rows, rowAt + at + HALF_BYTES), high);
        }
        return fold(low.add(high));
    }

    @Override
    public void squaredL2(
            MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride, float[] sums) {
        FloatVector low0 = FloatVector.zero(SPECIES);
        FloatVector high0 = low0;
        FloatVector low1 = low0;
        FloatVector high1 = low0;
        FloatVector low2 = low0;
        FloatVector high2 = low0;
        FloatVector low3 = low0;
        FloatVector high3 = low0;
        long end = (long) stride * Float.BYTES;
        long row1 = rowAt + end;
        long row2 = row1 + end;
        long row3 = row2 + end;
        for (long at = 0; at < end; at += turn) {
            FloatVector low = load(queries, queryAt + at);
            FloatVector high = load(queries, queryAt + at + HALF_BYTES);
            FloatVector difference = low.sub(load(rows, rowAt + at));
            low0 = difference.fma(difference, low0);
            difference = high.sub(load(rows, rowAt + at + HALF_BYTES));
            high0 = difference.fma(difference, high0);
            difference = low.sub(load(rows, row1 + at));
            low1 = difference.fma(difference, low1);
            difference = high.sub(load(rows, row1 + at + HALF_BYTES));
            high1 = difference.fma(difference, high1);
            difference = low.sub(load(rows, row2 + at));
            low2 = difference.fma(difference, low2);
            difference = high.sub(load(rows, row2 + at + HALF_BYTES));
            high2 = difference.fma(difference, high2);
            difference = low.sub(load(rows, row3 + at));
            low3 = difference.fma(difference, low3);
            difference = high.sub(load(rows, row3 + at + HALF_BYTES));
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
        FloatVector low0 = FloatVector.zero(SPECIES);
        FloatVector high0 = low0;
        FloatVector low1 = low0;
        FloatVector high1 = low0;
        FloatVector low2 = low0;
        FloatVector high2 = low0;
        FloatVector low3 = low0;
        FloatVector high3 = low0;
        long end = (long) stride * Float.BYTES;
        long row1 = rowAt + end;
        long row2 = row1 + end;
        long row3 = row2 + end;
        for (long at = 0; at < end; at += turn) {
            FloatVector low = load(queries, queryAt + at);
            FloatVector high = load(queries, queryAt + at + HALF_BYTES);
            low0 = low.fma(load(rows, rowAt + at), low0);
            high0 = high.fma(load(rows, rowAt + at + HALF_BYTES), high0);
            low1 = low.fma(load(rows, row1 + at), low1);
            high1 = high.fma(load(rows, row1 + at + HALF_BYTES), high1);
            low2 = low.fma(load(rows, row2 + at), low2);
            high2 = high.fma(load(rows, row2 + at + HALF_BYTES), high2);
            low3 = low.fma(load(rows, row3 + at), low3);
            high3 = high.fma(load(rows, row3 + at + HALF_BYTES), high3);
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
