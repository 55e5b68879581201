package io.github.roost.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.roost.testkit.Effort;
import io.github.roost.vector.FileFormatException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are damaged, and processes that are killed. */
class TableFileTest {
    private static final Schema SCHEMA = Schema.of(Column.ofLong("of"), Column.ofText("text"));
    private static final int ROWS = 20;
    private static final int CRASHES = Effort.times(3);
    /** Where the only block of the body begins. */
    private static final int BODY = 4_096;

    @TempDir
    Path folder;

    private Path file;
    private byte[] whole;

    @BeforeEach
    void sealTwo() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            seal(table, 1, ROWS);
            table.publish(1);
            seal(table, 2, ROWS);
        }
        file = folder.resolve("version-2.roost");
        whole = Files.readAllBytes(file);
    }

    private static void seal(VersionedRows table, long version, int rows) throws IOException {
        try (VersionBuilder loading = table.begin(version, SCHEMA)) {
            RowWriter row = loading.writer();
            for (int key = 0; key < rows; key++) {
                loading.put(key, row.setLong(0, version).setText(1, key + " of " + version));
            }
            loading.seal();
        }
    }

    private static void assertWhole(VersionedRows table, long version, int rows) {
        RowBatch batch = RowBatch.onHeap();
        long[] keys = new long[rows];
        Arrays.setAll(keys, key -> key);
        try (VersionedRows.Reader reader = table.reader()) {
            assertEquals(rows, reader.getAll(version, keys, batch, List.of()));
        }
        for (int key = 0; key < rows; key++) {
            assertEquals(version, batch.getLong(key, 0));
            assertEquals(key + " of " + version, batch.getText(key, 1));
        }
    }

    private String refusal(byte[] content) throws IOException {
        Files.write(file, content);
        try (VersionedRows table = VersionedRows.open(folder)) {
            String message = String.valueOf(assertThrows(FileFormatException.class, () -> table.publish(2))
                    .getMessage());
            assertEquals(1, table.current());
            assertWhole(table, 1, ROWS);
            assertTrue(message.startsWith(file.toString()), message);
            return message.substring(file.toString().length());
        }
    }

    @Test
    void aFolderIsOpenOnceAndARefusedOpeningGivesItToNobody() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolveSibling("link-" + folder.getFileName()), folder);
        try (VersionedRows table = VersionedRows.open(folder)) {
            for (Path name : List.of(folder, link, folder)) {
                String message = assertThrows(IOException.class, () -> VersionedRows.open(name))
                        .getMessage();
                assertEquals(name + " is the folder of an open table", message);
            }
            assertWhole(table, 1, ROWS);
        }
        VersionedRows.open(link).close();
        Files.delete(link);
    }

    @Tag("stress")
    @Test
    void everyFlippedByteIsFoundAndTheOldVersionStays() throws IOException {
        Random random = new Random(28);
        try (VersionedRows table = VersionedRows.open(folder)) {
            for (int at = 0; at < whole.length; at++) {
                byte[] damaged = whole.clone();
                damaged[at] ^= (byte) (1 << random.nextInt(8));
                Files.write(file, damaged);
                int flipped = at;
                assertThrows(FileFormatException.class, () -> table.publish(2), () -> "byte " + flipped);
                assertEquals(List.of(1L), table.liveVersions());
            }
            assertWhole(table, 1, ROWS);
            Files.write(file, whole);
            table.publish(2);
            assertWhole(table, 2, ROWS);
        }
    }

    @Tag("stress")
    @Test
    void everyTruncatedFileIsFound() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            for (int length = 0; length < whole.length; length++) {
                Files.write(file, Arrays.copyOf(whole, length));
                assertThrows(FileFormatException.class, () -> table.publish(2));
            }
            Files.write(file, Arrays.copyOf(whole, whole.length + 1));
            assertThrows(FileFormatException.class, () -> table.publish(2));
        }
    }

    @Test
    void foreignNewerAndRenamedFilesAreNamed() throws IOException {
        assertEquals(
                " is not a version of rows by keys: it begins with 0000000000000000,"
                        + " a version of rows by keys with 524f53545441424c (at byte 0)",
                refusal(new byte[1_000]));
        byte[] newer = whole.clone();
        newer[8] = 3;
        assertEquals(" is of version 3, this library reads 2 (at byte 8)", refusal(newer));
        byte[] other = Files.readAllBytes(folder.resolve("version-1.roost"));
        assertEquals(" is version 1, not 2 (at byte 16)", refusal(other));
        String truncated = refusal(Arrays.copyOf(whole, whole.length - 1));
        assertTrue(truncated.contains((whole.length - 1) + " bytes, not the " + whole.length), truncated);
    }

    @Test
    void rightChecksumsAreNotEnough() throws IOException {
        int body = BODY;
        assertEquals(" has key 0 twice (at byte 4096)", refusal(forged(content -> {
            content.putLong(body, 0);
            content.putLong(body + 16, 0);
        })));
        assertTrue(
                refusal(forged(content -> content.putLong(body + 8, 1L << 40))).contains("beyond its values"));
        assertTrue(refusal(forged(content -> content.putLong(body + 8, -2))).contains("beyond its values"));
        for (int bytes : new int[] {-1, 0, 11, 1 << 30, Integer.MAX_VALUE}) {
            String refused = refusal(forged(content -> content.putInt(body + 16 * ROWS, bytes)));
            assertTrue(refused.contains("has a row"), refused);
        }
        assertTrue(refusal(forged(content -> content.putInt(body + 16 * ROWS + 12, 1 << 20)))
                .contains("has a value that ends at 1048576"));
    }

    private interface Forgery {
        void apply(ByteBuffer content);
    }

    /** A file with another content, and the checksum of that. */
    private byte[] forged(Forgery forgery) {
        byte[] bytes = whole.clone();
        ByteBuffer content = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        forgery.apply(content);
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(16).putLong(2).putLong(0).flip());
        crc.update(bytes, BODY, bytes.length - BODY - 4);
        content.putInt(bytes.length - 4, (int) crc.getValue());
        return bytes;
    }

    @Test
    void whatNamesTheCurrentVersionIsChecked() throws IOException {
        for (String content :
                List.of("", "version 1", "version 0\n", "version x\n", "version 1\n\n", "version 1\n".repeat(100))) {
            Files.writeString(folder.resolve("current"), content);
            assertThrows(FileFormatException.class, () -> VersionedRows.open(folder));
        }
        Files.writeString(folder.resolve("current"), "version 2\n");
        try (VersionedRows table = VersionedRows.open(folder)) {
            assertWhole(table, 2, ROWS);
        }
    }

    /** Seals and publishes until it is killed; says what it has published. */
    static final class Publisher {
        private Publisher() {}

        public static void main(String[] arguments) throws IOException {
            try (VersionedRows table = VersionedRows.open(Path.of(arguments[0]))) {
                for (long version = table.current() + 1; ; version++) {
                    if (!table.sealedVersions().contains(version)) {
                        seal(table, version, (int) (version % 7 * 5_000));
                    }
                    table.publish(version);
                    System.out.println(version);
                }
            }
        }
    }

    @Tag("program")
    @Test
    void killedAtAnyMomentEverySealedVersionIsWhole() throws IOException, InterruptedException {
        Path own = Files.createDirectory(folder.resolve("own"));
        Random random = new Random(28);
        for (int crash = 0; crash < CRASHES; crash++) {
            Process process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElse("java"),
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Publisher.class.getName(),
                            own.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            long published = 0;
            try (BufferedReader lines = process.inputReader()) {
                // A random number of versions, and a random moment in the next one.
                for (int i = random.nextInt(1, 12); i > 0; i--) {
                    String line = lines.readLine();
                    published = Long.parseLong(line);
                }
                LockSupport.parkNanos(random.nextInt(1_000_000));
                // By its handle: that leaves what it has written to be read.
                process.toHandle().destroyForcibly();
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    published = Long.parseLong(line);
                }
            }
            try (VersionedRows table = VersionedRows.open(own)) {
                assertTrue(table.current() >= published, table.current() + " after " + published);
                for (long version : table.sealedVersions()) {
                    table.load(version);
                    assertWhole(table, version, (int) (version % 7 * 5_000));
                }
            }
        }
    }
}
