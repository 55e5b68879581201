package io.github.roost.index.remote.ucx;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The node's side of compare-and-sets. A request has the offset, the expected and the next value; an answer has a byte, whether the offset is
 * valid, and the value found. They run on the node's processor, so they are atomic with those of processes that have mapped the file; a network
 * card's atomics need not be. Answers come in the order of requests. Stateless and thread-safe.
 */
final class SharedWords {
    static final int REQUEST_BYTES = 3 * Long.BYTES;
    static final int ANSWER_BYTES = 1 + Long.BYTES;
    private static final VarHandle WORDS =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final MemorySegment memory;

    SharedWords(MemorySegment memory) {
        this.memory = memory;
    }

    /** Answers until the other side closes the connection; an invalid offset ends the connection after its answer. */
    void answer(InputStream from, OutputStream to) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(from));
        byte[] request = new byte[REQUEST_BYTES];
        while (in.readNBytes(request, 0, REQUEST_BYTES) == REQUEST_BYTES) {
            DataInputStream fields = new DataInputStream(new ByteArrayInputStream(request));
            long offset = fields.readLong();
            long expected = fields.readLong();
            long next = fields.readLong();
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(ANSWER_BYTES);
            DataOutputStream answer = new DataOutputStream(bytes);
            boolean isWord = isWord(memory.byteSize(), offset);
            answer.writeBoolean(isWord);
            answer.writeLong(isWord ? (long) WORDS.compareAndExchange(memory, offset, expected, next) : 0);
            to.write(bytes.toByteArray());
            if (!isWord) {
                return;
            }
        }
    }

    static boolean isWord(long bytes, long offset) {
        return offset >= 0 && offset % Long.BYTES == 0 && bytes >= Long.BYTES && offset <= bytes - Long.BYTES;
    }
}
