package io.github.roost.core.vector;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Any bytes under the name of a vector file: refused by name, or read row by row without leaving the file. */
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
            } catch (VectorFileException refused) {
                assertThat(refused).hasMessageContaining(file.toString());
            } catch (UncheckedIOException refused) {
                assertThat(refused).hasCauseInstanceOf(VectorFileException.class);
            }
        } finally {
            Files.delete(file);
        }
    }
}
