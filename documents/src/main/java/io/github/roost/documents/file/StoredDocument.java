package io.github.roost.documents.file;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A document as it is kept, without its vector.
 *
 * @param id the document's id
 * @param metadata values of the types that {@link #encode} names, or lists of them
 * @param text the text, or null
 */
public record StoredDocument(
        String id, Map<String, Object> metadata, @Nullable String text) {
    private static final int VERSION = 1;

    /** {@return the bytes of this document: version, id, metadata, text} */
    public byte[] encode() {
        var bytes = new ByteArrayOutputStream(64 + id.length() + (text == null ? 0 : text.length()));
        try (var out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            writeString(out, id);
            out.writeInt(metadata.size());
            for (Map.Entry<String, Object> each : metadata.entrySet()) {
                writeString(out, each.getKey());
                writeValue(out, each.getValue());
            }
            out.writeBoolean(text != null);
            if (text != null) {
                writeString(out, text);
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads a document.
     *
     * @param bytes the result of {@link #encode}
     * @param withText whether to read the text too; otherwise it is null
     * @return the document
     * @throws IOException if they are no document
     */
    static StoredDocument decode(ByteBuffer bytes, boolean withText) throws IOException {
        try (var in = new DataInputStream(
                new ByteArrayInputStream(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining()))) {
            int version = in.readByte();
            if (version != VERSION) {
                throw new IOException("a document of version " + version + ", expected " + VERSION);
            }
            String id = readString(in);
            int size = in.readInt();
            Map<String, Object> metadata = LinkedHashMap.newLinkedHashMap(Math.min(size, bytes.remaining()));
            for (int i = 0; i < size; i++) {
                metadata.put(readString(in), readValue(in));
            }
            return new StoredDocument(id, metadata, withText && in.readBoolean() ? readString(in) : null);
        }
    }

    private static void writeValue(DataOutputStream out, Object value) throws IOException {
        switch (value) {
            case String string -> {
                out.writeByte('s');
                writeString(out, string);
            }
            case Boolean bool -> {
                out.writeByte('b');
                out.writeBoolean(bool);
            }
            case Integer number -> {
                out.writeByte('i');
                out.writeInt(number);
            }
            case Long number -> {
                out.writeByte('l');
                out.writeLong(number);
            }
            case Float number -> {
                out.writeByte('f');
                out.writeFloat(number);
            }
            case Double number -> {
                out.writeByte('d');
                out.writeDouble(number);
            }
            case UUID uuid -> {
                out.writeByte('u');
                out.writeLong(uuid.getMostSignificantBits());
                out.writeLong(uuid.getLeastSignificantBits());
            }
            case List<?> list -> {
                out.writeByte('[');
                out.writeInt(list.size());
                for (Object each : list) {
                    writeValue(out, each);
                }
            }
            default -> throw new IllegalArgumentException("a value of " + value.getClass());
        }
    }

    private static Object readValue(DataInputStream in) throws IOException {
        byte type = in.readByte();
        return switch (type) {
            case 's' -> readString(in);
            case 'b' -> in.readBoolean();
            case 'i' -> in.readInt();
            case 'l' -> in.readLong();
            case 'f' -> in.readFloat();
            case 'd' -> in.readDouble();
            case 'u' -> new UUID(in.readLong(), in.readLong());
            case '[' -> {
                int size = in.readInt();
                List<Object> list = new ArrayList<>();
                for (int i = 0; i < size; i++) {
                    list.add(readValue(in));
                }
                yield List.copyOf(list);
            }
            default -> throw new IOException("a value of type " + type);
        };
    }

    /** UTF-8 cannot write half of a surrogate pair, where a splitter may have cut a text: then the units are written. */
    private static void writeString(DataOutputStream out, String string) throws IOException {
        boolean isUtf8 = StandardCharsets.UTF_8.newEncoder().canEncode(string);
        out.writeBoolean(isUtf8);
        if (isUtf8) {
            byte[] bytes = string.getBytes(StandardCharsets.UTF_8);
            out.writeInt(bytes.length);
            out.write(bytes);
        } else {
            out.writeInt(string.length() * Character.BYTES);
            out.writeChars(string);
        }
    }

    private static String readString(DataInputStream in) throws IOException {
        boolean isUtf8 = in.readBoolean();
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException(
                    "a text of " + length + " bytes in a document of which " + in.available() + " are left");
        }
        byte[] bytes = in.readNBytes(length);
        if (isUtf8) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
        char[] units = new char[length / Character.BYTES];
        ByteBuffer.wrap(bytes).asCharBuffer().get(units);
        return new String(units);
    }
}
