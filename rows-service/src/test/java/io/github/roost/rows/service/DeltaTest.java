package io.github.roost.rows.service;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.TextKeys;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Versions that are made of an earlier one and of what has changed. */
class DeltaTest {
    private static final Schema SCHEMA = Schema.of(Column.ofText("name"), Column.ofLong("value"));
    private static final TextKeys NAMES = new TextKeys("name");

    @TempDir
    private Path folder;

    private final Source source = new Source();

    /** Versions as maps, and which of their rows were read. */
    private static class Source implements RowSource {
        private final Map<Long, Map<Long, Long>> versions = new TreeMap<>();
        private final Map<Long, String> snapshots = new HashMap<>();
        private boolean knowsChanges = true;
        private long read;
        private int loads;

        @Override
        public Schema schema(long version) {
            return SCHEMA;
        }

        @Override
        public @Nullable String snapshot(long version) {
            return snapshots.getOrDefault(version, "snapshot " + version);
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            loads++;
            versions.getOrDefault(version, Map.of()).forEach((key, value) -> put(key, value, to));
        }

        private void put(long key, long value, Sink to) {
            read++;
            RowWriter row = to.writer();
            to.put(key, row.setText(0, "key " + key).setLong(1, value));
        }

        @Override
        public boolean loadChanges(long from, long version, Served shards, Changes to) {
            if (!knowsChanges) {
                return false;
            }
            Map<Long, Long> before = versions.getOrDefault(from, Map.of());
            Map<Long, Long> after = versions.getOrDefault(version, Map.of());
            after.forEach((key, value) -> {
                if (!value.equals(before.get(key))) {
                    put(key, value, to);
                }
            });
            before.keySet().stream().filter(key -> !after.containsKey(key)).forEach(to::remove);
            return true;
        }
    }

    private static Served shards(int of, Integer... here) {
        return new Served(of, Set.of(here));
    }

    private static Served all(int of) {
        return new Served(of, IntStream.range(0, of).boxed().collect(Collectors.toSet()));
    }

    /** The values of a version's keys at a node, of all keys up to a maximum. */
    private static Map<Long, Long> values(RowsNode node, long version, int maxKey) {
        Served served = requireNonNull(node.view().versions().get(version));
        Map<Long, Long> values = new TreeMap<>();
        for (int shard : served.here()) {
            long[] keys = LongStream.rangeClosed(0, maxKey)
                    .filter(key -> NeighborHashMap.shard(key, served.shards()) == shard)
                    .toArray();
            node.fetch(version, served.shards(), shard, keys, List.of(), 1 << 20, Duration.ofMinutes(1), (is, rows) -> {
                for (int i = 0; i < keys.length; i++) {
                    if (rows.isPresent(i)) {
                        assertThat(rows.getText(i, 0)).isEqualTo("key " + keys[i]);
                        values.put(keys[i], rows.getLong(i, 1));
                    }
                }
                return values;
            });
        }
        return values;
    }

