package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.FileFormatException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Scale;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Saved tables with bytes changed at random. A file whose front has the checksum of its bytes may be one that this library
 * would not have written: it is refused by name when it is opened, when it is verified, or by the searches that meet the fault.
 */
@Tag("stress")
class FuzzedFileTest {
    private static final int ROWS = 150;
    private static final int DIMENSION = 7;
    private static final int LISTS = 4;
    private static final int HEAD_BYTES = 72 + 8 * LISTS;

    @SuppressWarnings("NullAway.Init")
    private static Orchestrator orchestrator;

    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    private static byte[] good = {};

    @BeforeContainer
    static void save() throws IOException {
        orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build();
        folder = Files.createTempDirectory("roost-fuzzed");
        Random random = new Random(5);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        Path file = folder.resolve("good");
        try (IvfTable table = IvfTable.builder().nlist(LISTS).codes(false).build(orchestrator, rows)) {
            table.save(file);
            good = Files.readAllBytes(file);
        }
    }

    @AfterContainer
    static void close() throws IOException {
        orchestrator.close();
        Files.deleteIfExists(folder.resolve("good"));
        Files.deleteIfExists(folder.resolve("fuzzed"));
        Files.delete(folder);
    }

    @Property(tries = 300)
    void aTableIsRefusedOrSearched(
            @ForAll @DoubleRange(min = 0, max = 1) @Scale(5) double place,
            @ForAll boolean isInHead,
            @ForAll int value,
            @ForAll @IntRange(min = 0, max = 3) int small)
            throws IOException {
        ByteBuffer file = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        int at = (int) (place * ((isInHead ? HEAD_BYTES : good.length) - Integer.BYTES)) & -4;
        file.putInt(at, small == 0 ? value : small);
        int front = HEAD_BYTES + LISTS * DIMENSION * Float.BYTES + ROWS * Long.BYTES;
        CRC32C checksum = new CRC32C();
        checksum.update(file.slice(0, front));
        file.putLong(front, checksum.getValue());
        Path fuzzed = Files.write(folder.resolve("fuzzed"), file.array());
        try (IvfTable table = IvfTable.open(orchestrator, "fuzzed", fuzzed)) {
            boolean isWhole = isWhole(table);
            try {
                assertThat(table.search(ones(table.dimension()), 10, LISTS)
                                .join()
                                .size())
                        .isEqualTo(10);
                assertThat(isWhole).as("a table whose every list was searched").isTrue();
            } catch (CompletionException failed) {
                assertThat(isWhole).isFalse();
                assertThat(failed).hasCauseInstanceOf(UncheckedIOException.class);
                assertThat(failed).hasRootCauseInstanceOf(FileFormatException.class);
            }
        } catch (FileFormatException refused) {
            assertThat(refused).hasMessageContaining(fuzzed.toString());
        }
    }

    private static float[] ones(int dimension) {
        float[] query = new float[dimension];
        Arrays.fill(query, 1);
        return query;
    }

    private static boolean isWhole(IvfTable table) throws IOException {
        try {
            table.verify();
            return true;
        } catch (FileFormatException damaged) {
            return false;
        }
    }
}
