package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Effort;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that puts rows, evicts others, seals and publishes all the time, killed at random moments. */
@Tag("program")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledColdTableTest {
    private static final int KEYS = 800;
    private static final int CRASHES = Effort.times(3);
    private static final long LITTLE = 40_000;

    @TempDir
    Path folder;

    /** What the process does: says each version that is published. */
    static final class Changer {
        private Changer() {}

        public static void main(String[] arguments) throws IOException {
            Random random = new Random(28);
            long[] some = new long[100];
            try (Orchestrator orchestrator = ColdTable.orchestrator(1);
                    BlockIo io = BlockIo.builder(orchestrator).build();
                    VersionedRows table = VersionedRows.builder(Path.of(arguments[0]))
                            .updates(VersionedRows.Updates.UPSERTS)
                            .valueMemory(LITTLE, orchestrator, io)
                            .open();
                    VersionedRows.Reader reader = table.reader()) {
                RowBatch rows = RowBatch.onHeap();
                RowWriter row = ColdTable.SCHEMA.writer();
                for (long version = 1 + last(table); ; version++) {
                    try (VersionBuilder next = table.begin(version, ColdTable.SCHEMA)) {
                        if (table.current() > 0) {
                            next.putOthersOfCurrent();
                        }
                        next.seal();
                    }
                    table.publish(version);
                    System.out.println(version);
                    for (int i = 0; i < 1_000; i++) {
                        long key = random.nextInt(KEYS);
                        table.upsert(
                                key,
                                row.setLong(0, version).setLong(1, key).setText(2, "x".repeat(ColdTable.pad(key))));
                        if (i % 20 == 0) {
                            for (int j = 0; j < some.length; j++) {
                                some[j] = random.nextInt(KEYS / 4);
                            }
                            reader.getAll(some, rows);
                        }
                    }
                }
            }
        }
    }

    /** One that was sealed and not published has its number, too. */
    private static long last(VersionedRows table) throws IOException {
        return table.sealedVersions().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    @Test
    void everySealedVersionIsWholeAndNothingElseIsLeft() throws Exception {
        Random random = new Random(28);
        for (int crash = 0; crash < CRASHES; crash++) {
            Process process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElse("java"),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Changer.class.getName(),
                            folder.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            long published = 0;
            try (BufferedReader lines = process.inputReader()) {
                for (int i = random.nextInt(2, 6); i > 0; i--) {
                    published = Long.parseLong(lines.readLine());
                }
                LockSupport.parkNanos(random.nextInt(20_000_000));
                // By its handle: that leaves what it has written to be read.
                process.toHandle().destroyForcibly();
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    published = Long.parseLong(line);
                }
            }
            process.waitFor();
            requireWhole(published);
        }
    }

    private void requireWhole(long published) throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            assertThat(table.current()).isGreaterThanOrEqualTo(published);
            long[] keys = LongStream.range(0, KEYS).toArray();
            RowBatch rows = RowBatch.onHeap();
            for (long version : table.sealedVersions()) {
                table.load(version);
                try (VersionedRows.Reader reader = table.reader()) {
                    reader.getAll(version, keys, rows, java.util.List.of());
                }
                for (int key = 0; key < KEYS; key++) {
                    if (rows.isPresent(key)) {
                        assertThat(rows.getLong(key, 1)).isEqualTo(key);
                        assertThat(rows.getLong(key, 0)).isLessThan(version);
                        assertThat(rows.getBytes(key, 2).byteSize()).isEqualTo(ColdTable.pad(key));
                    }
                }
            }
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .allMatch(name -> name.matches("lock|current|version-\\d+\\.roost"));
        }
    }
}
