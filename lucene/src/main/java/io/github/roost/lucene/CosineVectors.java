package io.github.roost.lucene;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.codecs.KnnFieldVectorsWriter;

/**
 * A writer of a field of similarity {@code COSINE}, which refuses vectors without a cosine: those whose squared length is 0 or not finite
 * as a float. Lucene's fields refuse only vectors of zeros; its graph builder cannot order the NaN that is the similarity of the others.
 * Used by one thread.
 */
final class CosineVectors<T> extends KnnFieldVectorsWriter<T> {
    private static final int SHOWN = 3;

    private final String field;
    private final KnnFieldVectorsWriter<T> out;

    CosineVectors(String field, KnnFieldVectorsWriter<T> out) {
        this.field = field;
        this.out = out;
    }

    @Override
    public void addValue(int document, T vector) throws IOException {
        float squared = squaredLength(vector);
        if (!(squared > 0 && squared <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException("field \"" + field
                    + "\" has similarity COSINE, so its vectors must have a length whose square is a positive float, got "
                    + beginning(vector));
        }
        out.addValue(document, vector);
    }

    private static float squaredLength(Object vector) {
        float sum = 0;
        if (vector instanceof float[] floats) {
            for (float component : floats) {
                sum += component * component;
            }
        } else {
            for (byte component : (byte[]) vector) {
                sum += component * component;
            }
        }
        return sum;
    }

    private static String beginning(Object vector) {
        String all = vector instanceof float[] floats
                ? Arrays.toString(Arrays.copyOf(floats, Math.min(SHOWN, floats.length)))
                : Arrays.toString(Arrays.copyOf((byte[]) vector, Math.min(SHOWN, ((byte[]) vector).length)));
        return all.substring(0, all.length() - 1) + ", ...]";
    }

    @Override
    public T copyValue(T vector) {
        return out.copyValue(vector);
    }

    @Override
    public long ramBytesUsed() {
        return out.ramBytesUsed();
    }
}