    @Test
    void randomVersionsHaveTheRowsOfTheSourceAndReadOnlyWhatChanged() throws IOException {
        int maxKey = 300;
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            Source rows = new Source();
            Path of = folder.resolve("seed " + seed);
            RowsNode node = RowsNode.open("a", of);
            try {
                Map<Long, Long> now = new TreeMap<>();
                long before = 0;
                for (long version = 1; version <= 8; version++) {
                    Map<Long, Long> last = Map.copyOf(now);
                    for (int i = random.nextInt(100); i > 0; i--) {
                        now.put((long) random.nextInt(maxKey + 1), random.nextLong(50));
                    }
                    now.keySet().removeIf(key -> random.nextInt(20) == 0);
                    rows.versions.put(version, Map.copyOf(now));
                    rows.read = 0;
                    Served served = all(1 + random.nextInt(5));
                    node.load(1, version, served, rows);
                    assertThat(values(node, version, maxKey))
                            .as("seed %d, version %d", seed, version)
                            .isEqualTo(now);
                    if (before > 0) {
                        assertThat(rows.read)
                                .isEqualTo(now.entrySet().stream()
                                        .filter(row -> !row.getValue().equals(last.get(row.getKey())))
                                        .count());
                        node.unload(1, before);
                    }
                    before = version;
                    if (random.nextInt(3) == 0) {
                        node.close();
                        node = RowsNode.open("a", of);
                        assertThat(values(node, version, maxKey)).isEqualTo(now);
                    }
                }
                assertThat(rows.loads).isEqualTo(1);
            } finally {
                node.close();
            }
        }
    }

    @Test
    void aVersionBeforeTheCurrentOneIsReadWhole() throws IOException {
        source.versions.put(3L, Map.of(1L, 10L, 2L, 20L));
        source.versions.put(7L, Map.of(1L, 11L, 5L, 50L));
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
            node.load(1, 7, all(1), source);
            node.load(1, 3, all(1), source);
            assertThat(values(node, 3, 9)).isEqualTo(source.versions.get(3L));
            assertThat(source.loads).isEqualTo(2);
        }
    }

    @Test
    void aServerOfSomeShardsTakesChangesOnlyWhereItHasTheRowsBefore() throws IOException {
        Map<Long, Long> rows = LongStream.range(0, 100).boxed().collect(Collectors.toMap(key -> key, key -> 1L));
        for (long version = 1; version <= 4; version++) {
            rows.put(version, version);
            source.versions.put(version, Map.copyOf(rows));
        }
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
            node.load(1, 1, shards(4, 0, 1), source);
            node.load(1, 2, shards(4, 1), source);
            assertThat(source.loads).isEqualTo(1);
            node.unload(1, 1);
            // A shard that is not here, and another division.
            node.load(1, 3, shards(4, 2), source);
            node.unload(1, 2);
            node.load(1, 4, shards(2, 0), source);
            assertThat(source.loads).isEqualTo(3);
            for (long version = 3; version <= 4; version++) {
                Served served = requireNonNull(node.view().versions().get(version));
                Map<Long, Long> wanted = new TreeMap<>(source.versions.getOrDefault(version, Map.of()));
                wanted.keySet().removeIf(key -> !served.here().contains(NeighborHashMap.shard(key, served.shards())));
                assertThat(values(node, version, 99)).isEqualTo(wanted);
            }
        }
    }

    @Test
    void anotherContentOfTheVersionBeforeIsNotBuiltUpon() throws IOException {
        source.versions.put(1L, Map.of(1L, 1L, 2L, 2L));
        source.versions.put(2L, Map.of(1L, 1L, 2L, 3L));
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
            node.load(1, 1, all(2), source);
            // The source has found that its version 1 was another one.
            source.snapshots.put(1L, "mended");
            source.versions.put(1L, Map.of(1L, 7L, 2L, 3L));
            source.versions.put(2L, Map.of(1L, 7L, 2L, 4L));
            node.load(1, 2, all(2), source);
            assertThat(values(node, 2, 9)).isEqualTo(Map.of(1L, 7L, 2L, 4L));
            assertThat(source.loads).isEqualTo(2);
        }
    }

    @Test
    void aSourceThatDoesNotKnowTheChangesIsReadWhole() throws IOException {
        source.versions.put(1L, Map.of(1L, 1L, 2L, 2L));
        source.versions.put(2L, Map.of(1L, 5L, 2L, 2L));
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
            node.load(1, 1, all(2), source);
            source.knowsChanges = false;
            node.load(1, 2, all(2), source);
            assertThat(values(node, 2, 9)).isEqualTo(Map.of(1L, 5L, 2L, 2L));
            assertThat(source.loads).isEqualTo(2);
            // One that says so too late.
            RowSource late = new Source() {
                @Override
                public boolean loadChanges(long from, long version, Served shards, Changes to) {
                    super.loadChanges(1, 2, shards, to);
                    return false;
                }
            };
            node.unload(1, 1);
            ((Source) late).versions.putAll(source.versions);
            assertThatThrownBy(() -> node.load(1, 3, all(2), late))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("must put no changes");
            assertThat(node.view().versions()).containsOnlyKeys(2L);
        }
    }

    @Test
    void aVersionBeforeThatCannotBeReadIsNotNeeded() throws IOException {
        Map<Long, Long> rows = LongStream.range(0, 5_000).boxed().collect(Collectors.toMap(key -> key, key -> 1L));
        source.versions.put(1L, rows);
        source.versions.put(2L, rows);
        source.versions.put(3L, rows);
        Path data = folder.resolve("a");
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                BlockIo io = BlockIo.builder(orchestrator).build();
                RowsNode node = RowsNode.open("a", data, 32 << 10, orchestrator, io)) {
            node.load(1, 1, all(2), source);
            node.load(1, 2, all(2), source);
            assertThat(source.loads).isEqualTo(1);
            node.unload(1, 1);
            try (FileChannel file = FileChannel.open(data.resolve("version-2.roost"), StandardOpenOption.WRITE)) {
                file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), file.size() - 4_000);
            }
            node.load(1, 3, all(2), source);
            assertThat(source.loads).isEqualTo(2);
            assertThat(values(node, 3, 5_000)).isEqualTo(rows);
        }
    }

    @Test
    void aTextNeitherReplacesNorRemovesTheRowOfAnotherTextWithItsFingerprint() throws IOException {
        RowSource texts = new RowSource() {
            @Override
            public Schema schema(long version) {
                return SCHEMA;
            }

            @Override
            public String snapshot(long version) {
                return "snapshot " + version;
            }

            @Override
            public void load(long version, Served shards, Sink to) {
                RowWriter row = to.writer();
                to.put(NAMES, "same", row.setLong(1, 1));
                to.put(NAMES, "gone", row.setLong(1, 2));
                // As if both texts had this fingerprint.
                to.put(NAMES.key("other"), row.setText(0, "one").setLong(1, 3));
            }

            @Override
            public boolean loadChanges(long from, long version, Served shards, Changes to) {
                RowWriter row = to.writer();
                switch ((int) version) {
                    case 2 -> to.put(NAMES, "other", row.setLong(1, 4));
                    case 3 -> to.remove(NAMES, "other");
                    default -> {
                        to.put(NAMES, "same", row.setLong(1, 5));
                        to.remove(NAMES, "gone");
                        to.remove(NAMES, "unknown");
                    }
                }
                return true;
            }
        };
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"))) {
            node.load(1, 1, all(1), texts);
            for (long version = 2; version <= 3; version++) {
                long refused = version;
                assertThatThrownBy(() -> node.load(1, refused, all(1), texts))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("texts must have fingerprints of their own, but \"other\"");
            }
            node.load(1, 4, all(1), texts);
            long[] keys = {NAMES.key("same"), NAMES.key("gone"), NAMES.key("other")};
            assertThat(node.<List<Long>>fetch(
                            4, 1, 0, keys, List.of(), 1 << 20, Duration.ofMinutes(1), DeltaTest::values))
                    .containsExactly(5L, null, 3L);
        }
    }

    private static List<Long> values(Served served, RowBatch rows) {
        List<Long> values = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            values.add(rows.isPresent(i) ? rows.getLong(i, 1) : null);
        }
        return values;
    }
}
