package io.github.roost.index.hnsw.walk;

/** An image names a node that it does not have, or a label that no filter has: it was changed after it was written. */
public final class DamagedImageException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    DamagedImageException() {
        super("a graph names a neighbour, or a label, that there is none of");
    }
}
