package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.vector.memory.ScratchMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * The rows of a list that a filter allows, in contiguous runs. A run that passes as a whole is used in place, one that fails as
 * a whole is dropped; otherwise its allowed rows are copied, so that the kernel computes no unneeded distance. The memory is
 * reused for the next list. Belongs to one thread at a time.
 */
final class AllowedRuns {
    private MemorySegment vectors = MemorySegment.NULL;
    private MemorySegment ids = MemorySegment.NULL;

    /** Valid until the next call. */
    List<RowRun> of(List<RowRun> runs, LongPredicate filter) {
        List<RowRun> allowed = new ArrayList<>();
        List<boolean[]> passes = new ArrayList<>();
        List<RowRun> mixed = new ArrayList<>();
        long copied = 0;
        for (RowRun run : runs) {
            boolean[] pass = new boolean[(int) run.count()];
            int passing = 0;
            for (int row = 0; row < pass.length; row++) {
                pass[row] = filter.test(run.ids().getAtIndex(ValueLayout.JAVA_LONG, row));
                passing += pass[row] ? 1 : 0;
            }
            if (passing == pass.length) {
                allowed.add(run);
            } else if (passing > 0) {
                mixed.add(run);
                passes.add(pass);
                copied += passing;
            }
        }
        if (!mixed.isEmpty()) {
            allowed.add(copy(mixed, passes, copied));
        }
        return allowed;
    }

    private RowRun copy(List<RowRun> runs, List<boolean[]> passes, long rows) {
        long rowBytes = runs.getFirst().rowBytes();
        vectors = ScratchMemory.roomFor(vectors, rows * rowBytes);
        ids = ScratchMemory.roomFor(ids, rows * Long.BYTES);
        long next = 0;
        for (int i = 0; i < runs.size(); i++) {
            RowRun run = runs.get(i);
            boolean[] pass = passes.get(i);
            for (int row = 0; row < pass.length; row++) {
                if (pass[row]) {
                    MemorySegment.copy(run.vectors(), row * rowBytes, vectors, next * rowBytes, rowBytes);
                    ids.setAtIndex(ValueLayout.JAVA_LONG, next, run.ids().getAtIndex(ValueLayout.JAVA_LONG, row));
                    next++;
                }
            }
        }
        return new RowRun(
                vectors, ids, rows, runs.getFirst().stride(), runs.getFirst().componentBytes());
    }
}
