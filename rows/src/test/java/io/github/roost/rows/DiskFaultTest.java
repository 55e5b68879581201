package io.github.roost.rows;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A JVM of its own seals and publishes while each of its calls that change files fails in turn, or is the last that it does: see
 * {@code src/test/c/faults.c}. Whatever that call is, every sealed version is whole, and what was current is.
 */
@Tag("program")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway.Init")
class DiskFaultTest {
    private static final Schema SCHEMA = Schema.of(Column.ofLong("of"), Column.ofText("text"));
    private static final int EIO = 5;
    private static final int ENOSPC = 28;
    private static final int KILL = -1;
    /** More than one block of a file. */
    private static final int ROWS = 1_500;

    private static final String PADDING = "x".repeat(1_000);

    private static final int KILLED = 137;

    @TempDir
    private Path folder;

    private Path library;
    private Path control;
    private Path data;

    @BeforeEach
    void compile() throws Exception {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(":")).anyMatch(path -> Files.isExecutable(Path.of(path, "cc"))),
                "needs a C compiler: apt-get install gcc libc6-dev");
        library = folder.resolve("faults.so");
        control = Files.write(folder.resolve("control"), new byte[8]);
        data = Files.createDirectory(folder.resolve("data")).toRealPath();
        Process cc = new ProcessBuilder(
                        "cc",
                        "-shared",
                        "-fPIC",
                        "-O1",
                        "-Wall",
                        "-Werror",
                        "-o",
                        library.toString(),
                        "src/test/c/faults.c",
                        "-ldl")
                .redirectErrorStream(true)
                .start();
        String said = new String(cc.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, cc.waitFor(), said);
    }

    /** What the JVM does, told by its arguments: the folder, the file that controls failures, and what is to fail. */
    static final class Sealer {
        private final Path data;
        private final MappedByteBuffer control;

        private Sealer(Path data, Path control) throws IOException {
            this.data = data;
            try (FileChannel channel = FileChannel.open(control, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                this.control = channel.map(FileChannel.MapMode.READ_WRITE, 0, 8);
            }
            this.control.order(ByteOrder.nativeOrder());
        }

        public static void main(String[] arguments) throws IOException {
            Sealer sealer = new Sealer(Path.of(arguments[0]), Path.of(arguments[1]));
            int errno = Integer.parseInt(arguments[2]);
            if (errno == KILL) {
                sealer.dieAt(Integer.parseInt(arguments[3]));
            } else {
                sealer.failAtEach(errno);
            }
        }

        /** Fails the n-th call from now. */
        private void arm(int calls, int errno) {
            control.putInt(4, errno);
            control.putInt(0, calls);
        }

        /** Whether the call that was to fail has come, and ends that one fails. */
        private boolean disarm() {
            boolean hasFailed = control.getInt(0) < 0;
            control.putInt(4, 0);
            return hasFailed;
        }

        /** Has each call of a seal fail in turn, then each of a publication, until none is left; says how many failed. */
        private void failAtEach(int errno) throws IOException {
            try (VersionedRows table = VersionedRows.open(data)) {
                int ofSeals = 0;
                long version = 2;
                while (sealFails(table, version, ofSeals, errno)) {
                    ofSeals++;
                    version++;
                }
                int ofPublications = 0;
                version++;
                seal(table, version);
                while (publicationFails(table, version, ofPublications, errno)) {
                    ofPublications++;
                    version++;
                    seal(table, version);
                }
                System.out.println(ofSeals + " " + ofPublications);
            }
        }

        private boolean sealFails(VersionedRows table, long version, int calls, int errno) throws IOException {
            boolean hasFailed;
            try (VersionBuilder loading = load(table, version)) {
                arm(calls, errno);
                boolean isSealed = false;
                try {
                    loading.seal();
                    isSealed = true;
                } catch (IOException e) {
                    requireNothingHalf();
                }
                hasFailed = disarm();
                require(isSealed != hasFailed, "call " + calls + " of a seal failed unseen");
                requireWhole(table, table.current());
                if (!isSealed) {
                    // It is said that it may be sealed again.
                    loading.seal();
                }
            }
            table.publish(version);
            requireWhole(table, version);
            return hasFailed;
        }

        private boolean publicationFails(VersionedRows table, long version, int calls, int errno) throws IOException {
            long before = table.current();
            arm(calls, errno);
            boolean isPublished = false;
            try {
                table.publish(version);
                isPublished = true;
            } catch (IOException e) {
                requireNothingHalf();
            }
            boolean hasFailed = disarm();
            require(table.current() == (isPublished ? version : before), "another version is current");
            requireWhole(table, table.current());
            table.publish(version);
            requireWhole(table, version);
            return hasFailed;
        }

        private static void seal(VersionedRows table, long version) throws IOException {
            try (VersionBuilder loading = load(table, version)) {
                loading.seal();
            }
        }

        private void requireNothingHalf() throws IOException {
            try (Stream<Path> files = Files.list(data)) {
                List<Path> drafts =
                        files.filter(file -> file.toString().endsWith(".part")).toList();
                require(drafts.isEmpty(), drafts + " are left");
            }
        }

        /** Seals and publishes versions 2 and 3, of whose calls the n-th call is the last. */
        private void dieAt(int calls) throws IOException {
            try (VersionedRows table = VersionedRows.open(data)) {
                arm(calls, KILL);
                for (long version = 2; version <= 3; version++) {
                    seal(table, version);
                    table.publish(version);
                    // Beside what is counted: standard output is another file.
                    System.out.println(version);
                }
            }
            System.out.println("alive");
        }
    }

    private static VersionBuilder load(VersionedRows table, long version) throws IOException {
        VersionBuilder loading = table.begin(version, SCHEMA, ROWS);
        RowWriter row = loading.writer();
        for (int key = 0; key < ROWS; key++) {
            loading.put(key, row.setLong(0, version).setText(1, key + " of " + version + PADDING));
        }
        return loading;
    }

    private static void require(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new AssertionError(otherwise);
        }
    }

    private static void requireWhole(VersionedRows table, long version) {
        RowBatch batch = RowBatch.onHeap();
        long[] keys = new long[ROWS];
        Arrays.setAll(keys, key -> key);
        try (VersionedRows.Reader reader = table.reader()) {
            require(reader.getAll(version, keys, batch, List.of()) == ROWS, "rows are missing in " + version);
        }
        for (int key = 0; key < ROWS; key++) {
            require(
                    batch.getLong(key, 0) == version && batch.getText(key, 1).equals(key + " of " + version + PADDING),
                    "row " + key + " of version " + version + " is another");
        }
    }

    private Process sealer(int errno, int calls) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Sealer.class.getName(),
                data.toString(),
                control.toString(),
                Integer.toString(errno),
                Integer.toString(calls)));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment()
                .putAll(Map.of(
                        "LD_PRELOAD", library.toString(),
                        "ROOST_FAULT_FOLDER", data.toString(),
                        "ROOST_FAULT_CONTROL", control.toString()));
        return builder.start();
    }

    private void sealFirst() throws IOException {
        try (VersionedRows table = VersionedRows.open(data)) {
            Sealer.seal(table, 1);
            table.publish(1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {EIO, ENOSPC})
    void whicheverCallFailsTheVersionBeforeStaysAndSealingIsPossibleAgain(int errno) throws Exception {
        sealFirst();
        Process sealer = sealer(errno, 0);
        List<String> lines = sealer.inputReader().lines().toList();
        assertEquals(0, sealer.waitFor(), () -> String.join("\n", lines));
        // The blocks, their sync, the move, the sync of the folder; and the same of what names the current version.
        String[] calls = lines.getLast().split(" ", -1);
        assertTrue(Integer.parseInt(calls[0]) >= 4, lines.toString());
        assertTrue(Integer.parseInt(calls[1]) >= 4, lines.toString());
        try (VersionedRows table = VersionedRows.open(data)) {
            requireWhole(table, table.current());
        }
    }

    @Test
    void whicheverCallIsTheLastEverySealedVersionIsWholeAndNothingPublishedIsForgotten() throws Exception {
        int kills = 0;
        boolean isAlive = false;
        for (int calls = 0; !isAlive; calls++) {
            try (Stream<Path> files = Files.list(data)) {
                files.forEach(DiskFaultTest::delete);
            }
            sealFirst();
            Process sealer = sealer(KILL, calls);
            List<String> lines = sealer.inputReader().lines().toList();
            isAlive = sealer.waitFor() == 0;
            if (!isAlive) {
                assertEquals(KILLED, sealer.waitFor(), () -> String.join("\n", lines));
                kills++;
            }
            long published = lines.stream()
                    .filter(line -> !line.isEmpty() && line.chars().allMatch(Character::isDigit))
                    .mapToLong(Long::parseLong)
                    .max()
                    .orElse(1);
            try (VersionedRows table = VersionedRows.open(data)) {
                assertTrue(table.current() >= published, table.current() + " after " + published);
                requireWhole(table, table.current());
                for (long version : table.sealedVersions()) {
                    table.load(version);
                    requireWhole(table, version);
                }
                try (Stream<Path> files = Files.list(data)) {
                    assertTrue(files.noneMatch(file -> file.toString().endsWith(".part")));
                }
            }
        }
        assertTrue(kills > 10, kills + " kills");
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
