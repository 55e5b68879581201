package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Scores with the Vector API: a lane sums one row, so nothing is folded. */
final class VectorTileScores implements JavaScan.TileScores {
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_256;
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_256;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    /** Bytes of codes for half a tile, and of terms too. */
    private static final long HALF_BYTES = (long) INTS.length() * Integer.BYTES;

    /** Bytes per loop iteration; not a constant, as in {@link VectorPairSum}. */
    private long turn = 2 * HALF_BYTES;

    /** Codes have a quarter of the bytes of floats. */
    @Override
    public boolean fasterThanFloats() {
        return true;
    }

    @Override
    public boolean anyWithin(
            float bound,
            CodeRun run,
            int first,
            int[] weights,
            int weightsAt,
            int start,
            float base,
            float slope,
            float[] scores) {
        long bytes = (long) CodeRun.TILE * run.stride();
        MemorySegment tile = run.codes().asSlice((long) first * run.stride(), bytes);
        IntVector low = IntVector.broadcast(INTS, start);
        IntVector high = low;
        int weight = weightsAt;
        for (long at = 0; at < bytes; at += turn) {
            low = addProducts(load(tile, at), weights, weight, low);
            high = addProducts(load(tile, at + HALF_BYTES), weights, weight, high);
            weight += 4;
        }
        long terms = (long) first * Float.BYTES;
        long scales = run.scaleAt(first);
        FloatVector lowScores = scores(run.terms(), terms, scales, base, slope, low);
        FloatVector highScores = scores(run.terms(), terms + HALF_BYTES, scales + HALF_BYTES, base, slope, high);
        // False for NaN, so deleted rows never get in.
        boolean any = lowScores
                .compare(VectorOperators.LE, bound)
                .or(highScores.compare(VectorOperators.LE, bound))
                .anyTrue();
        if (any) {
            lowScores.intoArray(scores, 0);
            highScores.intoArray(scores, FLOATS.length());
        }
        return any;
    }

    private static IntVector load(MemorySegment tile, long at) {
        return IntVector.fromMemorySegment(INTS, tile, at, ORDER);
    }

    /** Adds four components of each row, times their weights. */
    private static IntVector addProducts(IntVector components, int[] weights, int at, IntVector sums) {
        return sums.add(components.and(0xFF).mul(weights[at]))
                .add(components.lanewise(VectorOperators.LSHR, 8).and(0xFF).mul(weights[at + 1]))
                .add(components.lanewise(VectorOperators.LSHR, 16).and(0xFF).mul(weights[at + 2]))
                .add(components.lanewise(VectorOperators.LSHR, 24).mul(weights[at + 3]));
    }

    private static FloatVector scores(
            MemorySegment terms, long at, long scales, float base, float slope, IntVector sums) {
        FloatVector products = ((FloatVector) sums.convertShape(VectorOperators.I2F, FLOATS, 0))
                .mul(FloatVector.fromMemorySegment(FLOATS, terms, scales, ByteOrder.nativeOrder()))
                .mul(slope);
        return FloatVector.fromMemorySegment(FLOATS, terms, at, ByteOrder.nativeOrder())
                .add(products)
                .add(base);
    }
}
