package io.github.roost.index.disk.search;

import io.github.roost.vector.Vectors;

/**
 * How the searches of a table read its pages.
 *
 * @param max max concurrent page reads of one search, from 1 to 64
 * @param isPipelined whether a search resumes when any of its reads completes, instead of when all have
 */
public record PageReads(int max, boolean isPipelined) {
    /** The largest {@link #max}. */
    public static final int MAX = 64;
    /** A beam of four reads. */
    static final PageReads DEFAULT = new PageReads(4, false);

    public PageReads {
        Vectors.requireRange("reads", max, 1, MAX);
    }
}
