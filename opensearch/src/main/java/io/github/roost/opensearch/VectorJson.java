package io.github.roost.opensearch;

import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.core.xcontent.XContentParser.Token;

/**
 * Parser of vectors in the JSON of documents and searches: an array of numbers, or a string with the base64 of little-endian floats,
 * which is shorter and faster to parse. Stateless.
 */
final class VectorJson {
    private static final int FIRST_LENGTH = 64;

    private VectorJson() {}

    /**
     * Reads a vector.
     *
     * @param parser positioned at the vector's first token
     * @param what the vector's name in messages
     * @param dimension the required dimension
     * @throws IllegalArgumentException if it is not a vector of this dimension
     */
    static float[] read(XContentParser parser, String what, int dimension) throws IOException {
        float[] vector = read(parser, what, dimension, dimension, String.valueOf(dimension));
        if (vector.length != dimension) {
            throw wrongLength(what, String.valueOf(dimension), vector.length);
        }
        return vector;
    }

    /**
     * Reads a vector of any dimension.
     *
     * @throws IllegalArgumentException if it is not a vector, or has more than {@link Vectors#MAX_DIMENSIONS} components
     */
    static float[] read(XContentParser parser, String what) throws IOException {
        return read(parser, what, FIRST_LENGTH, Vectors.MAX_DIMENSIONS, "at most " + Vectors.MAX_DIMENSIONS);
    }

    /**
     * Reads a non-empty array of vectors.
     *
     * @param max maximum number of vectors
     */
    static List<float[]> readAll(XContentParser parser, String what, int max) throws IOException {
        if (parser.currentToken() != Token.START_ARRAY) {
            throw new IllegalArgumentException(what + " must be an array of vectors, got " + found(parser));
        }
        List<float[]> vectors = new ArrayList<>();
        while (parser.nextToken() != Token.END_ARRAY) {
            if (vectors.size() == max) {
                throw new IllegalArgumentException(what + " must be at most " + max + ", got more");
            }
            vectors.add(read(parser, "vector " + vectors.size() + " of " + what));
        }
        if (vectors.isEmpty()) {
            throw new IllegalArgumentException(what + " must be at least 1, got 0");
        }
        return vectors;
    }

    /** Keeps at most {@code max} numbers, however long the array is, so that a huge array cannot exhaust memory. */
    private static float[] read(XContentParser parser, String what, int first, int max, String wanted)
            throws IOException {
        Token token = parser.currentToken();
        if (token == Token.VALUE_STRING) {
            float[] vector = decode(parser.text(), what);
            if (vector.length > max) {
                throw wrongLength(what, wanted, vector.length);
            }
            return vector;
        }
        if (token != Token.START_ARRAY) {
            throw new IllegalArgumentException(what + " must be an array of numbers, got " + found(parser));
        }
        float[] vector = new float[first];
        int count = 0;
        for (token = parser.nextToken(); token != Token.END_ARRAY; token = parser.nextToken()) {
            if (token != Token.VALUE_NUMBER) {
                throw new IllegalArgumentException(
                        what + " must be an array of numbers, got " + found(parser) + " in dimension " + count);
            }
            if (count < max) {
                if (count == vector.length) {
                    vector = Arrays.copyOf(vector, Math.min(max, 2 * count));
                }
                vector[count] = parser.floatValue(false);
            }
            count++;
        }
        if (count > max) {
            throw wrongLength(what, wanted, count);
        }
        return count == vector.length ? vector : Arrays.copyOf(vector, count);
    }

    private static IllegalArgumentException wrongLength(String what, String wanted, int got) {
        return new IllegalArgumentException(what + " must have " + wanted + " dimensions, got " + got);
    }

    private static float[] decode(String text, String what) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException notBase64) {
            throw new IllegalArgumentException(
                    what + " must be an array of numbers, or the base64 of little-endian floats, got "
                            + shortened(text),
                    notBase64);
        }
        if (bytes.length % Float.BYTES != 0) {
            throw new IllegalArgumentException(
                    what + " must be an array of numbers, or the base64 of little-endian floats, got " + bytes.length
                            + " bytes");
        }
        float[] vector = new float[bytes.length / Float.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(vector);
        return vector;
    }

    private static String shortened(String text) {
        return text.length() <= FIRST_LENGTH ? text : text.substring(0, FIRST_LENGTH) + "...";
    }

    private static Object found(XContentParser parser) throws IOException {
        Token token = parser.currentToken();
        return token.isValue() ? parser.text() : token;
    }
}
