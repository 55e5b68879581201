package io.github.roost.vector;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Any bytes under the name of a vector file: refused by name, or read row by row without leaving the file. */
@Tag("stress")
class FuzzedVectorFileTest {
    @Provide
    static Arbitrary<String> formats() {
        return Arbitraries.of("fvecs", "bvecs", "fbin", "u8bin", "i8bin", "f16bin");
    }

    @Property(tries = 600)
    void anyBytesAreRefusedOrRead(
            @ForAll("formats") String format,
            @ForAll @IntRange(min = -2, max = 40) int first,
            @ForAll @IntRange(min = -2, max = 12) int second,
            @ForAll @Size(max = 200) byte[] rest)
            throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * Integer.BYTES + rest.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(first).putInt(second).put(rest);
        Path file = Files.createTempFile("fuzzed-", "." + format);
        try {
            Files.write(file, bytes.array());
            try (VectorFile vectors = VectorFile.open(file)) {
                assertThat(vectors.size()).isPositive();
                float[] row = new float[vectors.dimension()];
                for (int i = 0; i < vectors.size(); i++) {
                    vectors.read(i, row);
                }
            } catch (FileFormatException refused) {
                assertThat(refused).hasMessageContaining(file.toString());
            } catch (UncheckedIOException refused) {
                assertThat(refused).hasCauseInstanceOf(FileFormatException.class);
            }
        } finally {
            Files.delete(file);
        }
    }

    /** A change of a file: a number written over what it has at a place, or another length. */
    record Edit(double place, int value, boolean isLength) {
        byte[] in(byte[] good) {
            if (isLength) {
                return Arrays.copyOf(good, (int) (1.3 * place * good.length));
            }
            byte[] bytes = good.clone();
            ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            buffer.putInt((int) (place * (good.length - Integer.BYTES)) & -Integer.BYTES, value);
            return bytes;
        }
    }

    @Provide
    static Arbitrary<Edit> edits() {
        Arbitrary<Integer> values = Arbitraries.oneOf(
                Arbitraries.of(0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 1 << 30, 1 << 16),
                Arbitraries.integers());
        return Combinators.combine(
                        Arbitraries.doubles().between(0, true, 1, false).ofScale(4),
                        values,
                        Arbitraries.of(true, false))
                .as(Edit::new);
    }

    /** What is read is what stands there: rows of the width that the file says first, to its end. */
    @Property(tries = 300)
    void aDamagedFileIsRefusedOrReadAsItStands(@ForAll("formats") String format, @ForAll("edits") Edit edit)
            throws IOException {
        byte[] bytes = edit.in(good(format));
        Path file = Files.createTempFile("fuzzed-", "." + format);
        try {
            Files.write(file, bytes);
            try (VectorFile vectors = VectorFile.open(file)) {
                boolean isWidthPerRow = format.endsWith("vecs");
                int component = format.startsWith("f16") ? 2 : format.startsWith("f") ? 4 : 1;
                long row = (isWidthPerRow ? 4 : 0) + (long) vectors.dimension() * component;
                assertThat(vectors.size() * row + (isWidthPerRow ? 0 : 8)).isEqualTo(bytes.length);
                float[] into = new float[vectors.dimension()];
                for (int i = 0; i < vectors.size(); i++) {
                    vectors.read(i, into);
                }
            } catch (FileFormatException refused) {
                assertThat(refused).hasMessageStartingWith(file.toString());
            } catch (UncheckedIOException refused) {
                assertThat(refused).hasCauseInstanceOf(FileFormatException.class);
                assertThat(refused.getCause()).hasMessageStartingWith(file.toString());
            }
        } finally {
            Files.delete(file);
        }
    }

    /** Five rows of eight components, all bytes 1. */
    private static byte[] good(String format) {
        int component = format.startsWith("f16") ? 2 : format.startsWith("f") ? 4 : 1;
        byte[] row = new byte[8 * component];
        Arrays.fill(row, (byte) 1);
        ByteBuffer bytes = ByteBuffer.allocate(8 + 5 * (4 + row.length)).order(ByteOrder.LITTLE_ENDIAN);
        if (!format.endsWith("vecs")) {
            bytes.putInt(5).putInt(8);
        }
        for (int i = 0; i < 5; i++) {
            if (format.endsWith("vecs")) {
                bytes.putInt(8);
            }
            bytes.put(row);
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }
}
