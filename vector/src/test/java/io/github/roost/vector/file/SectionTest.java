package io.github.roost.vector.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.FileFormatException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SectionTest {
    private static final FileChecks CHECKS = new FileChecks(Path.of("table"));

    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private final SectionWriter section = new SectionWriter(Channels.newChannel(file));

    /** The buffer of a writer is left in the midst of floats, and in the midst of longs. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1_000, 300_000, 700_001})
    void aSectionOfAnyLengthIsReadAsItWasWritten(int count) throws IOException {
        float[] floats = new float[count];
        long[] longs = new long[count];
        byte[] bytes = new byte[count];
        Random random = new Random(count);
        random.nextBytes(bytes);
        for (int i = 0; i < count; i++) {
            floats[i] = random.nextFloat();
            longs[i] = random.nextLong();
        }
        section.room(Integer.BYTES).putInt(7);
        section.put(floats);
        section.put(MemorySegment.ofArray(bytes));
        section.put(longs);
        ByteBuffer expected = ByteBuffer.allocate(4 + count * 13)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(7);
        for (float value : floats) {
            expected.putFloat(value);
        }
        expected.put(bytes);
        for (long value : longs) {
            expected.putLong(value);
        }
        CRC32C checksum = new CRC32C();
        checksum.update(expected.flip().duplicate());

        long end = section.end(64);
        assertThat(end % 64).isZero();
        assertThat(file.size()).isEqualTo((int) end);
        MemorySegment written = MemorySegment.ofArray(file.toByteArray());
        long content = expected.limit();
        assertThat(written.asSlice(0, content).mismatch(MemorySegment.ofBuffer(expected)))
                .isEqualTo(-1);
        assertThat(written.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), content))
                .isEqualTo(checksum.getValue());
        assertThat(written.asSlice(content + Long.BYTES).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0);
        assertThat(CHECKS.requireSection(0, "its checksum", written.asSlice(0, content + Long.BYTES))
                        .byteSize())
                .isEqualTo(content);
    }

    @Test
    void everyFlippedBitIsFound() throws IOException {
        section.put(new float[] {1, 2, 3});
        section.end(1);
        byte[] good = file.toByteArray();
        for (int bit = 0; bit < good.length * Byte.SIZE; bit++) {
            byte[] bad = good.clone();
            bad[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatThrownBy(() -> CHECKS.requireSection(100, "its checksum", MemorySegment.ofArray(bad)))
                    .as("bit %d", bit)
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageStartingWith("table is damaged: its checksum is ")
                    .hasMessageEndingWith("(at byte 112)");
        }
    }

    @Test
    void aRefusalNamesTheValueAndWhatWasExpected() {
        assertThatThrownBy(() -> CHECKS.requireRange(8, "dimension", 5_000, 1, 4_096))
                .hasMessage("table has a dimension of 5000, it must be between 1 and 4096 (at byte 8)");
        assertThatThrownBy(() -> CHECKS.requireEqual(8, "length", 7L, 9))
                .hasMessage("table has a length of 7, it must be 9 (at byte 8)");
        assertThatThrownBy(() -> CHECKS.requireVersion(8, 4, 2, 3))
                .hasMessage("table is of version 4, this library reads 2 and 3 (at byte 8)");
        assertThatThrownBy(() -> CHECKS.requireFinite(8, "step", Float.NaN, 0))
                .hasMessage("table has a step of NaN, it must be a number and at least 0.0 (at byte 8)");
        assertThatThrownBy(() -> CHECKS.requireFinite(8, "loss", Double.POSITIVE_INFINITY, 0))
                .hasMessage("table has a loss of Infinity, it must be a number and at least 0.0 (at byte 8)");
        assertThatThrownBy(() -> CHECKS.requireHead(9, 72, "a table's head of 64"))
                .hasMessage("table is 9 bytes long, less than a table's head of 64 (at byte 0)");
    }
}
