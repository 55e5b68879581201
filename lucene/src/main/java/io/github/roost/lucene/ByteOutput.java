package io.github.roost.lucene;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.lucene.store.IndexOutput;

/** Appends off-heap buffers to a Lucene file, which accepts only arrays, through an array. */
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
