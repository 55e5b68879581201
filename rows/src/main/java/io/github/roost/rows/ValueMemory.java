package io.github.roost.rows;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.neighborhash.spi.Readers;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The settings of a table whose memory for values is limited.
 *
 * @param bytes memory per version, for copies of rows and for tracking recently read rows
 * @param orchestrator evicts rows, as maintenance
 * @param io reads cold rows
 * @param registration the table's registration with the orchestrator
 * @param readers the table's readers
 * @param takesUpserts whether the table takes upserts; then values can outgrow the memory after a version is loaded
 */
record ValueMemory(
        long bytes,
        Orchestrator orchestrator,
        BlockIo io,
        Registration registration,
        Readers readers,
        boolean takesUpserts) {
    /** 1/TOUCHES of the memory tracks recently read rows. */
    private static final int TOUCHES = 64;

    private static final int MIN_TOUCHES = 16;
    private static final int MAX_TOUCHES = 1 << 26;

    /**
     * Opens the values of a version whose file was verified.
     *
     * @throws IllegalArgumentException if its longest row does not fit
     */
    ColdValues open(Path path, VersionFile.Head head, Schema schema, NeighborHashMap index) throws IOException {
        Touches touches = new Touches(Math.clamp(bytes / TOUCHES / Integer.BYTES, MIN_TOUCHES, MAX_TOUCHES));
        long ring = bytes - touches.bytes();
        long min = 2 * HotRows.taken(head.maxRowBytes());
        if (ring < min) {
            throw new IllegalArgumentException("valueMemory must have room for twice the longest row of " + path + ", "
                    + (min + touches.bytes()) + " bytes, got " + bytes);
        }
        BlockFile file = io.open(path);
        HotRows hot = null;
        try {
            hot = new HotRows(index, readers, ring, head.maxRowBytes());
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
