package io.github.roost.documents.file;

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

    static CollectionState decode(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length != BYTES || in.get() != VERSION) {
            throw new IllegalStateException("a collection of " + bytes.length + " bytes and version " + bytes[0]
                    + ", expected " + BYTES + " and " + VERSION);
        }
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
