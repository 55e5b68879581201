package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.TextKeys;
import io.github.roost.rows.service.RollingUpdate.Step;
import io.github.roost.rows.service.RollingUpdate.Target;
import io.github.roost.testkit.Await;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers and clients over loopback, in one process. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TableServiceTest {
    private static final Schema SCHEMA = Schema.of(Column.ofLong("version"), Column.ofText("name"));
    private static final int KEYS = 1_000;
    private static final int[] SHARDS = {3, 5, 4};
    private static final Duration DEADLINE = Duration.ofSeconds(100);
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
        private RowsNode node;
        private RowsServer server;
        private Registry.Registration registration;

        Member(int group) throws IOException {
            this.name = "server" + group;
            this.group = group;
            this.node = RowsNode.open(name, folder.resolve(name));
            this.server = RowsServer.start(Map.of(ITEMS, node), RowsServer.Options.onLoopback(0));
            this.registration = registry.register(name, server.address());
        }

        void stop() {
            registration.close();
            server.close();
            node.close();
        }

        void restart() throws IOException {
            node = RowsNode.open(name, folder.resolve(name));
            server = RowsServer.start(Map.of(ITEMS, node), RowsServer.Options.onLoopback(0));
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

    private static void assertRows(RowsClient.FetchedRows rows, long[] keys) {
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

    private static RowsClient.FetchedRows fetch(RowsClient client, long... keys) {
        return client.fetch(ITEMS, keys, DEADLINE, "name", "version").join();
    }

    @Test
    void rowsComeFromAllShardsInTheOrderOfTheirKeys() throws IOException {
        start(2);
        roll(1, 1);
        try (RowsClient client = new RowsClient(registry)) {
            long[] keys = {999, 5, 4_711, 0, 5, 17};
            RowsClient.FetchedRows rows = fetch(client, keys);
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
                RowsClient client = new RowsClient(registry)) {
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
    void aVersionThatIsNamedIsFetched() throws IOException {
        start(1);
        roll(1, 1);
        members.getFirst().node.load(1, 2, RollingUpdate.shardsAt(1, 0, 4), SOURCE);
        long[] keys = {1, 2, 3};
        try (RowsClient client = new RowsClient(registry)) {
            assertThat(fetch(client, keys).version()).isEqualTo(2);
            RowsClient.FetchedRows rows =
                    client.fetch(ITEMS, 1, keys, DEADLINE, "name", "version").join();
            assertThat(rows.version()).isEqualTo(1);
            assertRows(rows, keys);
            assertThatThrownBy(() ->
                            client.fetch(ITEMS, 3, keys, Duration.ofSeconds(1)).join())
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageEndingWith("no servers together have all shards of version 3");
            assertThatThrownBy(() -> client.fetch(ITEMS, 0, keys, DEADLINE))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void anyVersionIsAnsweredWhereNoVersionIsComplete() throws IOException {
        start(2);
        // No version has all shards, but of nearly every key one of the versions has the shard.
        members.get(0).node.load(1, 1, new Served(3, Set.of(0, 1)), SOURCE);
        members.get(1).node.load(1, 2, new Served(5, Set.of(0, 1, 2, 3)), SOURCE);
        long[] there = LongStream.range(0, KEYS + 100)
                .filter(key -> NeighborHashMap.shard(key, 3) != 2 || NeighborHashMap.shard(key, 5) != 4)
                .toArray();
        long nowhere = LongStream.range(0, KEYS)
                .filter(key -> NeighborHashMap.shard(key, 3) == 2 && NeighborHashMap.shard(key, 5) == 4)
                .findFirst()
                .orElseThrow();
        try (RowsClient client = new RowsClient(registry)) {
            // The first batch takes what the server that answers first has; then the client knows both servers.
            client.fetchAny(ITEMS, there, DEADLINE).join();
            RowsClient.FetchedRows rows =
                    client.fetchAny(ITEMS, there, DEADLINE, "name", "version").join();
            for (int i = 0; i < there.length; i++) {
                assertThat(rows.version(i)).isEqualTo(NeighborHashMap.shard(there[i], 5) == 4 ? 1 : 2);
                assertThat(rows.isPresent(i)).isEqualTo(there[i] < KEYS);
                if (rows.isPresent(i)) {
                    assertThat(rows.batch(i).getText(rows.row(i), 0)).isEqualTo("item " + there[i]);
                    assertThat(rows.batch(i).getLong(rows.row(i), 1)).isEqualTo(rows.version(i));
                }
            }
            assertThatThrownBy(rows::version).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() ->
                            client.fetch(ITEMS, there, Duration.ofSeconds(1)).join())
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageEndingWith("no servers together have all shards of a version");
            assertThatThrownBy(() -> client.fetchAny(ITEMS, new long[] {there[0], nowhere}, Duration.ofSeconds(1))
                            .join())
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageEndingWith(" for keys " + nowhere + ": no server has their shards in any version");
            // As soon as the other shards are there, a batch is of one version again.
            members.get(0).node.load(1, 2, new Served(5, Set.of(4)), SOURCE);
            assertRows(fetch(client, there), there);
            assertThat(client.fetchAny(ITEMS, new long[0], DEADLINE).join().size())
                    .isZero();
        }
    }

    /** Puts 1,000 rows by their names, and under the key of one more name the row of another name. */
    private static RowSource byNames(TextKeys names, boolean isRepeated) {
        return new RowSource() {
            @Override
            public Schema schema(long version) {
                return SCHEMA;
            }

            @Override
            public void load(long version, Served shards, Sink to) {
                RowWriter row = to.writer();
                for (long i = 0; i < KEYS; i++) {
                    to.put(names, "item " + i, row.setLong(0, i));
                }
                to.put(names.key("same fingerprint"), row.setText(1, "another name"));
                if (isRepeated) {
                    to.put(names, "same fingerprint", row);
                }
            }
        };
    }

    @Test
    void rowsAreFetchedByTextsAndARowOfAnotherTextIsAbsent() throws IOException {
        start(1);
        TextKeys names = new TextKeys("name");
        RowsNode node = members.getFirst().node;
        assertThatThrownBy(() -> node.load(1, 1, RollingUpdate.shardsAt(1, 0, 4), byNames(names, true)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("texts must have fingerprints of their own, but "
                        + "\"another name\" and \"same fingerprint\" both have ");
        node.load(1, 1, RollingUpdate.shardsAt(1, 0, 4), byNames(names, false));
        List<String> texts = new ArrayList<>(List.of("same fingerprint", "no item", "item 5"));
        LongStream.range(0, KEYS).forEach(i -> texts.add("item " + i));
        try (RowsClient client = new RowsClient(registry)) {
            RowsClient.FetchedRows rows =
                    client.fetch(ITEMS, names, texts, DEADLINE, "version").join();
            assertThat(rows.size()).isEqualTo(texts.size());
            for (int i = 0; i < texts.size(); i++) {
                assertThat(rows.isPresent(i)).as(texts.get(i)).isEqualTo(i >= 2);
                if (rows.isPresent(i)) {
                    assertThat("item " + rows.batch(i).getLong(rows.row(i), 0)).isEqualTo(texts.get(i));
                    assertThat(rows.batch(i).getText(rows.row(i), 1)).isEqualTo(texts.get(i));
                }
            }
            assertThat(client.fetch(ITEMS, names, List.of(), DEADLINE).join().size())
                    .isZero();
            assertThatThrownBy(() -> client.fetch(ITEMS, new TextKeys("version"), List.of("a"), DEADLINE)
                            .join())
                    .hasCauseInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("column version must be TEXT, is LONG");
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

    @ParameterizedTest
    @ValueSource(strings = {"version-2.roost", "shards-2"})
    void aDamagedVersionBesideTheCurrentOneIsLeftOutAndLoadedAnew(String damaged) throws Exception {
        start(1);
        roll(1, 1);
        Member only = members.getFirst();
        Served served = RollingUpdate.shardsAt(1, 0, 4);
        only.node.load(1, 2, served, SOURCE);
        only.stop();
        Path file = folder.resolve(only.name).resolve(damaged);
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 64;
        Files.write(file, bytes);
        only.restart();
        assertThat(only.node.view().versions()).containsOnlyKeys(1L);
        try (RowsClient client = new RowsClient(registry)) {
            assertThat(fetch(client, 7).version()).isEqualTo(1);
            only.node.load(1, 2, served, SOURCE);
            only.node.unload(1, 1);
            RowsClient.FetchedRows rows = fetch(client, 7);
            assertThat(rows.version()).isEqualTo(2);
            assertRows(rows, new long[] {7});
        }
    }

    @Test
    void aServerThatIsRestartedIsBelievedThoughItsClockWasSetBack() throws IOException {
        Path items = folder.resolve("items");
        KnownServers known = new KnownServers();
        known.setServers(List.of("a"));
        long[] clock = {1_000_000, 1_000_000, 5, 0, 2_000_000};
        for (int start = 0; start < clock.length; start++) {
            long millis = clock[start];
            try (RowsNode node = RowsNode.open("a", items, () -> millis)) {
                node.load(1, start + 1L, RollingUpdate.shardsAt(1, 0, 1), SOURCE);
                if (start > 0) {
                    node.unload(1, start);
                }
                known.learn(node.view());
            }
            assertThat(known.newest(0))
                    .extracting(KnownServers.Complete::version)
                    .isEqualTo(start + 1L);
            Set<Long> versions = Set.of(start + 1L);
            assertThat(known.views().values())
                    .singleElement()
                    .satisfies(view -> assertThat(view.versions().keySet()).isEqualTo(versions));
        }
        Files.writeString(items.resolve("sequence"), "no number");
        RowsNode.open("a", items).close();
    }

    @Test
    void aFormerCoordinatorIsRefused() throws IOException {
        start(1);
        roll(registry.takeCharge(ITEMS), 1);
        RowsNode node = members.getFirst().node;
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
        try (RowsClient client = new RowsClient(registry)) {
            Duration shortly = Duration.ofSeconds(1);
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
            assertThatThrownBy(() -> client.fetch(ITEMS, new long[Wire.MAX_KEYS + 1], DEADLINE))
                    .isInstanceOf(IllegalArgumentException.class);
            String tooLong = "ö".repeat(128);
            assertThatThrownBy(() -> client.fetch(tooLong, new long[1], DEADLINE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("table must have 255 bytes at most, has 256: " + tooLong);
            assertThatThrownBy(() -> client.fetchAny(ITEMS, new long[1], DEADLINE, "name", tooLong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("column must have 255 bytes at most, has 256: " + tooLong);
            assertThatThrownBy(() -> client.fetch(ITEMS, new long[1], DEADLINE, new String[Wire.MAX_COLUMNS + 1]))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("columns ");
        }
    }

    @Test
    void whatIsNoRequestIsRefused() throws IOException {
        start(1);
        Wire.Request tooMany =
                new Wire.Request(ITEMS, 1, 1, 0, 0, Collections.nCopies(Wire.MAX_COLUMNS + 1, "name"), new long[1]);
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        members.getFirst().server.address())
                .usePlaintext()
                .build();
        try {
            CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, Wire.FETCH, options, tooMany))
                    .isInstanceOf(StatusRuntimeException.class)
                    .hasMessage("INVALID_ARGUMENT: not a message of roost.Tables: "
                            + "columns must be between 0 and 1024, got 1025");
        } finally {
            channel.shutdownNow();
        }
    }

    /** Says that it has what another one has, and answers no request for rows. */
    private static Server silent(String name, RowsNode like) throws IOException {
        return serving((request, to) -> {
            if (request.version() == 0) {
                to.onNext(Wire.Reply.without(new ServerView(name, 1, like.view().versions())));
                to.onCompleted();
            }
        });
    }

    private static Server serving(ServerCalls.UnaryMethod<Wire.Request, Wire.Reply> fetch) throws IOException {
        return NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(ServerServiceDefinition.builder(Wire.SERVICE)
                        .addMethod(Wire.FETCH, ServerCalls.asyncUnaryCall(fetch))
                        .build())
                // As of RowsServer: gRPC's default closes connections whose clients look after them.
                .permitKeepAliveTime(1, TimeUnit.SECONDS)
                .build()
                .start();
    }

    /** Answers requests for rows after something else. */
    private static Server after(Runnable before, RowsNode like) throws IOException {
        return serving((request, to) -> Thread.startVirtualThread(() -> {
            if (request.version() == 0) {
                to.onNext(Wire.Reply.without(like.view()));
            } else {
                before.run();
                like.fetch(
                        request.version(),
                        request.shards(),
                        request.shard(),
                        request.keys(),
                        request.columns(),
                        1 << 20,
                        DEADLINE,
                        (served, rows) -> {
                            to.onNext(new Wire.Reply(null, served.content(), rows));
                            return true;
                        });
            }
            to.onCompleted();
        }));
    }

    @Test
    void anAnswerThatTakesLongerThanOthersIsAwaited() throws IOException {
        start(1);
        roll(1, 1);
        AtomicInteger requests = new AtomicInteger();
        Runnable slowly = () -> {
            requests.incrementAndGet();
            LockSupport.parkNanos(800_000_000);
        };
        Server slow = after(slowly, members.getFirst().node);
        try (InMemoryRegistry only = new InMemoryRegistry();
                RowsClient client = new RowsClient(only)) {
            only.register(members.getFirst().name, (InetSocketAddress)
                    slow.getListenSockets().getFirst());
            long[] keys = {1};
            assertRows(fetch(client, keys), keys);
            assertThat(requests.get()).isEqualTo(1);
            assertThatThrownBy(() ->
                            client.fetch(ITEMS, keys, Duration.ofMillis(600)).join())
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("server server0 has sent nothing for 250 ms");
        } finally {
            slow.shutdownNow();
        }
    }

    @Test
    void whatSilentServersDoNotAnswerIsAskedOfTheOther() throws IOException {
        start(1);
        roll(1, 1);
        List<Server> silent = new ArrayList<>();
        try (RowsClient client = new RowsClient(registry)) {
            for (String name : List.of("silent", "silent too")) {
                Server server = silent(name, members.getFirst().node);
                silent.add(server);
                registry.register(
                        name, (InetSocketAddress) server.getListenSockets().getFirst());
            }
            long[] keys = {1, 2, 3, 4, 5};
            while (client.stats().hedges() < 10) {
                assertRows(fetch(client, keys), keys);
            }
            assertThat(client.stats().answers()).containsOnlyKeys(members.getFirst().name);
            assertThat(client.stats().batches()).isPositive();
            assertThat(client.stats().requests()).isGreaterThan(client.stats().hedges());
        } finally {
            silent.forEach(Server::shutdownNow);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatDependsOnAnAnswerMayFetch() throws Exception {
        start(1);
        roll(1, 1);
        CountDownLatch open = new CountDownLatch(1);
        Server held = after(() -> await(open), members.getFirst().node);
        try (InMemoryRegistry only = new InMemoryRegistry();
                RowsClient client = new RowsClient(only)) {
            only.register(members.getFirst().name, (InetSocketAddress)
                    held.getListenSockets().getFirst());
            long[] keys = {1, 2};
            Future<RowsClient.FetchedRows> second =
                    client.fetch(ITEMS, keys, DEADLINE).thenApply(rows -> fetch(client, keys));
            open.countDown();
            assertRows(second.get(60, TimeUnit.SECONDS), keys);
        } finally {
            held.shutdownNow();
        }
    }

    @Test
    void batchesFailByTheirDeadlinesThoughWhatDependsOnAnotherBlocks() throws Exception {
        CountDownLatch isBlocked = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        try (RowsClient client = new RowsClient(registry)) {
            Thread.startVirtualThread(() -> {
                var _ = client.fetch(ITEMS, new long[1], Duration.ofSeconds(1)).whenComplete((rows, failure) -> {
                    isBlocked.countDown();
                    await(open);
                });
            });
            isBlocked.await();
            Future<RowsClient.FetchedRows> other = client.fetch(ITEMS, new long[1], Duration.ofMillis(1));
            assertThatThrownBy(() -> other.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(TimeoutException.class);
        } finally {
            open.countDown();
        }
    }

    @Test
    void whatAHungServerDoesNotAnswerIsAskedAgainWhereItIsStartedAnew() throws Exception {
        start(1);
        roll(1, 1);
        Member member = members.getFirst();
        Server hung = silent(member.name, member.node);
        try (InMemoryRegistry only = new InMemoryRegistry();
                RowsClient client = new RowsClient(only)) {
            Registry.Registration former = only.register(
                    member.name, (InetSocketAddress) hung.getListenSockets().getFirst());
            long[] keys = {1, 2};
            Future<RowsClient.FetchedRows> rows = client.fetch(ITEMS, keys, DEADLINE, "name", "version");
            Await.until(() -> client.known(ITEMS).newest(0) != null);
            former.close();
            only.register(member.name, member.server.address());
            assertRows(rows.get(60, TimeUnit.SECONDS), keys);
        } finally {
            hung.shutdownNow();
        }
    }

    @Test
    void aBatchWhoseDeadlineIsOverSaysNothingOfItsServer() throws IOException {
        start(1);
        roll(1, 1);
        try (RowsClient client = new RowsClient(registry)) {
            long[] keys = {7};
            assertRows(fetch(client, keys), keys);
            KnownServers known = client.known(ITEMS);
            KnownServers.Complete version = Objects.requireNonNull(known.complete(1));
            int shard = NeighborHashMap.shard(7, version.shards());
            SplittableRandom random = new SplittableRandom(1);
            for (long nanos = 0; nanos < 200; nanos++) {
                Future<RowsClient.FetchedRows> late = client.fetch(ITEMS, keys, Duration.ofNanos(nanos));
                assertThatThrownBy(late::get).hasCauseInstanceOf(TimeoutException.class);
                assertThat(known.chooseOther(version, shard, System.nanoTime(), Set.of(), random))
                        .isEqualTo("server0");
            }
        }
    }

    @Test
    void theRequestsOfACancelledFetchEnd() throws Exception {
        CountDownLatch isOver = new CountDownLatch(2);
        AtomicInteger requests = new AtomicInteger();
        start(1);
        roll(1, 1);
        RowsNode node = members.getFirst().node;
        Server hung = serving((request, to) -> {
            if (request.version() == 0) {
                to.onNext(Wire.Reply.without(node.view()));
                to.onCompleted();
            } else {
                ((ServerCallStreamObserver<Wire.Reply>) to).setOnCancelHandler(isOver::countDown);
                requests.incrementAndGet();
            }
        });
        try (InMemoryRegistry only = new InMemoryRegistry();
                RowsClient client = new RowsClient(only)) {
            only.register(members.getFirst().name, (InetSocketAddress)
                    hung.getListenSockets().getFirst());
            Future<RowsClient.FetchedRows> byKey = client.fetch(ITEMS, new long[] {7}, DEADLINE);
            Await.until(() -> requests.get() == 1);
            Future<RowsClient.FetchedRows> byText =
                    client.fetch(ITEMS, new TextKeys("name"), List.of("item 7"), DEADLINE);
            Await.until(() -> requests.get() == 2);
            byKey.cancel(true);
            byText.cancel(true);
            assertThat(isOver.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            hung.shutdownNow();
        }
    }

    @Test
    void aDeadlineMayBeAnyDuration() throws Exception {
        start(1);
        roll(1, 1);
        try (RowsClient client = new RowsClient(registry)) {
            Duration forever = ChronoUnit.FOREVER.getDuration();
            Future<RowsClient.FetchedRows> rows = client.fetch(ITEMS, new long[] {7}, forever, "name", "version");
            assertRows(rows.get(60, TimeUnit.SECONDS), new long[] {7});
            for (Duration before : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
                Future<RowsClient.FetchedRows> late = client.fetch("others", new long[] {7}, before);
                assertThatThrownBy(() -> late.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(TimeoutException.class);
            }
        }
    }

    @Test
    void aServerThatJoinsIsAskedToo() throws IOException {
        start(1);
        roll(1, 1);
        try (RowsClient client = new RowsClient(registry)) {
            assertRows(fetch(client, 7), new long[] {7});
            members.add(new Member(1));
            members.get(1).node.load(1, 1, RollingUpdate.shardsAt(1, 0, SHARDS[1]), SOURCE);
            while (!client.stats().answers().containsKey("server1")) {
                assertRows(fetch(client, 7), new long[] {7});
            }
        }
    }

    @Test
    void aServerThatJoinsIsKnownThoughBatchesAreDoneBeforeItAnswers() throws IOException {
        start(1);
        roll(1, 1);
        RowsNode node = members.getFirst().node;
        ServerView view = new ServerView("late", 7, node.view().versions());
        Server late = serving((request, to) -> {
            LockSupport.parkNanos(100_000_000);
            to.onNext(Wire.Reply.without(view));
            to.onCompleted();
        });
        try (RowsClient client = new RowsClient(registry)) {
            registry.register(
                    "late", (InetSocketAddress) late.getListenSockets().getFirst());
            while (!client.known(ITEMS).views().containsKey("late")) {
                assertRows(fetch(client, 7), new long[] {7});
            }
        } finally {
            late.shutdownNow();
        }
    }

    /** Answers the first request alone, with its view, once the latch is open. */
    private static Server late(RowsNode like, CountDownLatch open) throws IOException {
        AtomicBoolean isAsked = new AtomicBoolean();
        return serving((request, to) -> {
            if (!isAsked.getAndSet(true)) {
                Thread.startVirtualThread(() -> {
                    await(open);
                    to.onNext(Wire.Reply.without(
                            new ServerView("late", 7, like.view().versions())));
                    to.onCompleted();
                });
            }
        });
    }

    @Test
    void aServerWhoseViewTakesLongerThanOthersIsKnownAndHoldsNoBatchUp() throws Exception {
        start(1);
        RowsNode node = members.getFirst().node;
        CountDownLatch open = new CountDownLatch(1);
        Server late = late(node, open);
        try (RowsClient client = new RowsClient(registry)) {
            registry.register(
                    "late", (InetSocketAddress) late.getListenSockets().getFirst());
            Future<RowsClient.FetchedRows> rows = client.fetch(ITEMS, new long[] {7}, DEADLINE);
            // One request to each, and retries of the one that answers, as the other one is silent.
            Await.until(() -> client.stats().requests() > 4);
            node.load(1, 1, RollingUpdate.shardsAt(1, 0, SHARDS[1]), SOURCE);
            assertThat(rows.get(60, TimeUnit.SECONDS).version()).isEqualTo(1);
            open.countDown();
            Await.until(() -> client.known(ITEMS).views().containsKey("late"));
        } finally {
            open.countDown();
            late.shutdownNow();
        }
    }

    @Test
    void requestsDoNotEndWithTheCallWhoseHandlerFetches() throws Exception {
        start(1);
        roll(1, 1);
        CountDownLatch open = new CountDownLatch(1);
        Server late = late(members.getFirst().node, open);
        Context.CancellableContext handled = Context.ROOT.withCancellation();
        try (RowsClient client = new RowsClient(registry)) {
            KnownServers known = client.known(ITEMS);
            registry.register(
                    "late", (InetSocketAddress) late.getListenSockets().getFirst());
            handled.run(() -> fetch(client, 7));
            handled.cancel(null);
            open.countDown();
            Await.until(() -> known.views().containsKey("late"));
        } finally {
            handled.cancel(null);
            late.shutdownNow();
        }
    }

    @Test
    void aServerThatCannotBeAskedFailsItsOwnRequestsAlone() throws IOException {
        InetSocketAddress misspelt = InetSocketAddress.createUnresolved("no-such-host.invalid", 7);
        InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 1, 2, 3}), 7);
        registry.register("misspelt", misspelt);
        try (RowsClient client = new RowsClient(registry, null, Tokens.of("0123456789abcdef"))) {
            Duration shortly = Duration.ofSeconds(1);
            assertThatThrownBy(() -> client.fetch(ITEMS, new long[1], shortly).join())
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("server misspelt: UNAVAILABLE, its address is not known: ")
                    .hasMessageContaining("no-such-host.invalid");
            registry.register("elsewhere", elsewhere);
            start(1);
            roll(1, 1);
            for (long key = 0; key < 50; key++) {
                assertRows(fetch(client, key), new long[] {key});
            }
        }
    }

    @Test
    void aServerThatCallsItselfAnotherNameIsNamedByBoth() throws IOException {
        start(1);
        roll(1, 1);
        try (InMemoryRegistry misnaming = new InMemoryRegistry()) {
            misnaming.register("other", members.getFirst().server.address());
            try (RowsClient client = new RowsClient(misnaming)) {
                assertThatThrownBy(() -> client.fetch(ITEMS, new long[1], Duration.ofSeconds(1))
                                .join())
                        .cause()
                        .isInstanceOf(TimeoutException.class)
                        .hasMessageContaining("server other calls itself server0");
            }
        }
    }

    /** Servers that change in another thread while somebody asks for their names. */
    private static final class ChangingServers extends HashMap<String, InetSocketAddress> {
        private static final long serialVersionUID = 1;

        private transient volatile @Nullable Runnable change;

        @Override
        public Set<String> keySet() {
            Runnable now = change;
            change = null;
            if (now != null) {
                Thread other = Thread.ofPlatform().start(now);
                while (other.getState() != Thread.State.BLOCKED && other.isAlive()) {
                    Thread.onSpinWait();
                }
            }
            return Set.copyOf(super.keySet());
        }
    }

    @Test
    void serversThatChangeWhileATableIsFirstAskedForAreNotForgotten() throws InterruptedException {
        ChangingServers before = new ChangingServers();
        before.put("former", new InetSocketAddress(InetAddress.getLoopbackAddress(), 7));
        List<Consumer<Map<String, InetSocketAddress>>> listeners = new ArrayList<>();
        CountDownLatch changed = new CountDownLatch(1);
        Registry telling = (Registry) Proxy.newProxyInstance(
                Registry.class.getClassLoader(), new Class<?>[] {Registry.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("watch");
                    @SuppressWarnings("unchecked")
                    var listener = (Consumer<Map<String, InetSocketAddress>>) arguments[0];
                    listeners.add(listener);
                    listener.accept(before);
                    return (Registry.Registration) listeners::clear;
                });
        try (RowsClient client = new RowsClient(telling)) {
            before.change = () -> {
                listeners.getFirst().accept(Map.of("next", new InetSocketAddress(InetAddress.getLoopbackAddress(), 8)));
                changed.countDown();
            };
            KnownServers known = client.known(ITEMS);
            changed.await();
            assertThat(known.servers()).containsExactly("next");
        }
    }

    @Test
    void certificatesThatCannotBeReadAreRefused() {
        Path none = folder.resolve("none.pem");
        assertThatThrownBy(() -> new RowsClient(registry, none, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("trusted must be a PEM file of certificates, got " + none);
    }

    private static RowsServer.Options limits(int maxMessageBytes, int maxReplyBytes) {
        return new RowsServer.Options(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                null,
                null,
                null,
                maxMessageBytes,
                maxReplyBytes);
    }

    @Test
    void requestsHaveALimit() throws IOException {
        start(1);
        roll(1, 1);
        Member member = members.getFirst();
        try (RowsServer limited = RowsServer.start(Map.of(ITEMS, member.node), limits(1_024, 1 << 20));
                InMemoryRegistry limitedOnly = new InMemoryRegistry()) {
            limitedOnly.register(member.name, limited.address());
            try (RowsClient client = new RowsClient(limitedOnly)) {
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
    void answersHaveALimit() throws IOException {
        start(1);
        roll(1, 1);
        Member member = members.getFirst();
        try (RowsServer limited = RowsServer.start(Map.of(ITEMS, member.node), limits(1 << 20, 1_024));
                InMemoryRegistry limitedOnly = new InMemoryRegistry()) {
            limitedOnly.register(member.name, limited.address());
            try (RowsClient client = new RowsClient(limitedOnly)) {
                assertRows(fetch(client, 7), new long[] {7});
                int bytes = 100_000 * (Integer.BYTES + Long.BYTES + Integer.BYTES + "item 0".length());
                assertThatThrownBy(() -> fetch(client, new long[100_000]))
                        .cause()
                        .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
                            assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                            assertThat(e.getStatus().getDescription())
                                    .isEqualTo("the rows of a batch must have 1024 bytes at most, got " + bytes);
                        });
                assertRows(fetch(client, 7), new long[] {7});
            }
        }
    }

    private static Integer present(Served served, RowBatch rows) {
        return rows.present();
    }

    @Test
    void memoryOfALargeAnswerIsNotKept() throws IOException {
        start(1);
        roll(1, 1);
        RowsNode node = members.getFirst().node;
        int shard = NeighborHashMap.shard(7, SHARDS[1]);
        long[] keys = new long[400_000];
        Arrays.fill(keys, 7);
        List<String> all = List.of();
        assertThat(node.fetch(1, SHARDS[1], shard, keys, all, 1 << 28, DEADLINE, TableServiceTest::present))
                .isEqualTo(keys.length);
        assertThat(node.idle()).isZero();
        assertThat(node.fetch(1, SHARDS[1], shard, new long[] {7}, all, 1 << 28, DEADLINE, TableServiceTest::present))
                .isOne();
        assertThat(node.idle()).isOne();
    }

    @Test
    void anAnswerThatFindsNoMemoryFailsAlone() throws IOException {
        start(1);
        roll(1, 1);
        Wire.Request request = new Wire.Request(
                ITEMS, 1, SHARDS[1], NeighborHashMap.shard(7, SHARDS[1]), 0, List.of("name"), new long[] {7});
        List<Throwable> failures = new ArrayList<>();
        FetchService service = new FetchService(Map.of(ITEMS, members.getFirst().node), 1 << 20);
        service.fetch(request, new StreamObserver<>() {
            @Override
            public void onNext(Wire.Reply reply) {
                throw new OutOfMemoryError("Java heap space");
            }

            @Override
            public void onError(Throwable failure) {
                failures.add(failure);
            }

            @Override
            public void onCompleted() {
                throw new AssertionError("it has failed");
            }
        });
        assertThat(failures).singleElement().isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
            assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(e.getStatus().getDescription()).isEqualTo("no memory for the rows of 1 keys: Java heap space");
        });
        try (RowsClient client = new RowsClient(registry)) {
            assertRows(fetch(client, 7), new long[] {7});
        }
    }

    @Test
    void onlyWhoHasTheTokenIsLetIn() throws IOException {
        start(1);
        roll(1, 1);
        Member member = members.getFirst();
        RowsServer.Options options = new RowsServer.Options(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                null,
                null,
                Tokens.of("0123456789abcdef"),
                1 << 20,
                1 << 20);
        try (RowsServer guarded = RowsServer.start(Map.of(ITEMS, member.node), options);
                InMemoryRegistry guardedOnly = new InMemoryRegistry()) {
            guardedOnly.register(member.name, guarded.address());
            try (RowsClient right = new RowsClient(guardedOnly, null, Tokens.of("0123456789abcdef"));
                    RowsClient wrong = new RowsClient(guardedOnly, null, Tokens.of("0123456789abcdeg"));
                    RowsClient none = new RowsClient(guardedOnly)) {
                assertRows(fetch(right, 7), new long[] {7});
                for (RowsClient refused : List.of(wrong, none)) {
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
    void thereIsNoReflectionAndNoOtherService() throws IOException {
        MethodDescriptor.Marshaller<byte[]> bytes = new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(byte[] value) {
                return new ByteArrayInputStream(value);
            }

            @Override
            public byte[] parse(InputStream stream) {
                return new byte[0];
            }
        };
        start(1);
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        members.getFirst().server.address())
                .usePlaintext()
                .build();
        try {
            for (String method : List.of(
                    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                    "grpc.channelz.v1.Channelz/GetServers")) {
                MethodDescriptor<byte[], byte[]> requested = MethodDescriptor.<byte[], byte[]>newBuilder()
                        .setType(MethodDescriptor.MethodType.UNARY)
                        .setFullMethodName(method)
                        .setRequestMarshaller(bytes)
                        .setResponseMarshaller(bytes)
                        .build();
                assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(
                                channel,
                                requested,
                                CallOptions.DEFAULT.withDeadlineAfter(DEADLINE.toSeconds(), TimeUnit.SECONDS),
                                new byte[0]))
                        .isInstanceOfSatisfying(
                                StatusRuntimeException.class,
                                refused -> assertThat(refused.getStatus().getCode())
                                        .isEqualTo(Status.Code.UNIMPLEMENTED));
            }
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void nobodyElseIsLetInByDefault() {
        InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);
        assertThatThrownBy(() ->
                        new RowsServer.Options(everywhere, null, null, Tokens.of("0123456789abcdef"), 1 << 20, 1 << 20))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("loopback");
        assertThatThrownBy(() -> new RowsServer.Options(everywhere, Path.of("a"), null, null, 1 << 20, 1 << 20))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(RowsServer.Options.onLoopback(0).address().getAddress().isLoopbackAddress())
                .isTrue();
    }
}
