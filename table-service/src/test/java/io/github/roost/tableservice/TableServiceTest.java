package io.github.roost.tableservice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.table.Column;
import io.github.roost.table.RowBatch;
import io.github.roost.table.RowWriter;
import io.github.roost.table.Schema;
import io.github.roost.tableservice.RollingUpdate.Step;
import io.github.roost.tableservice.RollingUpdate.Target;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers and clients over loopback, in one process. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TableServiceTest {
    private static final Schema SCHEMA = Schema.of(Column.ofLong("version"), Column.ofText("name"));
    private static final int KEYS = 1_000;
    private static final int[] SHARDS = {3, 5, 4};
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final String ITEMS = "items";

    /** Rows that tell of which key and version they are. */
    private static final RowSource SOURCE = new RowSource() {
        @Override
        public Schema schema(long version) {
            return SCHEMA;
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            RowWriter row = to.writer();
            for (long key = 0; key < KEYS; key++) {
                to.put(key, row.setLong(0, version).setText(1, "item " + key));
            }
        }
    };

    @TempDir
    Path folder;

    private final InMemoryRegistry registry = new InMemoryRegistry();
    private final List<Member> members = new ArrayList<>();

    /** One server. */
    private final class Member {
        private final String name;
        private final int group;
        private TableNode node;
        private TableServer server;
        private Registry.Registration registration;

        Member(int group) throws IOException {
            this.name = "server" + group;
            this.group = group;
            this.node = TableNode.open(name, folder.resolve(name));
            this.server = TableServer.start(Map.of(ITEMS, node), ServerOptions.onLoopback(0));
            this.registration = registry.register(name, server.address());
        }

        void stop() {
            registration.close();
            server.close();
            node.close();
        }

        void restart() throws IOException {
            node = TableNode.open(name, folder.resolve(name));
            server = TableServer.start(Map.of(ITEMS, node), ServerOptions.onLoopback(0));
            registration = registry.register(name, server.address());
        }
    }

    private void start(int servers) throws IOException {
        for (int group = 0; group < servers; group++) {
            members.add(new Member(group));
        }
    }

    @AfterEach
    void stop() {
        members.forEach(Member::stop);
        registry.close();
    }

    /** Does steps until all have the version. */
    private void roll(long term, long version) throws IOException {
        Target target = new Target(version, SHARDS[(int) version % SHARDS.length], 2, 0);
        for (Step step = next(target); !(step instanceof Step.Done); step = next(target)) {
            switch (step) {
                case Step.Load load -> named(load.server()).node.load(term, load.version(), load.served(), SOURCE);
                case Step.Unload unload -> named(unload.server()).node.unload(term, unload.version());
                default -> throw new IllegalStateException(step.toString());
            }
        }
    }

    private Step next(Target target) {
        return RollingUpdate.next(
                members.stream()
                        .map(member -> new RollingUpdate.Server(
                                member.name,
                                member.group,
                                0,
                                true,
                                member.node.view().versions()))
                        .toList(),
                target,
                Long.MAX_VALUE);
    }

    private Member named(String name) {
        return members.stream()
                .filter(member -> member.name.equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static void assertRows(FetchedRows rows, long[] keys) {
        assertThat(rows.size()).isEqualTo(keys.length);
        for (int i = 0; i < keys.length; i++) {
            assertThat(rows.isPresent(i)).isEqualTo(keys[i] < KEYS);
            if (keys[i] < KEYS) {
                RowBatch batch = rows.batch(i);
                assertThat(batch.getText(rows.row(i), 0)).isEqualTo("item " + keys[i]);
                assertThat(batch.getLong(rows.row(i), 1)).isEqualTo(rows.version());
            }
        }
    }

    private static FetchedRows fetch(TableClient client, long... keys) {
        return client.fetch(ITEMS, keys, DEADLINE, "name", "version").join();
    }

    @Test
    void rowsComeFromAllShardsInTheOrderOfTheirKeys() throws IOException {
        start(2);
        roll(1, 1);
        try (TableClient client = new TableClient(registry)) {
            long[] keys = {999, 5, 4_711, 0, 5, 17};
            FetchedRows rows = fetch(client, keys);
            assertThat(rows.version()).isEqualTo(1);
            assertRows(rows, keys);
            assertThat(fetch(client).size()).isZero();
        }
    }

    @Test
    void batchesStayOfOneVersionWhileVersionsAreRolledOutAndServersRestart() throws Exception {
        start(3);
        roll(1, 1);
        AtomicBoolean isOver = new AtomicBoolean();
        try (ExecutorService threads = Executors.newFixedThreadPool(2);
                TableClient client = new TableClient(registry)) {
            List<Future<Long>> readers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                long seed = i;
                readers.add(threads.submit(() -> {
                    long[] keys =
                            new SplittableRandom(seed).longs(60, 0, KEYS + 10).toArray();
                    long batches = 0;
                    for (; !isOver.get(); batches++) {
                        assertRows(fetch(client, keys), keys);
                    }
                    return batches;
                }));
            }
            try {
                for (long version = 2; version <= 8; version++) {
                    roll(version, version);
                    Member member = members.get((int) version % members.size());
                    member.stop();
                    member.restart();
                }
            } finally {
                isOver.set(true);
            }
            for (Future<Long> reader : readers) {
                assertThat(reader.get()).isPositive();
            }
            assertThat(fetch(client, 1).version()).isEqualTo(8);
        }
    }

    @Test
    void aRestartedServerHasWhatItHad() throws IOException {
        start(1);
        roll(1, 1);
        Member only = members.getFirst();
        only.node.load(1, 2, RollingUpdate.shardsAt(1, 0, 4), SOURCE);
        ServerView before = only.node.view();
        only.stop();
        only.restart();
        assertThat(only.node.view().versions()).isEqualTo(before.versions());
        assertThat(only.node.view().sequence()).isGreaterThan(before.sequence());
    }

    @Test
    void aFormerCoordinatorIsRefused() throws IOException {
        start(1);
        roll(registry.takeCharge(ITEMS), 1);
        TableNode node = members.getFirst().node;
        long former = registry.takeCharge(ITEMS);
        long now = registry.takeCharge(ITEMS);
        Served served = RollingUpdate.shardsAt(1, 0, 1);
        node.load(now, 2, served, SOURCE);
        assertThatThrownBy(() -> node.unload(former, 1))
                .hasMessage("a coordinator of term 3 is in charge, not one of term 2");
        assertThatThrownBy(() -> node.load(now, 3, served, SOURCE)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> node.load(now, 2, RollingUpdate.shardsAt(1, 0, 2), SOURCE))
                .isInstanceOf(IllegalArgumentException.class);
        node.unload(now, 1);
        assertThatThrownBy(() -> node.unload(now, 2)).isInstanceOf(IllegalStateException.class);
        assertThat(node.view().versions()).containsOnlyKeys(2L);
    }

    @Test
    void whatCannotBeAnsweredFails() throws IOException {
        start(1);
        try (TableClient client = new TableClient(registry)) {
            Duration shortly = Duration.ofMillis(300);
            assertThatThrownBy(() -> client.fetch(ITEMS, new long[1], shortly).join())
                    .hasCauseInstanceOf(TimeoutException.class);
            roll(1, 1);
            assertThatThrownBy(() ->
                            client.fetch(ITEMS, new long[1], DEADLINE, "color").join())
                    .isInstanceOf(CompletionException.class)
                    .hasMessageContaining("column must be one of [version, name], got color");
            assertThatThrownBy(
                            () -> client.fetch("others", new long[1], shortly).join())
                    .hasCauseInstanceOf(TimeoutException.class);
            assertThatThrownBy(() -> client.fetch(ITEMS, new long[Wire.MOST_KEYS + 1], DEADLINE))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void requestsHaveALimit() throws IOException {
        start(1);
        roll(1, 1);
        Member member = members.getFirst();
        ServerOptions options =
                new ServerOptions(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), null, null, null, 1_024);
        try (TableServer limited = TableServer.start(Map.of(ITEMS, member.node), options);
                InMemoryRegistry limitedOnly = new InMemoryRegistry()) {
            limitedOnly.register(member.name, limited.address());
            try (TableClient client = new TableClient(limitedOnly)) {
                assertRows(fetch(client, 7), new long[] {7});
                assertThatThrownBy(() -> fetch(client, new long[1_000]))
                        .cause()
                        .isInstanceOfSatisfying(
                                StatusRuntimeException.class,
                                e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED));
            }
        }
    }

    @Test
    void onlyWhoHasTheTokenIsLetIn() throws IOException {
        start(1);
        roll(1, 1);
        Member member = members.getFirst();
        ServerOptions options = new ServerOptions(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), null, null, "0123456789abcdef", 1 << 20);
        try (TableServer guarded = TableServer.start(Map.of(ITEMS, member.node), options);
                InMemoryRegistry guardedOnly = new InMemoryRegistry()) {
            guardedOnly.register(member.name, guarded.address());
            try (TableClient right = new TableClient(guardedOnly, null, "0123456789abcdef");
                    TableClient wrong = new TableClient(guardedOnly, null, "0123456789abcdeg");
                    TableClient none = new TableClient(guardedOnly)) {
                assertRows(fetch(right, 7), new long[] {7});
                for (TableClient refused : List.of(wrong, none)) {
                    assertThatThrownBy(() -> fetch(refused, 7))
                            .cause()
                            .isInstanceOfSatisfying(
                                    StatusRuntimeException.class,
                                    e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED));
                }
            }
        }
        assertThat(options.toString()).doesNotContain("0123456789abcdef");
    }

    @Test
    void nobodyElseIsLetInByDefault() {
        InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);
        assertThatThrownBy(() -> new ServerOptions(everywhere, null, null, "0123456789abcdef", 1 << 20))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("loopback");
        assertThatThrownBy(() -> new ServerOptions(everywhere, Path.of("a"), null, null, 1 << 20))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ServerOptions(everywhere, null, null, "short", 1 << 20))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(ServerOptions.onLoopback(0).address().getAddress().isLoopbackAddress())
                .isTrue();
    }
}
