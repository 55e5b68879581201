package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.search.GraphImage;
import java.util.Arrays;

/** Sorted index from external ids to rows of an image, 12 bytes per row on the Java heap. Immutable. */
final class RowsById {
    private final long[] ids;
    private final int[] rows;

    RowsById(GraphImage image) {
        ids = new long[image.shape().rows()];
        Arrays.setAll(ids, image::id);
        Arrays.sort(ids);
        rows = new int[ids.length];
        for (int row = 0; row < rows.length; row++) {
            rows[Arrays.binarySearch(ids, image.id(row))] = row;
        }
    }

    /** The row of an id, or -1. */
    int row(long id) {
        int at = Arrays.binarySearch(ids, id);
        return at < 0 ? -1 : rows[at];
    }
}
