package io.github.roost.index.disk.update;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.io.BlockFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** Writes blocks, consecutive ones in one write. Stateless. */
final class BlockRuns {
    private static final int MAX = 256;

    private BlockRuns() {}

    /** Writes blocks by their numbers, ascending. */
    static void write(BlockFile file, Map<Integer, MemorySegment> blocks, Arena arena) throws IOException {
        MemorySegment run = arena.allocate((long) MAX * BLOCK_BYTES, BLOCK_BYTES);
        int first = 0;
        int count = 0;
        for (Map.Entry<Integer, MemorySegment> block : blocks.entrySet()) {
            if (count == MAX || (count > 0 && block.getKey() != first + count)) {
                file.write(first, run.asSlice(0, (long) count * BLOCK_BYTES));
                count = 0;
            }
            if (count == 0) {
                first = block.getKey();
            }
            MemorySegment.copy(block.getValue(), 0, run, (long) count * BLOCK_BYTES, BLOCK_BYTES);
            count++;
        }
        if (count > 0) {
            file.write(first, run.asSlice(0, (long) count * BLOCK_BYTES));
        }
    }
}
