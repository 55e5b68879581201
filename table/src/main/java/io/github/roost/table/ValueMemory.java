package io.github.roost.table;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.task.Registration;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What a table has for the values of each version.
 *
 * @param bytes for copies of rows and for what tells which to keep
 * @param orchestrator evicts them
 * @param io reads the others
 * @param registration of the table with the orchestrator
 * @param readers of the table
 * @param takesUpserts whether rows are put into versions; then values may come to take more than there is for them
 */
record ValueMemory(
        long bytes,
        Orchestrator orchestrator,
        BlockIo io,
        Registration registration,
        Readers readers,
        boolean takesUpserts) {
    /** Of the memory: what tells which rows to keep. */
    private static final int TOUCHES = 64;

    private static final int MIN_TOUCHES = 16;
    private static final int MAX_TOUCHES = 1 << 26;

    /**
     * Opens the values of a version whose file was checked.
     *
     * @throws IllegalArgumentException if its longest row does not fit
     */
    ColdValues open(Path path, VersionFile.Head head, Schema schema, LongTable index) throws IOException {
        Touches touches = new Touches(Math.clamp(bytes / TOUCHES / Integer.BYTES, MIN_TOUCHES, MAX_TOUCHES));
        long ring = bytes - touches.bytes();
        long least = 2 * HotRows.taken(head.mostRowBytes());
        if (ring < least) {
            throw new IllegalArgumentException("valueMemory must have room for twice the longest row of " + path + ", "
                    + (least + touches.bytes()) + " bytes, got " + bytes);
        }
        BlockFile file = io.open(path);
        HotRows hot = null;
        try {
            hot = new HotRows(index, readers, ring, head.mostRowBytes());
            Spill spill = takesUpserts
                    ? new Spill(io, path.resolveSibling("." + path.getFileName() + "-spill.part"), head)
                    : null;
            ColdFile cold = new ColdFile(io, file, head, schema, spill);
            return new ColdValues(cold, hot, touches, new Eviction(hot, orchestrator.indexing(), registration.id()));
        } finally {
            if (hot == null) {
                file.close();
            }
        }
    }
}
