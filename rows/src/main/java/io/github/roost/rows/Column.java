package io.github.roost.rows;

import io.github.roost.vector.Vectors;
import java.nio.charset.StandardCharsets;

/**
 * A column of a {@link Schema}.
 *
 * @param name its name, 1 to 255 bytes of UTF-8; unique in its schema
 * @param type the type of its values
 * @param bytes the size of a value; 0 for types of variable length
 */
public record Column(String name, Type type, int bytes) {
    /** The maximum size of a {@link Type#FIXED_BYTES} value. */
    public static final int MAX_BYTES = 65_536;

    private static final int MAX_NAME_BYTES = 255;

    /** The type of values. The order is part of the file format: new types come last. */
    public enum Type {
        /** 32-bit integers. */
        INT(Integer.BYTES),
        /** 64-bit integers. */
        LONG(Long.BYTES),
        /** 32-bit floating point; every bit pattern is kept, NaN too. */
        FLOAT(Float.BYTES),
        /** 64-bit floating point; every bit pattern is kept, NaN too. */
        DOUBLE(Double.BYTES),
        /** Byte strings of the same length in every row. */
        FIXED_BYTES(0),
        /** Byte strings of any length. */
        BYTES(0),
        /** UTF-8 text of any length. */
        TEXT(0);

        private final int bytes;

        Type(int bytes) {
            this.bytes = bytes;
        }

        boolean isVariable() {
            return this == BYTES || this == TEXT;
        }
    }

    /**
     * Checks the arguments.
     *
     * @throws IllegalArgumentException if the name is empty or too long, or {@code bytes} does not fit the type
     */
    public Column {
        int length = name.getBytes(StandardCharsets.UTF_8).length;
        if (length < 1 || length > MAX_NAME_BYTES) {
            throw new IllegalArgumentException(
                    "a column's name must have between 1 and " + MAX_NAME_BYTES + " bytes of UTF-8, got " + length);
        }
        if (type == Type.FIXED_BYTES) {
            Vectors.requireRange("bytes of column " + name, bytes, 1, MAX_BYTES);
        } else if (bytes != type.bytes) {
            throw new IllegalArgumentException(
                    "bytes of column " + name + " must be " + type.bytes + " for " + type + ", got " + bytes);
        }
    }

    private Column(String name, Type type) {
        this(name, type, type.bytes);
    }

    /**
     * A column of 32-bit integers.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @return the column
     */
    public static Column ofInt(String name) {
        return new Column(name, Type.INT);
    }

    /**
     * A column of 64-bit integers.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @return the column
     */
    public static Column ofLong(String name) {
        return new Column(name, Type.LONG);
    }

    /**
     * A column of 32-bit floating-point numbers.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @return the column
     */
    public static Column ofFloat(String name) {
        return new Column(name, Type.FLOAT);
    }

    /**
     * A column of 64-bit floating-point numbers.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @return the column
     */
    public static Column ofDouble(String name) {
        return new Column(name, Type.DOUBLE);
    }

    /**
     * A column of byte strings of a fixed length, for example vectors or digests.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @param bytes the size of a value, from 1 to {@link #MAX_BYTES}
     * @return the column
     */
    public static Column ofFixedBytes(String name, int bytes) {
        return new Column(name, Type.FIXED_BYTES, bytes);
    }

    /**
     * A column of byte strings of any length.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @return the column
     */
    public static Column ofBytes(String name) {
        return new Column(name, Type.BYTES);
    }

    /**
     * A column of texts.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @return the column
     */
    public static Column ofText(String name) {
        return new Column(name, Type.TEXT);
    }
}
