package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers whose memory for values is less than their values. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ValueMemoryTest {
    private static final String ITEMS = "items";
    private static final Duration DEADLINE = Duration.ofSeconds(100);
    private static final int KEYS = 5_000;
    private static final int SHARDS = 3;
    private static final Served ALL = new Served(SHARDS, Set.of(0, 1, 2));
    /** Less than a sixth of the values. */
    private static final long MEMORY = 64 << 10;

    private static final int LONG_ROW_VERSION = 9;

    private static final RowSource SOURCE = new RowSource() {
        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofLong("version"), Column.ofText("name"));
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            RowWriter row = to.writer();
            for (long key = 0; key < KEYS; key++) {
                to.put(key, row.setLong(0, version).setText(1, name(key)));
            }
            if (version == LONG_ROW_VERSION) {
                to.put(-1, row.setText(1, "x".repeat((int) MEMORY)));
            }
        }
    };

    @TempDir
    Path folder;

    private final InMemoryRegistry registry = new InMemoryRegistry();
    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final BlockIo io = BlockIo.builder(orchestrator).build();
    private final List<Member> members = new ArrayList<>();

    private static String name(long key) {
        return ("item " + key + " ").repeat(10);
    }

    private final class Member implements AutoCloseable {
        private final Path data;
        private final RowsNode node;
        private final RowsServer server;
        private final Registry.Registration registration;

        Member(String name) throws IOException {
            this.data = folder.resolve(name);
            this.node = RowsNode.open(name, data, MEMORY, orchestrator, io);
            this.server = RowsServer.start(Map.of(ITEMS, node), RowsServer.Options.onLoopback(0));
            this.registration = registry.register(name, server.address());
            members.add(this);
        }

        void damage(long fromEnd) throws IOException {
            try (FileChannel channel = FileChannel.open(data.resolve("version-1.roost"), StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), channel.size() - fromEnd);
            }
        }

        @Override
        public void close() {
            members.remove(this);
            registration.close();
            server.close();
            node.close();
        }
    }

    @AfterEach
    void stop() {
        List.copyOf(members).forEach(Member::close);
        io.close();
        orchestrator.close();
        registry.close();
    }

    private static void assertRows(RowsClient.FetchedRows rows, long[] keys) {
        for (int i = 0; i < keys.length; i++) {
            assertThat(rows.isPresent(i)).isEqualTo(keys[i] < KEYS);
            if (rows.isPresent(i)) {
                assertThat(rows.batch(i).getText(rows.row(i), 0)).isEqualTo(name(keys[i]));
                assertThat(rows.batch(i).getLong(rows.row(i), 1)).isEqualTo(rows.version());
            }
        }
    }

    private static RowsClient.FetchedRows fetch(RowsClient client, long... keys) {
        return client.fetch(ITEMS, keys, DEADLINE, "name", "version").join();
    }

    @Test
    void allRowsAreRightWhileVersionsChangeAndAfterARestart() throws Exception {
        Member member = new Member("a");
        member.node.load(1, 1, ALL, SOURCE);
        long valueBytes =
                LongStream.range(0, KEYS).map(key -> name(key).length()).sum();
        assertThat(valueBytes).isGreaterThan(6 * MEMORY);
        long[] all = LongStream.range(0, KEYS + 10).toArray();
        try (ExecutorService threads = Executors.newFixedThreadPool(3);
                RowsClient client = new RowsClient(registry)) {
            assertRows(fetch(client, all), all);
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                SplittableRandom random = new SplittableRandom(i);
                readers.add(threads.submit(() -> {
                    for (int batch = 0; batch < 200; batch++) {
                        long[] keys = random.longs(100, 0, KEYS + 10).toArray();
                        assertRows(fetch(client, keys), keys);
                    }
                }));
            }
            for (long version = 2; version <= 4; version++) {
                member.node.load(1, version, ALL, SOURCE);
                // Keys and pages of files take memory, values only up to the limit.
                assertThat(member.node.bytes()).containsKeys(version - 1, version);
                assertThat(member.node.bytes().get(version)).isLessThan(valueBytes);
                member.node.unload(1, version - 1);
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
            member.close();
            assertThat(new Member("a").node.view().versions()).containsOnlyKeys(4L);
            RowsClient.FetchedRows rows = fetch(client, all);
            assertThat(rows.version()).isEqualTo(4);
            assertRows(rows, all);
        }
    }

    @Test
    void aRowThatAServerCannotReadIsAskedOfAnotherAndNamedWhereNoneCan() throws IOException {
        Member first = new Member("a");
        Member second = new Member("b");
        first.node.load(1, 1, ALL, SOURCE);
        second.node.load(1, 1, ALL, SOURCE);
        long[] keys = LongStream.range(0, KEYS).toArray();
        try (RowsClient client = new RowsClient(registry)) {
            first.damage(4_000);
            for (int i = 0; i < 5; i++) {
                assertRows(fetch(client, keys), keys);
            }
            second.damage(4_000);
            assertThatThrownBy(() ->
                            client.fetch(ITEMS, keys, Duration.ofSeconds(2)).join())
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("the row of key ")
                    .hasMessageContaining("version-1.roost is damaged");
            assertRows(fetch(client, 0, 1), new long[] {0, 1});
        }
    }

    @Test
    void aVersionWithARowThatDoesNotFitIsRefusedAndARestartServesTheOthers() throws IOException {
        Member member = new Member("a");
        member.node.load(1, 1, ALL, SOURCE);
        assertThatThrownBy(() -> member.node.load(1, LONG_ROW_VERSION, ALL, SOURCE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("valueMemory must have room for twice the longest row of ")
                .hasMessageEndingWith(" bytes, got " + MEMORY);
        assertThat(member.node.view().versions()).containsOnlyKeys(1L);
        member.close();
        Member again = new Member("a");
        assertThat(again.node.view().versions()).containsOnlyKeys(1L);
        try (RowsClient client = new RowsClient(registry)) {
            assertRows(fetch(client, 7), new long[] {7});
        }
        again.node.load(1, 2, ALL, SOURCE);
        assertThat(again.node.view().versions()).containsOnlyKeys(1L, 2L);
    }

    @Test
    void anAnswerHasALimitAlsoWhileItsRowsAreRead() throws IOException {
        Member member = new Member("a");
        member.node.load(1, 1, ALL, SOURCE);
        long[] keys = LongStream.range(0, KEYS)
                .filter(key -> NeighborHashMap.shard(key, SHARDS) == 0)
                .toArray();
        // The last rows of the file are in memory least likely; each is requested often.
        long[] many = IntStream.range(0, 100_000)
                .mapToLong(i -> keys[i % keys.length])
                .toArray();
        long bytes = Arrays.stream(many).map(key -> name(key).length()).sum();
        assertThatThrownBy(() -> member.node.fetch(
                        1, SHARDS, 0, many, List.of(), 1 << 20, DEADLINE, (served, rows) -> rows.present()))
                .isInstanceOf(RowBatch.TooLargeException.class)
                .hasMessageStartingWith("the rows of a batch must have 1048576 bytes at most, got ");
        assertThat(bytes).isGreaterThan(1 << 20);
        assertThat(member.node.<Integer>fetch(
                        1, SHARDS, 0, keys, List.of(), 1 << 20, DEADLINE, (served, rows) -> rows.present()))
                .isEqualTo(keys.length);
        assertThat(member.node.<Integer>fetch(
                        7, SHARDS, 0, keys, List.of(), 1 << 20, DEADLINE, (served, rows) -> rows.present()))
                .isNull();
    }
}
