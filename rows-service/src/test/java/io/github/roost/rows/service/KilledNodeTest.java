package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.testkit.Effort;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that loads and unloads one version after the other, and is killed in the midst. */
@Tag("program")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledNodeTest {
    private static final int KEYS = 3_000;
    private static final int CRASHES = Effort.times(3);

    @TempDir
    Path folder;

    /** Rows that tell of their version. */
    private static final RowSource SOURCE = new RowSource() {
        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofLong("version"), Column.ofText("text"));
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            RowWriter row = to.writer();
            for (long key = 0; key < KEYS; key++) {
                to.put(key, row.setLong(0, version).setText(1, "item " + key));
            }
        }
    };

    private static Served served(long version) {
        int shards = 2 + (int) (version % 3);
        return RollingUpdate.shardsAt(2, 0, shards);
    }

    /** Rolls versions until it is killed; says which it has. */
    static final class Roller {
        private Roller() {}

        public static void main(String[] arguments) throws IOException {
            try (RowsNode node = RowsNode.open("a", Path.of(arguments[0]))) {
                long version = node.view().versions().keySet().stream()
                        .max(Long::compare)
                        .orElse(0L);
                while (true) {
                    for (long old : node.view().versions().keySet()) {
                        if (old < version) {
                            node.unload(1, old);
                        }
                    }
                    version++;
                    node.load(1, version, served(version), SOURCE);
                    System.out.println(version);
                }
            }
        }
    }

    @Test
    void killedAtAnyMomentItHasTheLastVersionThatItSaidWhole() throws Exception {
        Random random = new Random(28);
        long said = 0;
        for (int crash = 0; crash < CRASHES; crash++) {
            Process process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElse("java"),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Roller.class.getName(),
                            folder.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader lines = process.inputReader()) {
                for (int i = random.nextInt(1, 8); i > 0; i--) {
                    said = Long.parseLong(lines.readLine());
                }
                LockSupport.parkNanos(random.nextInt(5_000_000));
                // By its handle: that leaves what it has written to be read.
                process.toHandle().destroyForcibly();
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    said = Long.parseLong(line);
                }
            }
            process.waitFor();
            try (RowsNode node = RowsNode.open("a", folder)) {
                assertThat(node.view().versions()).containsKey(said).hasSizeBetween(1, 2);
                node.view().versions().forEach((version, served) -> assertWhole(node, version, served));
            }
            try (Stream<Path> files = Files.list(folder)) {
                List<String> names =
                        files.map(file -> file.getFileName().toString()).toList();
                assertThat(names).noneMatch(name -> name.endsWith(".part"));
                assertThat(names.stream().filter(name -> name.startsWith("version-")))
                        .hasSizeLessThanOrEqualTo(3);
            }
        }
    }

    private static void assertWhole(RowsNode node, long version, Served served) {
        assertThat(served.hasShardsOf(served(version))).isTrue();
        for (int shard : served.here()) {
            long[] keys = LongStream.range(0, KEYS)
                    .filter(key -> NeighborHashMap.shard(key, served.shards()) == shard)
                    .toArray();
            Boolean isWhole = node.fetch(
                    version,
                    served.shards(),
                    shard,
                    keys,
                    List.of(),
                    1 << 28,
                    Duration.ofMinutes(1),
                    (found, rows) -> isWhole(rows, version, keys));
            assertThat(isWhole)
                    .as(() -> Map.of("version", version, "shard", shard).toString())
                    .isTrue();
        }
    }

    private static boolean isWhole(RowBatch rows, long version, long[] keys) {
        for (int i = 0; i < keys.length; i++) {
            if (!rows.isPresent(i)
                    || rows.getLong(i, 0) != version
                    || !rows.getText(i, 1).equals("item " + keys[i])) {
                return false;
            }
        }
        return rows.size() == keys.length;
    }
}
