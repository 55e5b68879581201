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
