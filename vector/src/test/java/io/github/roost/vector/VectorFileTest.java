package io.github.roost.vector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VectorFileTest {
    private static final int ROWS = 5;
    private static final int DIMENSION = 3;

    @TempDir
    private Path folder;

    private Path file(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    /** Component d of row r is 10 r + d in every format. */
    private static byte[] bytes(String format) {
        ByteBuffer out = ByteBuffer.allocate(1_000).order(ByteOrder.LITTLE_ENDIAN);
        boolean widthPerRow = format.endsWith("vecs");
        if (!widthPerRow) {
            out.putInt(ROWS).putInt(DIMENSION);
        }
        for (int row = 0; row < ROWS; row++) {
            if (widthPerRow) {
                out.putInt(DIMENSION);
            }
            for (int d = 0; d < DIMENSION; d++) {
                int value = 10 * row + d;
                switch (format) {
                    case "fvecs", "fbin" -> out.putFloat(value);
                    case "f16bin" -> out.putShort(Float.floatToFloat16(value));
                    default -> out.put((byte) value);
                }
            }
        }
        byte[] written = new byte[out.position()];
        out.flip().get(written);
        return written;
    }

    @ParameterizedTest
    @ValueSource(strings = {"fvecs", "bvecs", "fbin", "u8bin", "i8bin", "f16bin"})
    void everyFormatGivesItsRows(String format) throws IOException {
        try (VectorFile vectors = VectorFile.open(file("rows." + format, bytes(format)))) {
            assertThat(vectors.size()).isEqualTo(ROWS);
            assertThat(vectors.dimension()).isEqualTo(DIMENSION);
            for (int row = 0; row < ROWS; row++) {
                assertThat(vectors.row(row)).containsExactly(10 * row, 10 * row + 1, 10 * row + 2);
            }
            assertThat(vectors.slice(2, 4).row(1)).containsExactly(30, 31, 32);
            assertThatThrownBy(() -> vectors.row(ROWS)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> vectors.read(0, new float[2])).hasMessageContaining("3 components, got 2");
        }
    }

    @Test
    void bytesAreSignedOrNotAsTheNameSays() throws IOException {
        byte[] one = {1, 0, 0, 0, 1, 0, 0, 0, (byte) 0xFE};
        try (VectorFile unsigned = VectorFile.open(file("a.u8bin", one));
                VectorFile signed = VectorFile.open(file("a.i8bin", one))) {
            assertThat(unsigned.row(0)).containsExactly(254);
            assertThat(signed.row(0)).containsExactly(-2);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "fvecs, 1",
        "bvecs, 1",
        "fbin, 1",
        "u8bin, 1",
        "i8bin, 2",
        "f16bin, 1",
        "fvecs, 77",
        "fbin, 67",
        "fbin, 61"
    })
    void aTruncatedFileIsRefusedByName(String format, int cut) throws IOException {
        byte[] whole = bytes(format);
        Path file = file("cut." + format, Arrays.copyOf(whole, whole.length - cut));
        assertThatThrownBy(() -> VectorFile.open(file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("cut." + format)
                .hasMessageContaining("truncated");
    }

    @Test
    void otherFilesAreRefusedByName() throws IOException {
        assertThatThrownBy(() -> VectorFile.open(file("rows.txt", new byte[8])))
                .hasMessageContaining("rows.txt must end in .fvecs");
        assertThatThrownBy(() -> VectorFile.open(folder.resolve("none.fbin"))).hasMessageContaining("does not exist");
        assertThatThrownBy(() -> VectorFile.open(Files.createDirectory(folder.resolve("d.fbin"))))
                .hasMessageContaining("is not a regular file");
        assertThatThrownBy(() -> VectorFile.open(file("empty.fvecs", new byte[0])))
                .hasMessageContaining("empty.fvecs is empty");
        assertThatThrownBy(() -> VectorFile.open(file("wide.fvecs", new byte[] {0, 0, 1, 0, 0, 0, 0, 0})))
                .hasMessageContaining("65,536 dimensions");
        assertThatThrownBy(() -> VectorFile.open(file("none.fbin", new byte[] {0, 0, 0, 0, 4, 0, 0, 0})))
                .hasMessageContaining("0 rows");
    }

    @Test
    void aRowOfAnotherWidthIsFoundWhenItIsRead() throws IOException {
        byte[] mixed = bytes("fvecs");
        mixed[16] = 2;
        try (VectorFile vectors = VectorFile.open(file("mixed.fvecs", mixed))) {
            assertThat(vectors.row(0)).hasSize(DIMENSION);
            assertThatThrownBy(() -> vectors.row(1))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("row 1 of width 2, but row 0 has 3");
        }
    }

    @Test
    void readingAClosedFileIsAnException() throws IOException {
        VectorFile vectors = VectorFile.open(file("rows.fbin", bytes("fbin")));
        vectors.close();
        vectors.close();
        assertThatThrownBy(() -> vectors.row(0)).isInstanceOf(IllegalStateException.class);
    }

    /** Whatever bytes a file has: it is refused, or all rows that it says it has can be read. */
    @Tag("stress")
    @Test
    void anyBytesAreRefusedOrReadWithinTheFile() throws IOException {
        Random random = new Random(7);
        String[] formats = {"fvecs", "bvecs", "fbin", "u8bin", "i8bin", "f16bin"};
        int opened = 0;
        for (int round = 0; round < 3_000; round++) {
            String format = formats[round % formats.length];
            byte[] bytes = bytes(format);
            for (int change = random.nextInt(4); change >= 0; change--) {
                bytes[random.nextInt(random.nextBoolean() ? 8 : bytes.length)] = (byte) random.nextInt(8);
            }
            Path file = file("fuzz." + format, Arrays.copyOf(bytes, bytes.length - random.nextInt(3)));
            try (VectorFile vectors = VectorFile.open(file)) {
                opened++;
                assertThat(vectors.dimension()).isBetween(1, Vectors.MAX_DIMENSIONS);
                for (int row = 0; row < vectors.size(); row++) {
                    vectors.row(row);
                }
            } catch (FileFormatException | UncheckedIOException refused) {
                assertThat(refused.getMessage()).contains("fuzz." + format);
            }
        }
        assertThat(opened).isBetween(100, 2_900);
    }

    @Test
    void arraysAreSourcesToo() {
        assertThat(VectorSource.of(new float[][] {{1, 2}, {3, 4}}).row(1)).containsExactly(3, 4);
        assertThat(VectorSource.of(new byte[][] {{1, -2}}).row(0)).containsExactly(1, -2);
        assertThat(VectorSource.ofFloat16(new short[][] {{Float.floatToFloat16(.5f)}})
                        .row(0))
                .containsExactly(.5f);
        assertThatThrownBy(() -> VectorSource.of(new float[0][])).hasMessageContaining("got none");
        assertThatThrownBy(() -> VectorSource.of(new float[][] {{1}, {1, 2}}))
                .hasMessageContaining("vector 1 must have 1 dimensions, got 2");
    }
}
