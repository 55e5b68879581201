package io.github.roost.rows.service;

import io.github.roost.rows.Schema;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Identifies the rows of a version by a number that is not 0: the same for the same rows in any order, and for different rows another one but with a
 * probability of 2^-64. It is the sum of the rows' hashes. For one thread at a time.
 */
final class Content {
    private final MessageDigest hash = hash();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
    private long rows;
    private long sum;

    private static MessageDigest hash() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    void add(long key, MemorySegment row) {
        add(key);
        hash.update(row.asByteBuffer());
        sum += ByteBuffer.wrap(hash.digest()).getLong();
        rows++;
    }

    private void add(long value) {
        hash.update(number.putLong(0, value).rewind());
    }

    /** The number of a version of these rows. */
    long of(Schema schema) {
        hash.update(schema.encode());
        add(rows);
        add(sum);
        return id(hash.digest());
    }

    /** The number of a version of which a source says that it is of a snapshot. */
    static long of(String snapshot) {
        return id(hash().digest(snapshot.getBytes(StandardCharsets.UTF_8)));
    }

    private static long id(byte[] digest) {
        long id = ByteBuffer.wrap(digest).getLong();
        return id == 0 ? 1 : id;
    }
}
