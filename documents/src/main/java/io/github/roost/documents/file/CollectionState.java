package io.github.roost.documents.file;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What is kept of a collection besides its documents.
 *
 * @param number the collection's part of the keys of its documents
 * @param dimension components per vector; 0 before the first document
 * @param nextRow the row of the next new document; rows are never used again
 * @param change the number of the last change
 * @param snapshot the last change that the saved vector table certainly has; 0 without a saved table
 */
public record CollectionState(int number, int dimension, int nextRow, long change, long snapshot) {
    private static final int VERSION = 1;
    private static final int BYTES = 1 + 3 * Integer.BYTES + 2 * Long.BYTES;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .put((byte) VERSION)
                .putInt(number)
                .putInt(dimension)
                .putInt(nextRow)
                .putLong(change)
                .putLong(snapshot)
                .array();
    }

    static CollectionState decode(ByteBuffer in) throws IOException {
        if (in.remaining() != BYTES || in.get(0) != VERSION) {
            throw new IOException("it has " + in.remaining() + " bytes, expected " + BYTES + " of version " + VERSION);
        }
        in.get();
        return new CollectionState(in.getInt(), in.getInt(), in.getInt(), in.getLong(), in.getLong());
    }

    /** {@return this state with another next row} */
    public CollectionState withNextRow(int value) {
        return new CollectionState(number, dimension, value, change, snapshot);
    }

    /** {@return this state after one more change} */
    public CollectionState withChange() {
        return new CollectionState(number, dimension, nextRow, change + 1, snapshot);
    }

    /** {@return this state with another saved table} */
    public CollectionState withSnapshot(long value) {
        return new CollectionState(number, dimension, nextRow, change, value);
    }
}
