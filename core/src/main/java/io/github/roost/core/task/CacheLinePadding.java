package io.github.roost.core.task;

/**
 * Padding that keeps the fields of a subclass off the cache lines of the preceding object, since superclass fields come first. A
 * subclass that is written often ends with the same padding. Two lines, since processors fetch lines in pairs.
 */
@SuppressWarnings("unused")
public abstract class CacheLinePadding {
    private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;
}
