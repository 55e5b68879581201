package io.github.roost.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store whose file lost its end or has other bits is refused, or refuses what is damaged: no other document comes back. */
class DamagedStoreTest {
    private static final int CALLS = 20;
    private static final int PER_CALL = 25;
    private static final int FLIPS = 150;

    @TempDir
    private Path folder;

    private Path file;
    private byte[] whole;

    private static Document document(int number) {
        return new Document(
                "id" + number, "The text of number " + number, Map.of("n", number), new float[] {number, -number, 1.5f
                });
    }

    @BeforeEach
    void write() throws IOException {
        file = folder.resolve("documents.mv");
        try (DocumentStore store = DocumentStore.open(folder)) {
            for (int call = 0; call < CALLS; call++) {
                store.collection("one")
                        .put(IntStream.range(call * PER_CALL, (call + 1) * PER_CALL)
                                .mapToObj(DamagedStoreTest::document)
                                .toList());
            }
        }
        whole = Files.readAllBytes(file);
    }

    @Test
    void aFileThatLostItsEndIsRefusedByName() throws IOException {
        int block = 4_096;
        for (int length = block; length < whole.length; length += 3 * block + 77) {
            byte[] cut = Arrays.copyOf(whole, length);
            Files.write(file, cut);
            for (int again = 0; again < 2; again++) {
                assertThatThrownBy(() -> DocumentStore.open(folder))
                        .describedAs("of %d bytes, %d", whole.length, length)
                        .isInstanceOf(IOException.class)
                        .hasMessageStartingWith(file.toRealPath().toString());
            }
            assertThat(file).hasBinaryContent(cut);
        }
        Files.write(file, whole);
        assertThatAllIsRight();
    }

    @Test
    void aDocumentWithAnotherTextIsRefusedByItsRow() throws IOException {
        replace("The text of number 77".getBytes(StandardCharsets.UTF_8), bytes -> bytes.put(4, (byte) 'n'));
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection one = store.collection("one");
            assertDamaged("the document of row 77 in collection 'one': its checksum is ", () -> one.get("id77"));
            assertDamaged("the document of row 77 in collection 'one': its checksum is ", one::size);
            assertThat(one.get("id78")).usingRecursiveComparison().isEqualTo(document(78));
        }
    }

    @Test
    void aVectorWithAnotherNumberIsRefusedByItsRow() throws IOException {
        byte[] vector = ByteBuffer.allocate(3 * Float.BYTES)
                .putFloat(78)
                .putFloat(-78)
                .putFloat(1.5f)
                .array();
        replace(vector, bytes -> bytes.putFloat(0, 79));
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection one = store.collection("one");
            assertDamaged("the vector of row 78 in collection 'one': its checksum is ", () -> one.get("id78"));
        }
    }

    private void assertDamaged(String what, Runnable reading) {
        assertThatThrownBy(reading::run)
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageStartingWith(file + " is damaged: " + what);
    }

    private void replace(byte[] old, Consumer<ByteBuffer> change) throws IOException {
        byte[] damaged = whole.clone();
        int places = 0;
        for (int at = 0; at + old.length <= damaged.length; at++) {
            if (Arrays.equals(damaged, at, at + old.length, old, 0, old.length)) {
                change.accept(ByteBuffer.wrap(damaged, at, old.length).slice().order(ByteOrder.BIG_ENDIAN));
                places++;
            }
        }
        assertThat(places).isPositive();
        Files.write(file, damaged);
    }

    /** Afterwards nothing holds the file: the whole one is opened in its place. */
    @Test
    void aBitThatIsAnotherGivesNoOtherDocumentAndAnErrorNamesTheFileAndLeavesItFree() throws IOException {
        Random random = new Random(3);
        int refused = 0;
        for (int flip = 0; flip < FLIPS; flip++) {
            byte[] damaged = whole.clone();
            int at = random.nextInt(damaged.length);
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            try {
                assertThatNoneIsAnother();
            } catch (IOException | UncheckedIOException named) {
                assertThat(named)
                        .describedAs("at %d", at)
                        .hasMessageContaining(file.toRealPath().toString());
                refused++;
            }
            Files.write(file, whole);
            assertThatAllIsRight();
        }
        assertThat(refused).isPositive();
    }

    private void assertThatAllIsRight() throws IOException {
        assertThat(assertThatNoneIsAnother()).isEqualTo(CALLS * PER_CALL);
    }

    /** Returns how many there are. */
    private int assertThatNoneIsAnother() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection one = store.collection("one");
            int count = 0;
            for (int number = 0; number < CALLS * PER_CALL; number++) {
                Document found = one.get("id" + number);
                if (found != null) {
                    assertThat(found).usingRecursiveComparison().isEqualTo(document(number));
                    count++;
                }
            }
            one.put(List.of(document(0)));
            return count;
        }
    }
}
