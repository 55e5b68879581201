package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Scores without the Vector API. */
final class ScalarTileScores implements JavaScan.TileScores {
    @Override
    public boolean fasterThanFloats() {
        return false;
    }

    @Override
    public boolean anyWithin(
            float bound, CodeRun run, int first, int[] weights, int weightsAt, int start, float slope, float[] scores) {
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
            scores[row] = run.term(first + row) + slope * (float) sums[row];
            any |= scores[row] <= bound;
        }
        return any;
    }
}
