package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Damage;
import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** An ivecs file, as of {@code --truth}, of any bytes: refused by name, or read as it stands. */
@Tag("stress")
class FuzzedOrdinalRowsTest {
    private static final int QUERIES = 5;
    private static final int WIDTH = 4;
    private static final int K = 3;
    private static final int BASE = 40;

    @Provide
    static Arbitrary<Damage> any() {
        return Damage.any();
    }

    @Property(tries = 600)
    void aDamagedFileIsRefusedOrReadAsItStands(@ForAll("any") Damage damage) throws IOException {
        requireRefusedOrRead(damage.in(good()));
    }

    @Property(tries = 600)
    void anyBytesAreRefusedOrReadAsTheyStand(
            @ForAll @IntRange(min = -2, max = 12) int first, @ForAll @Size(max = 200) byte[] rest) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + rest.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(first).put(rest);
        requireRefusedOrRead(bytes.array());
    }

    private static byte[] good() {
        ByteBuffer bytes =
                ByteBuffer.allocate(QUERIES * (1 + WIDTH) * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int row = 0; row < QUERIES; row++) {
            bytes.putInt(WIDTH);
            for (int i = 0; i < WIDTH; i++) {
                bytes.putInt(row + 9 * i);
            }
        }
        return bytes.array();
    }

    private static void requireRefusedOrRead(byte[] bytes) throws IOException {
        Path file = Files.createTempFile("fuzzed-", ".ivecs");
        try {
            Files.write(file, bytes);
            int[][] truth = OrdinalRows.readTruth(file, QUERIES, K, BASE);
            IntBuffer numbers =
                    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
            int width = numbers.get(0);
            assertThat(bytes).hasSize(QUERIES * (1 + width) * Integer.BYTES);
            for (int row = 0; row < QUERIES; row++) {
                assertThat(numbers.get(row * (1 + width))).isEqualTo(width);
                int[] stands = new int[K];
                numbers.get(row * (1 + width) + 1, stands);
                assertThat(truth[row]).isEqualTo(stands).doesNotHaveDuplicates();
                assertThat(Arrays.stream(stands)).allMatch(ordinal -> ordinal >= 0 && ordinal < BASE);
            }
        } catch (FileFormatException refused) {
            assertThat(refused).hasMessageStartingWith(file.toString());
        } finally {
            Files.delete(file);
        }
    }
}
