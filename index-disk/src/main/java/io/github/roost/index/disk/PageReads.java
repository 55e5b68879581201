package io.github.roost.index.disk;

import io.github.roost.vector.Vectors;
import java.util.Objects;

/**
 * How the searches of a table read its pages.
 *
 * @param max max concurrent page reads of one search, from 1 to 64
 * @param mode how a search waits for reads
 */
record PageReads(int max, ReadMode mode) {
    /** A beam of four reads. */
    static final PageReads DEFAULT = new PageReads(4, ReadMode.BEAM);

    PageReads {
        Vectors.requireRange("reads", max, 1, DiskTable.MAX_READS);
        Objects.requireNonNull(mode, "mode must not be null");
    }
}
