package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Sums in plain Java, used if neither the native library nor the Vector API is available. */
final class ScalarPairSum implements JavaScan.PairSum {
    @Override
    public float squaredL2(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride) {
        float[] sums = new float[RowRun.LANES];
        for (int i = 0; i < stride; i++) {
            float difference = get(queries, queryAt, i) - get(rows, rowAt, i);
            int lane = i % RowRun.LANES;
            sums[lane] = Math.fma(difference, difference, sums[lane]);
        }
        return fold(sums);
    }

    @Override
    public float innerProduct(MemorySegment queries, long queryAt, MemorySegment rows, long rowAt, int stride) {
        float[] sums = new float[RowRun.LANES];
        for (int i = 0; i < stride; i++) {
            int lane = i % RowRun.LANES;
            sums[lane] = Math.fma(get(queries, queryAt, i), get(rows, rowAt, i), sums[lane]);
        }
        return fold(sums);
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
}
