package io.github.roost.index.hnsw.search;

/** Thrown if a search reads a neighbor or a label that is out of range: the image was modified after it was written. */
public final class DamagedImageException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    DamagedImageException() {
        super("the graph names a neighbor or a label that does not exist");
    }
}
