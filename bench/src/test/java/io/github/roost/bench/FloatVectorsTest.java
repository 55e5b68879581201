package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FloatVectorsTest {
    @TempDir
    Path folder;

    @Test
    void whatIsWrittenIsReadBackAlsoAcrossTheReadersBuffers() throws IOException {
        Random random = new Random(1);
        float[][] vectors = new float[3_000][130];
        for (float[] vector : vectors) {
            for (int i = 0; i < vector.length; i++) {
                vector[i] = random.nextFloat() - .5f;
            }
        }
        Path file = folder.resolve("v.fvecs");

        FloatVectors.write(file, vectors);

        assertThat(FloatVectors.read(file)).isDeepEqualTo(vectors);
        assertThat(Files.size(file)).isEqualTo(3_000 * (4 + 4 * 130));
    }

    @Test
    void rowsAreALittleEndianWidthAndLittleEndianFloats() throws IOException {
        Path file = folder.resolve("v.fvecs");
        Files.write(file, new byte[] {2, 0, 0, 0, 0, 0, (byte) 0x80, 0x3f, 0, 0, 0, (byte) 0xc0});

        assertThat(FloatVectors.read(file)).isDeepEqualTo(new float[][] {{1f, -2f}});
    }

    static Stream<Arguments> brokenFiles() {
        return Stream.of(
                Arguments.of("no bytes", bytes(), "is empty"),
                Arguments.of("half a width", new byte[] {1, 0}, "truncated"),
                Arguments.of("width zero", bytes(0), "width 0"),
                Arguments.of("negative width", bytes(-4, 1, 1, 1), "width -4"),
                Arguments.of("huge width", bytes(Integer.MAX_VALUE, 0, 0), "width 2147483647"),
                Arguments.of("a row cut short", bytes(2, 0, 0, 2, 0), "truncated or of mixed widths"),
                Arguments.of("a row cut inside a value", new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 1, 0}, "truncated"),
                Arguments.of("another width later", bytes(1, 0, 3, 0), "row 1 of width 3"),
                Arguments.of("another width that fits the size", bytes(2, 0, 0, 5, 0, 0), "row 1 of width 5"),
                Arguments.of("NaN", bytes(1, 0, 1, Float.floatToIntBits(Float.NaN)), "NaN in row 1, column 0"),
                Arguments.of(
                        "infinity", bytes(1, Float.floatToIntBits(Float.NEGATIVE_INFINITY)), "-Infinity in row 0"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("brokenFiles")
    void aBrokenFileIsRefusedByItsNameAndFault(String what, byte[] content, String fault) throws IOException {
        Path file = folder.resolve("broken.fvecs");
        Files.write(file, content);

        assertThatThrownBy(() -> FloatVectors.read(file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("broken.fvecs")
                .hasMessageContaining(fault);
    }

    @Test
    void aMissingFileAndADirectoryAreRefused() {
        assertThatThrownBy(() -> FloatVectors.read(folder.resolve("none")))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("does not exist");
        assertThatThrownBy(() -> FloatVectors.read(folder))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("is a directory");
    }

    @Test
    void rowsOfDifferentWidthsAreNotWritten() {
        Path file = folder.resolve("v.fvecs");

        assertThatThrownBy(() -> FloatVectors.write(file, new float[][] {{1}, {1, 2}}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got 2 in row 1");
        assertThat(file).doesNotExist();
    }

    private static byte[] bytes(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            buffer.putInt(value);
        }
        return buffer.array();
    }
}
