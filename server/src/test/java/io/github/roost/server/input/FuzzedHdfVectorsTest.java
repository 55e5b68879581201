package io.github.roost.server.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Damaged HDF5 files: refused by name when they are opened or when a row is read, or read, with other numbers maybe, for their data have
 * no checksums. Two are of h5py, which ann-benchmarks uses: rows in one piece, and compressed ones in chunks.
 */
@Tag("stress")
@SuppressWarnings("NullAway.Init")
class FuzzedHdfVectorsTest {
    /** A header that claims two gigabytes takes the library seconds, and more on a busy machine. */
    private static final Duration LONG = Duration.ofMinutes(2);

    private static Path folder;
    private static Path file;
    private static byte[][] good;

    /** Bytes at a place that are written over or, for 0 bytes, the end of the file there. */
    record Edit(double place, int bytes, long value) {
        byte[] in(byte[] before) {
            int at = (int) (place * before.length);
            if (bytes == 0 || before.length < Long.BYTES) {
                return Arrays.copyOf(before, at);
            }
            byte[] after = before.clone();
            ByteBuffer buffer = ByteBuffer.wrap(after).order(ByteOrder.LITTLE_ENDIAN);
            switch (bytes) {
                case 1 -> buffer.put(at, (byte) value);
                case 2 -> buffer.putShort(Math.min(at, after.length - 2), (short) value);
                case 4 -> buffer.putInt(Math.min(at, after.length - 4) & -2, (int) value);
                default -> buffer.putLong(Math.min(at, after.length - 8) & -8, value);
            }
            return after;
        }
    }

    @BeforeContainer
    static void write() throws IOException {
        folder = Files.createTempDirectory("roost-fuzzed");
        file = folder.resolve("fuzzed.hdf5");
        try (WritableHdfFile hdf = HdfFile.write(file)) {
            hdf.putDataset("train", new double[][] {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
            hdf.putAttribute("distance", "angular");
        }
        good = new byte[][] {Files.readAllBytes(file), resource("contiguous.hdf5"), resource("chunked.hdf5")};
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = FuzzedHdfVectorsTest.class.getResourceAsStream(name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    @AfterContainer
    static void delete() throws IOException {
        Files.deleteIfExists(file);
        Files.delete(folder);
    }

    @Provide
    static Arbitrary<Edit> edits() {
        Arbitrary<Long> values = Arbitraries.oneOf(
                Arbitraries.of(0L, 1L, -1L, 255L, (long) Integer.MAX_VALUE, 1L << 31, Long.MAX_VALUE, Long.MIN_VALUE),
                Arbitraries.longs());
        return Combinators.combine(
                        Arbitraries.doubles().between(0, true, 1, false).ofScale(5),
                        Arbitraries.of(0, 1, 1, 2, 4, 8, 8),
                        values)
                .as(Edit::new);
    }

    @Example
    void compressedChunksHaveTheRowsThatAreInOnePieceElsewhere() throws IOException {
        Path other = folder.resolve("other.hdf5");
        Files.write(file, good[1]);
        Files.write(other, good[2]);
        try (HdfVectors whole = HdfVectors.open(file, HdfVectors.ROWS);
                HdfVectors chunked = HdfVectors.open(other, HdfVectors.ROWS)) {
            for (int row = 0; row < whole.size(); row++) {
                assertThat(chunked.row(row)).containsExactly(whole.row(row)).doesNotContain(0);
            }
        }
        Files.delete(other);
    }

    @Example
    void aFileThatWasCutShortIsRefused() throws IOException {
        for (byte[] whole : good) {
            for (int length = 0; length < whole.length; length += 7) {
                Files.write(file, Arrays.copyOf(whole, length));
                assertThatThrownBy(() -> HdfVectors.open(file, HdfVectors.ROWS))
                        .isInstanceOf(IOException.class)
                        .hasMessageStartingWith(file + " cannot be read as HDF5: it has " + length + " bytes");
                assertThatThrownBy(() -> HdfVectors.metric(file)).hasMessageStartingWith(file.toString());
            }
        }
    }

    @Property(tries = 600)
    void aDamagedFileIsRefusedOrRead(
            @ForAll @IntRange(max = 2) int which, @ForAll @Size(min = 1, max = 2) List<@From("edits") Edit> edits)
            throws IOException {
        byte[] bytes = good[which];
        for (Edit edit : edits) {
            bytes = edit.in(bytes);
        }
        Files.write(file, bytes);
        assertTimeoutPreemptively(LONG, () -> {
            try {
                assertThat(HdfVectors.metric(file)).isNotNull();
            } catch (IOException refused) {
                assertThat(refused).hasMessageStartingWith(file.toString());
            }
            try (HdfVectors vectors = HdfVectors.open(file, HdfVectors.ROWS)) {
                float[] row = new float[vectors.dimension()];
                vectors.read(0, row);
                vectors.read(vectors.size() - 1, row);
            } catch (UncheckedIOException refused) {
                assertThat(refused).hasMessageContaining(file.toString());
            } catch (IOException refused) {
                assertThat(refused).hasMessageStartingWith(file.toString());
            }
        });
    }
}
