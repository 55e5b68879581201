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
 * The node's side of compare-and-sets: requests of an offset, what is expected and what comes next; answers of a byte, whether that was possible,
 * and of what was there. By the node's processor, so that they are atomic beside those of processes that have mapped the file, which
 * the atomics of a network card need not be. Answers come in the order of the requests. Thread-safe: without state.
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

    /** Answers until the other side hangs up; an offset where no word is ends the connection after its answer. */
    void answer(InputStream from, OutputStream to) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(from));
        byte[] request = new byte[REQUEST_BYTES];
        while (in.readNBytes(request, 0, REQUEST_BYTES) == REQUEST_BYTES) {
            DataInputStream asked = new DataInputStream(new ByteArrayInputStream(request));
            long offset = asked.readLong();
            long expected = asked.readLong();
            long next = asked.readLong();
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
