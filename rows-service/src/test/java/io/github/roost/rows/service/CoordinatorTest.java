package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import io.github.roost.rows.service.Registry.Announced;
import io.github.roost.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Coordinators and servers that know each other by messages alone, in one process. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CoordinatorTest {
    private static final String ITEMS = "items";
    private static final int KEYS = 500;

    @TempDir
    Path folder;

    private final InMemoryRegistry registry = new InMemoryRegistry();
    private final List<Member> members = new ArrayList<>();
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

    /** Rows that tell of their version; a load of version 13 waits. */
    private static class Rows implements RowSource {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch end = new CountDownLatch(1);
        volatile @Nullable IOException failure;
        volatile @Nullable Error error;
        volatile int keys = KEYS;
        /** Whether the load of version 13 waits with all rows, and not before the first. */
        volatile boolean isHeldAtTheEnd;

        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofLong("version"));
        }

        @Override
        public void load(long version, Served shards, Sink to) throws IOException {
            IOException wanted = failure;
            if (wanted != null) {
                throw wanted;
            }
            Error fatal = error;
            if (fatal != null) {
                throw fatal;
            }
            if (version == 13 && !isHeldAtTheEnd) {
                hold();
            }
            RowWriter row = to.writer();
            for (long key = 0; key < keys; key++) {
                to.put(key, row.setLong(0, version));
            }
            if (version == 13 && isHeldAtTheEnd) {
                hold();
            }
        }

        private void hold() throws IOException {
            begun.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }

    private final class Member implements AutoCloseable {
        private final Rows rows = new Rows();
        private final RowsNode node;
        private final RowsServer server;
        private final Registry.Registration registration;

        Member(String name, RowsServer.Seat seat) throws IOException {
            this(name, seat, ITEMS);
        }

        Member(String name, RowsServer.Seat seat, String table) throws IOException {
            node = RowsNode.open(name, folder.resolve(name));
            server = RowsServer.start(
                    Map.of(table, node),
                    RowsServer.Options.onLoopback(0),
                    new RowsServer.Orders(registry, seat, Map.of(table, rows), null));
            registration = registry.register(name, server.address());
            members.add(this);
        }

        @Override
        public void close() {
            registration.close();
            server.close();
            node.close();
        }
    }

    private Coordinator coordinator() {
        return coordinator(ITEMS, null);
    }

    private Coordinator coordinator(String table, @Nullable Tokens token) {
        return new Coordinator(
                registry,
                table,
                new Coordinator.Options(
                        2, Duration.ofMillis(300), Duration.ofMinutes(1), null, token, new Coordinator.Observer() {
                            @Override
                            public void told(String what) {
                                log.add(what);
                            }
                        }));
    }

    @AfterEach
    void stop() {
        members.forEach(Member::close);
        registry.close();
    }

    private static void assertHas(Member member, long version, Served served) {
        Map<Long, Served> versions = member.node.view().versions();
        assertThat(versions).containsOnlyKeys(version);
        assertThat(versions.get(version)).extracting(has -> has.of(0)).isEqualTo(served);
    }

    private static Served all(int shards) {
        return RollingUpdate.shardsAt(1, 0, shards);
    }

    @Test
    void allServersComeToTheVersion() throws Exception {
        new Member("a0", new RowsServer.Seat(0, 0, 2));
        new Member("a1", new RowsServer.Seat(0, 1, 2));
        new Member("b", RowsServer.Seat.whole(1));
        try (Coordinator coordinator = coordinator()) {
            coordinator.roll(1, 3);
            coordinator.roll(2, 5);
            assertHas(members.get(0), 2, new Served(5, Set.of(0, 2, 4)));
            assertHas(members.get(1), 2, new Served(5, Set.of(1, 3)));
            assertHas(members.get(2), 2, all(5));
            assertThat(coordinator.resume()).hasValueSatisfying(announced -> {
                assertThat(announced.version()).isEqualTo(2);
                assertThat(announced.content())
                        .isNotZero()
                        .isEqualTo(Objects.requireNonNull(members.getFirst()
                                        .node
                                        .view()
                                        .versions()
                                        .get(2L))
                                .content());
            });
            assertThatThrownBy(() -> coordinator.roll(1, 3))
                    .hasMessage("version must be 2 or higher, which is announced, got 1");
        }
        try (RowsClient client = new RowsClient(registry)) {
            RowsClient.FetchedRows rows = client.fetch(ITEMS, new long[] {1, 2, 3}, Duration.ofSeconds(20))
                    .join();
            assertThat(rows.version()).isEqualTo(2);
        }
    }

    @Test
    void aTableThatGrowsAndShrinksIsDividedAnewWithTheNextVersion() throws Exception {
        new Member("a0", new RowsServer.Seat(0, 0, 2));
        new Member("a1", new RowsServer.Seat(0, 1, 2));
        new Member("b", RowsServer.Seat.whole(1));
        long maxShardBytes = 100_000;
        try (Coordinator coordinator = coordinator()) {
            // Nothing is there yet: a shard for each server of a group.
            assertThat(coordinator.rollBySize(1, maxShardBytes).shards()).isEqualTo(2);
            members.forEach(member -> member.rows.keys = 20_000);
            assertThat(coordinator.rollBySize(2, maxShardBytes).shards()).isEqualTo(2);
            int shards = coordinator.rollBySize(3, maxShardBytes).shards();
            assertThat(shards).isGreaterThan(4);
            Map<Long, Long> whole = members.get(2).node.bytes();
            assertThat(whole).containsOnlyKeys(3L);
            assertThat(whole.getOrDefault(3L, 0L) / shards).isBetween(1L, maxShardBytes);
            members.forEach(member -> member.rows.keys = KEYS);
            coordinator.rollBySize(4, maxShardBytes);
            assertThat(coordinator.rollBySize(5, maxShardBytes).shards()).isEqualTo(2);
            assertHas(members.get(1), 5, new Served(2, Set.of(1)));
        }
    }

    @Test
    void aServerThatJoinsIsBroughtToTheVersion() throws Exception {
        new Member("a", RowsServer.Seat.whole(0));
        try (Coordinator coordinator = coordinator()) {
            coordinator.roll(1, 3);
            Member late = new Member("b", RowsServer.Seat.whole(1));
            coordinator.resume();
            assertHas(late, 1, all(3));
        }
    }

    @Test
    void theSeatOfAMissingServerIsKept() throws Exception {
        new Member("a0", new RowsServer.Seat(0, 0, 2));
        Thread roll = Thread.ofPlatform().start(() -> {
            try (Coordinator coordinator = coordinator()) {
                coordinator.roll(1, 4);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        String waiting = "waiting: server 2 of 2 in group 0 does not answer";
        while (!log.take().equals(waiting)) {
            // A step before it.
        }
        Member second = new Member("a1", new RowsServer.Seat(0, 1, 2));
        roll.join();
        assertHas(second, 1, new Served(4, Set.of(1, 3)));
    }

    @Test
    void whoIsNoLongerInChargeIsStopped() throws Exception {
        Member member = new Member("a", RowsServer.Seat.whole(0));
        Thread former = Thread.ofPlatform().start(() -> {
            try (Coordinator coordinator = coordinator()) {
                coordinator.roll(13, 3);
                log.add("rolled");
            } catch (IllegalStateException e) {
                log.add("stopped: " + e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        member.rows.begun.await();
        try (Coordinator next = coordinator()) {
            Thread roll = Thread.ofPlatform().start(() -> {
                try {
                    next.roll(14, 5);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            Await.until(() -> registry.announced(ITEMS).map(Announced::version).orElse(0L) == 14);
            member.rows.end.countDown();
            roll.join();
        }
        former.join();
        assertHas(member, 14, all(5));
        assertThat(log).doesNotContain("rolled");
        assertThat(log).contains("stopped: a coordinator of term 2 is in charge, not one of term 1");
    }

    @Test
    void anOrderOfWhoIsNotInChargeIsRefusedThoughTheServerHasNotHeardOfTheNext() throws Exception {
        Member member = new Member("a", RowsServer.Seat.whole(0));
        long former = registry.takeCharge(ITEMS);
        registry.takeCharge(ITEMS);
        try (OrderService orders = new OrderService(
                Map.of(ITEMS, member.node),
                new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(ITEMS, member.rows), null))) {
            assertThatThrownBy(() -> orders.obey(new OrderWire.Order(
                            OrderWire.Kind.LOAD, ITEMS, former, 1, RollingUpdate.shardsAt(1, 0, 3))))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("a coordinator of term 2 is in charge, not one of term 1");
        }
        assertThat(member.node.view().versions()).isEmpty();
    }

    @Test
    void aTermThatTheRegistryHasNotGivenStopsNobody() throws Exception {
        Member member = new Member("a", RowsServer.Seat.whole(0));
        try (Coordinator coordinator = coordinator()) {
            coordinator.roll(1, 3);
            try (OrderService orders = new OrderService(
                    Map.of(ITEMS, member.node),
                    new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(ITEMS, member.rows), null))) {
                for (long term : new long[] {2, 1L << 40, 1L << 62}) {
                    assertThatThrownBy(() -> orders.obey(
                                    new OrderWire.Order(OrderWire.Kind.LOOK, ITEMS, term, 0, new Served(1, Set.of()))))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessage("a coordinator of term 1 is in charge, not one of term " + term);
                }
            }
            coordinator.roll(2, 3);
        }
        assertHas(member, 2, all(3));
        assertThat(registry.termInCharge(ITEMS)).isEqualTo(2);
    }

    @Test
    void aRegistryThatHasLostItsTermsIsGoneOnWith() throws Exception {
        Member member = new Member("a", RowsServer.Seat.whole(0));
        member.node.hear(1_000_000);
        try (Coordinator coordinator = coordinator()) {
            coordinator.roll(1, 3);
        }
        assertHas(member, 1, all(3));
        assertThat(registry.termInCharge(ITEMS)).isEqualTo(1_000_001);
    }

    @Test
    void eachOfSeveralWaitsIsReportedOnce() throws Exception {
        CountDownLatch looks = new CountDownLatch(10);
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        Coordinator.Observer observer = new Coordinator.Observer() {
            @Override
            public void told(String what) {
                log.add(what);
            }

            @Override
            public void saw(int versions, long bytes) {
                looks.countDown();
            }
        };
        Coordinator.Options options =
                new Coordinator.Options(2, Duration.ZERO, Duration.ofMinutes(1), null, null, observer);
        registry.register("gone", nobody);
        try (Coordinator coordinator = new Coordinator(registry, ITEMS, options)) {
            Thread roll = Thread.ofPlatform().start(() -> {
                try {
                    coordinator.roll(1, 3);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            looks.await();
            roll.interrupt();
            roll.join();
        }
        assertThat(log)
                .contains("waiting: there is no server that has table items")
                .doesNotHaveDuplicates();
        assertThat(log).anyMatch(line -> line.startsWith("server gone does not answer: UNAVAILABLE"));
    }

    @Test
    void aLoadThatFailsIsTriedAgain() throws Exception {
        Member member = new Member("a", RowsServer.Seat.whole(0));
        member.rows.error = new NoClassDefFoundError("example/Rows");
        Thread roll = Thread.ofPlatform().start(() -> {
            try (Coordinator coordinator = coordinator()) {
                coordinator.roll(1, 3);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(log.poll(30, TimeUnit.SECONDS))
                .isEqualTo(
                        "server a could not: ABORTED, java.lang.NoClassDefFoundError: example/Rows; next try in 500 ms");
        member.rows.failure = new IOException("no such rows");
        member.rows.error = null;
        assertThat(log.take()).isEqualTo("server a could not: ABORTED, no such rows; next try in 1000 ms");
        member.rows.failure = null;
        roll.join();
        assertHas(member, 1, all(3));
    }

    @Test
    void loadsThatFailAreTriedLessAndLessOften() {
        assertThat(LongStream.range(0, 8).map(failures -> Coordinator.pauseMillis((int) failures)))
                .containsExactly(500L, 1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L);
        assertThat(Coordinator.pauseMillis(Integer.MAX_VALUE)).isEqualTo(30_000);
    }

    @Test
    void theMemoryOfAVersionIsSeenWhileItIsLoaded() throws Exception {
        Member member = new Member("a", RowsServer.Seat.whole(0));
        member.rows.keys = 20_000;
        LinkedBlockingQueue<Long> seen = new LinkedBlockingQueue<>();
        Coordinator.Observer observer = new Coordinator.Observer() {
            @Override
            public void saw(int versions, long bytes) {
                if (versions == 2) {
                    seen.add(bytes);
                }
            }
        };
        try (Coordinator first = coordinator()) {
            first.roll(1, 3);
        }
        long one = member.node.bytes().getOrDefault(1L, 0L);
        member.rows.isHeldAtTheEnd = true;
        Thread roll = Thread.ofPlatform().start(() -> {
            try (Coordinator coordinator = new Coordinator(
                    registry,
                    ITEMS,
                    new Coordinator.Options(2, Duration.ofMillis(300), Duration.ofMinutes(1), null, null, observer))) {
                coordinator.roll(13, 3);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        member.rows.begun.await();
        long both = seen.take();
        while (both < 3 * one / 2) {
            both = seen.take();
        }
        assertThat(both).isLessThanOrEqualTo(3 * one);
        assertThat(member.node.view().versions()).containsOnlyKeys(1L);
        member.rows.end.countDown();
        roll.join();
        assertThat(member.node.bytes()).containsOnlyKeys(13L);
    }

    @Test
    void aVersionOfUnknownSizeIsNotTakenForAnEmptyOne() throws Exception {
        new Member("a0", new RowsServer.Seat(0, 0, 2));
        Member missing = new Member("a1", new RowsServer.Seat(0, 1, 2));
        try (Coordinator coordinator = coordinator()) {
            coordinator.roll(1, 6);
            missing.server.close();
            assertThatThrownBy(() -> coordinator.rollBySize(2, 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith(
                            "the size of table items is unknown: no group of servers reports all shards of version 1");
            assertThat(registry.announced(ITEMS)).map(Announced::shards).contains(6);
        }
    }

    @Test
    void aRolloutThatIsRefusedDoesNotStopTheCoordinatorInCharge() throws Exception {
        new Member("a", RowsServer.Seat.whole(0));
        try (Coordinator coordinator = coordinator()) {
            coordinator.roll(5, 3);
            long inCharge = registry.termInCharge(ITEMS);
            assertThatThrownBy(() -> coordinator.roll(4, 3)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> coordinator.rollBySize(4, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(registry.termInCharge(ITEMS)).isEqualTo(inCharge);
        }
    }

    @Test
    void aVersionWhoseLoadFailedAfterItWasSealedIsNotServedAfterARestartInsteadOfALaterOne() throws Exception {
        Path own = folder.resolve("n");
        Rows rows = new Rows();
        try (RowsNode node = RowsNode.open("n", own)) {
            node.load(1, 3, all(2), rows);
        }
        try (VersionedRows table = VersionedRows.open(own);
                VersionBuilder failed = table.begin(4, rows.schema(4))) {
            failed.seal();
        }
        try (RowsNode node = RowsNode.open("n", own)) {
            Files.copy(own.resolve("shards-3"), own.resolve("shards-4"));
            node.load(1, 5, all(2), rows);
            assertThat(node.view().versions()).containsOnlyKeys(3L, 5L);
        }
        try (RowsNode node = RowsNode.open("n", own)) {
            assertThat(node.view().versions()).containsOnlyKeys(3L, 5L);
        }
    }

    @Test
    void aServerThatRefusesAClientFailsNoBatchThatOthersAnswer() throws Exception {
        Member first = new Member("a", RowsServer.Seat.whole(0));
        Member second = new Member("b", RowsServer.Seat.whole(1));
        try (Coordinator coordinator = coordinator()) {
            coordinator.roll(1, 4);
        }
        second.registration.close();
        second.server.close();
        InetSocketAddress anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        RowsServer.Options ofStrangers =
                new RowsServer.Options(anywhere, null, null, Tokens.of("another token of 16"), 1 << 20, 1 << 20);
        try (RowsServer refusing = RowsServer.start(Map.of(ITEMS, second.node), ofStrangers);
                Registry.Registration _ = registry.register("b", refusing.address());
                RowsClient client = new RowsClient(registry)) {
            for (int i = 0; i < 100; i++) {
                RowsClient.FetchedRows rows = client.fetch(ITEMS, new long[] {1, 2, 3, 4, 5}, Duration.ofSeconds(20))
                        .join();
                assertThat(rows.version()).isEqualTo(1);
            }
            first.registration.close();
            first.server.close();
            assertThatThrownBy(() -> client.fetch(ITEMS, new long[] {1}, Duration.ofSeconds(20))
                            .join())
                    .hasMessageContaining("UNAUTHENTICATED");
        }
    }

    @Test
    void twoServersOfOneSeatAreRefused() throws Exception {
        new Member("a", RowsServer.Seat.whole(0));
        new Member("b", RowsServer.Seat.whole(0));
        try (Coordinator coordinator = coordinator()) {
            assertThatThrownBy(() -> coordinator.roll(1, 3))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("must have seats of their own");
        }
    }

    @Test
    void serversOfOtherTablesAreNoneOfThisOne() throws Exception {
        Member items = new Member("a", RowsServer.Seat.whole(0));
        Member shops = new Member("b", RowsServer.Seat.whole(0), "shops");
        try (Coordinator ofItems = coordinator();
                Coordinator ofShops = coordinator("shops", null)) {
            ofItems.roll(1, 3);
            ofShops.roll(7, 2);
            assertThat(ofItems.rollBySize(2, 1 << 20).shards()).isPositive();
        }
        assertThat(items.node.view().versions()).containsOnlyKeys(2L);
        assertHas(shops, 7, all(2));
        try (RowsClient client = new RowsClient(registry)) {
            assertThat(client.fetch("shops", new long[] {1}, Duration.ofSeconds(20))
                            .join()
                            .version())
                    .isEqualTo(7);
            assertThat(client.fetch(ITEMS, new long[] {1}, Duration.ofSeconds(20))
                            .join()
                            .version())
                    .isEqualTo(2);
        }
    }

    @Test
    void aTableThatNoServerHasIsWaitedFor() throws Exception {
        new Member("a", RowsServer.Seat.whole(0));
        Thread roll = Thread.ofPlatform().start(() -> {
            try (Coordinator coordinator = coordinator("shops", null)) {
                coordinator.roll(1, 3);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(log.take()).isEqualTo("waiting: there is no server that has table shops");
        Member shops = new Member("b", RowsServer.Seat.whole(0), "shops");
        roll.join();
        assertHas(shops, 1, all(3));
    }

    @Test
    void aServerThatCannotBeAskedHoldsUpNoOther() throws Exception {
        Member member = new Member("a", RowsServer.Seat.whole(0));
        registry.register("misspelt", InetSocketAddress.createUnresolved("no-such-host.invalid", 7));
        registry.register("other", new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 1, 2, 3}), 7));
        try (Coordinator coordinator = coordinator(ITEMS, Tokens.of("0123456789abcdef"))) {
            coordinator.roll(1, 3);
        }
        assertHas(member, 1, all(3));
        assertThat(log)
                .contains("server other does not answer: UNAVAILABLE,"
                        + " a token goes without TLS to loopback addresses only, not to /10.1.2.3:7")
                .anyMatch(
                        line -> line.startsWith(
                                "server misspelt does not answer: UNAVAILABLE, its address is not known: no-such-host.invalid"));
    }

    @Test
    void aServerThatTakesNoOrdersIsNamed() throws Exception {
        try (RowsNode node = RowsNode.open("a", folder.resolve("a"));
                RowsServer server = RowsServer.start(Map.of(ITEMS, node), RowsServer.Options.onLoopback(0));
                Coordinator coordinator = coordinator()) {
            registry.register("a", server.address());
            assertThatThrownBy(() -> coordinator.roll(1, 3))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("server a refuses");
        }
    }
}
