package io.github.roost.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes fvecs files: rows of 32-bit floats, each preceded by its width. */
final class FloatVectors {
    private FloatVectors() {}

    static void write(Path file, float[][] vectors) throws IOException {
        int width = vectors[0].length;
        ByteBuffer bytes =
                ByteBuffer.allocate(vectors.length * (1 + width) * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float[] vector : vectors) {
            bytes.putInt(width);
            for (float value : vector) {
                bytes.putFloat(value);
            }
        }
        Files.write(file, bytes.array());
    }
}
