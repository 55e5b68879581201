package io.github.roost.rows;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Texts as keys of a {@link VersionedRows}: a row's key is a 64-bit fingerprint of its text, and a column of the row has the whole text. Loading refuses two
 * texts with the same fingerprint, and reading takes a row whose text differs for absent, so no text ever gets the row of another.
 *
 * <p>The fingerprint is the first eight bytes, big-endian, of the SHA-256 hash of the text's UTF-8 bytes. It is the same on all machines and in all
 * versions of this library. Among 10^9 texts, two have the same one with a probability of 2.7 %.
 *
 * <p>Texts are compared byte by byte, without normalization. {@link VersionedRows#upsert} and {@link VersionBuilder#put} do not check texts. Immutable and
 * thread-safe.
 */
public final class TextKeys {
    private final String column;
    private final ToLongFunction<byte[]> fingerprint;

    /**
     * Creates keys whose texts are in a column.
     *
     * @param column the name of the column of type {@link Column.Type#TEXT} that has each row's text
     */
    public TextKeys(String column) {
        this(column, TextKeys::fingerprint);
    }

    /** For tests with texts of the same fingerprint. */
    TextKeys(String column, ToLongFunction<byte[]> fingerprint) {
        this.column = column;
        this.fingerprint = fingerprint;
    }

    private static long fingerprint(byte[] text) {
        try {
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text))
                    .getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** The UTF-8 bytes of a text; distinct texts have distinct ones. */
    private static byte[] bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (!new String(bytes, StandardCharsets.UTF_8).equals(text)) {
            throw new IllegalArgumentException("text must have no half of a surrogate pair, got \"" + text + "\"");
        }
        return bytes;
    }

    /**
     * The key of a text: its fingerprint.
     *
     * @param text any text without unpaired surrogates
     * @return its key
     * @throws IllegalArgumentException if the text has an unpaired surrogate, which has no UTF-8 bytes
     */
    public long key(String text) {
        return fingerprint.applyAsLong(bytes(text));
    }

    /**
     * The keys of texts.
     *
     * @param texts any texts without unpaired surrogates
     * @return their keys, in the same order
     * @throws IllegalArgumentException if a text has an unpaired surrogate
     */
    public long[] keys(List<String> texts) {
        return texts.stream().mapToLong(this::key).toArray();
    }

    /**
     * The columns to read so that {@link #retain} can compare the texts.
     *
     * @param columns names of columns; all columns if empty
     * @return the same columns in the same order, then the column of the texts, unless it is among them
     */
    public List<String> columns(List<String> columns) {
        if (columns.isEmpty() || columns.contains(column)) {
            return List.copyOf(columns);
        }
        List<String> all = new ArrayList<>(columns);
        all.add(column);
        return List.copyOf(all);
    }

    /**
     * Sets the column of the texts.
     *
     * @param row a row
     * @param text any text without unpaired surrogates
     * @return the text's key
     * @throws IllegalArgumentException if the text has an unpaired surrogate, or the column does not exist or is not of type TEXT
     */
    public long set(RowWriter row, String text) {
        row.setText(row.schema().indexOf(column), text);
        return key(text);
    }

    /**
     * Adds a row under a text.
     *
     * @param to the version that the row is added to
     * @param text the text; set as the column of the texts
     * @param row a row as it is set now, except for that column; copied
     * @throws IllegalArgumentException if the text, or another text with the same fingerprint, was added already, with an error that names both; if
     *     the text has an unpaired surrogate, the column does not exist or is not of type TEXT, or the row is too long; nothing has changed
     * @throws IllegalStateException as {@link VersionBuilder#put(long, RowWriter)}
     * @throws OutOfMemoryError if there is no memory for the row; nothing has changed
     */
    public void put(VersionBuilder to, String text, RowWriter row) {
        Schema schema = to.schema();
        int index = schema.indexOf(column);
        schema.require(index, Column.Type.TEXT);
        long key = key(text);
        MemorySegment existing = to.added(key);
        if (existing != null) {
            int variable = schema.place(index);
            int begin = schema.headBytes() + schema.begin(existing, 0, variable);
            int end = schema.headBytes() + schema.end(existing, 0, variable);
            byte[] other = existing.asSlice(begin, (long) end - begin).toArray(ValueLayout.JAVA_BYTE);
            String before = new String(other, StandardCharsets.UTF_8);
            throw new IllegalArgumentException(
                    before.equals(text)
                            ? "text \"" + text + "\" must be loaded once, got it twice"
                            : "texts must have fingerprints of their own, but \"" + before + "\" and \"" + text
                                    + "\" both have " + key);
        }
        to.put(key, row.setText(index, text));
    }

    /**
     * Reads the rows of texts in the current version.
     *
     * @param reader reads the rows
     * @param texts any texts without unpaired surrogates; a repeated text gets a row each time
     * @param rows filled with one row per text, in the order of the texts; unchanged if this fails
     * @param columns names of columns; all columns if none is named. The column of the texts is added as the last one, unless it is among them
     * @return the number of texts present; a row that cannot be read from the version's file fails separately ({@link RowBatch#failure})
     * @throws IllegalArgumentException if a text has an unpaired surrogate, or as {@link VersionedRows.Reader#getAll(long[], RowBatch, String...)}
     * @throws IllegalStateException as {@link VersionedRows.Reader#getAll(long[], RowBatch, String...)}
     */
    public int getAll(VersionedRows.Reader reader, List<String> texts, RowBatch rows, String... columns) {
        reader.getAll(0, keys(texts), rows, columns(List.of(columns)));
        return retain(texts, rows);
    }

    /**
     * Makes absent the rows of a batch whose texts differ from the requested texts.
     *
     * @param texts one text per key of the batch, in its order
     * @param rows the batch of the texts' keys, with the column of the texts; in writable memory
     * @return the number of rows present, without rows that could not be read
     * @throws IllegalArgumentException if the number of texts is not that of the batch's keys, or the batch does not have the column as type TEXT;
     *     nothing has changed
     */
    public int retain(List<String> texts, RowBatch rows) {
        if (texts.size() != rows.size()) {
            throw new IllegalArgumentException("texts must be " + rows.size() + ", got " + texts.size());
        }
        int index = rows.schema().indexOf(column);
        rows.schema().require(index, Column.Type.TEXT);
        BitSet others = new BitSet();
        for (int i = 0; i < rows.size(); i++) {
            if (rows.failure(i) == null
                    && rows.isPresent(i)
                    && rows.getBytes(i, index).mismatch(MemorySegment.ofArray(bytes(texts.get(i)))) >= 0) {
                others.set(i);
            }
        }
        if (!others.isEmpty()) {
            rows.remove(others);
        }
        return rows.present();
    }

    /** The column of the texts. */
    @Override
    public String toString() {
        return "TextKeys[" + column + "]";
    }
}
