package io.github.roost.documents.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Bytes with a checksum of them and of their key: MVStore, which checks only the heads of its pages, may give others than were kept, or those of
 * another key. Stateless.
 */
final class CheckedBytes {
    private CheckedBytes() {}

    /** {@return the bytes to keep: the content and the checksum} */
    static byte[] of(Object key, byte[] content) {
        return ByteBuffer.allocate(content.length + Integer.BYTES)
                .put(content)
                .putInt(checksum(key, ByteBuffer.wrap(content)))
                .array();
    }

    /**
     * {@return the content}
     *
     * @throws IOException if the checksum is another
     */
    static ByteBuffer content(Object key, byte[] kept) throws IOException {
        int length = kept.length - Integer.BYTES;
        if (length < 0) {
            throw new IOException("it has " + kept.length + " bytes, less than a checksum");
        }
        ByteBuffer content = ByteBuffer.wrap(kept, 0, length).slice();
        int said = ByteBuffer.wrap(kept).getInt(length);
        int found = checksum(key, content.duplicate());
        if (said != found) {
            throw new IOException("its checksum is %08x, that of its bytes is %08x".formatted(said, found));
        }
        return content;
    }

    private static int checksum(Object key, ByteBuffer content) {
        CRC32C checksum = new CRC32C();
        checksum.update(key.toString().getBytes(StandardCharsets.UTF_8));
        checksum.update(content);
        return (int) checksum.getValue();
    }
}
