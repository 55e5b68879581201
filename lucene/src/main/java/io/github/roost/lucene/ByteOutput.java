package io.github.roost.lucene;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.lucene.store.IndexOutput;

/** Appends buffers that are not on the heap to a file of a Lucene directory, which takes arrays. */
record ByteOutput(IndexOutput output, byte[] room) {
    ByteOutput(IndexOutput output) {
        this(output, new byte[1 << 16]);
    }

    void write(ByteBuffer piece) throws IOException {
        while (piece.hasRemaining()) {
            int count = Math.min(room.length, piece.remaining());
            piece.get(room, 0, count);
            output.writeBytes(room, count);
        }
    }
}
