package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.TextKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers whose sources of a version have different rows. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ContentTest {
    private static final String ITEMS = "items";
    private static final long[] KEYS = LongStream.range(0, 64).toArray();
    private static final Duration DEADLINE = Duration.ofSeconds(100);

    @TempDir
    private Path folder;

    private final InMemoryRegistry registry = new InMemoryRegistry();
    private final List<Member> members = new ArrayList<>();

    /** Rows with one value, which a test may change. */
    private static final class Source implements RowSource {
        private long value;
        private @Nullable String snapshot;
        private boolean isBackwards;
        private final Set<Integer> requested = new HashSet<>();
        private Runnable during = () -> {};

        Source(long value) {
            this.value = value;
        }

        @Override
        public @Nullable String snapshot(long version) {
            return snapshot;
        }

        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofLong("value"));
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            requested.addAll(shards.here());
            RowWriter row = to.writer();
            for (int i = 0; i < KEYS.length; i++) {
                to.put(KEYS[isBackwards ? KEYS.length - 1 - i : i], row.setLong(0, value));
            }
            during.run();
        }
    }

    private final class Member implements AutoCloseable {
        private final Source source;
        private final RowsNode node;
        private final RowsServer server;
        private final Registry.Registration registration;

        Member(String name, RowsServer.Seat seat, long value) throws IOException {
            source = new Source(value);
            node = RowsNode.open(name, folder.resolve(name));
            server = RowsServer.start(
                    Map.of(ITEMS, node),
                    RowsServer.Options.onLoopback(0),
                    new RowsServer.Orders(registry, seat, Map.of(ITEMS, source), null));
            registration = registry.register(name, server.address());
            members.add(this);
        }

        long content(long version) {
            return Objects.requireNonNull(node.view().versions().get(version)).content();
        }

        @Override
        public void close() {
            registration.close();
            server.close();
            node.close();
        }
    }

    @AfterEach
    void stop() {
        members.forEach(Member::close);
        registry.close();
    }

    private static void assertValues(RowsClient client, long value) {
        RowsClient.FetchedRows rows = client.fetch(ITEMS, KEYS, DEADLINE).join();
        for (int i = 0; i < KEYS.length; i++) {
            assertThat(rows.batch(i).getLong(rows.row(i), 0)).isEqualTo(value);
        }
    }

    @Test
    void halvesWithRowsOfTwoStatesAreNoVersion() throws IOException {
        for (int half = 0; half < 2; half++) {
            Member member = new Member("s" + half, new RowsServer.Seat(0, half, 2), 100 + half);
            member.node.load(1, 1, RollingUpdate.shardsAt(2, half, 2), member.source);
        }
        try (RowsClient client = new RowsClient(registry)) {
            assertThatThrownBy(() ->
                            client.fetch(ITEMS, KEYS, Duration.ofSeconds(1)).join())
                    .cause()
                    .isInstanceOf(TimeoutException.class);
            // Each half alone, and any rows, of one state only.
            RowsClient.FetchedRows any;
            members.get(1).source.value = 100;
            members.get(1).node.load(1, 2, RollingUpdate.shardsAt(2, 1, 2), members.get(1).source);
            members.get(0).node.load(1, 2, RollingUpdate.shardsAt(2, 0, 2), members.get(0).source);
            assertValues(client, 100);
            any = client.fetchAny(ITEMS, KEYS, DEADLINE).join();
            assertThat(any.version(0)).isEqualTo(2);
        }
    }

    @Test
    void ofReplicasOnlyThoseThatMostServersHaveAreAsked() throws IOException {
        for (int i = 0; i < 3; i++) {
            Member member = new Member("s" + i, RowsServer.Seat.whole(i), i == 1 ? 101 : 100);
            member.node.load(1, 1, RollingUpdate.shardsAt(1, 0, 4), member.source);
        }
        try (RowsClient client = new RowsClient(registry)) {
            // Before it knows all three, the first that it hears of counts.
            while (client.known(ITEMS).views().size() < 3) {
                client.fetch(ITEMS, KEYS, DEADLINE).join();
            }
            for (int i = 0; i < 100; i++) {
                assertValues(client, 100);
            }
        }
    }

    private Coordinator coordinator(Registry of) {
        return new Coordinator(
                of,
                ITEMS,
                new Coordinator.Options(
                        2, Duration.ofMillis(100), Duration.ofMinutes(1), null, null, new Coordinator.Observer() {}));
    }

    @Test
    void aSourceThatMovesBetweenTwoLoadsStopsTheRollout() throws Exception {
        Member first = new Member("a", RowsServer.Seat.whole(0), 100);
        Member second = new Member("b", RowsServer.Seat.whole(1), 101);
        try (Coordinator coordinator = coordinator(registry)) {
            assertThatThrownBy(() -> coordinator.roll(1, 2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("server b refuses: version 1 must have content "
                            + Long.toHexString(first.content(1)) + ", the source of server b has ");
            assertThat(second.node.view().versions()).isEmpty();
            second.source.value = 100;
            assertThat(coordinator.resume().orElseThrow().content()).isEqualTo(first.content(1));
            long content = first.content(1);
            assertThat(second.content(1)).isEqualTo(content);
            // The order of the rows is not their content.
            second.source.isBackwards = true;
            coordinator.roll(2, 2);
            assertThat(second.content(2)).isEqualTo(first.content(2)).isEqualTo(content);
        }
    }

    @Test
    void aFolderThatIsKeptFromAnotherNumberingIsNotTheVersion() throws Exception {
        Member kept = new Member("a", RowsServer.Seat.whole(0), 99);
        try (Coordinator coordinator = coordinator(registry)) {
            coordinator.roll(1, 2);
            long before = kept.content(1);
            kept.close();
            members.clear();
            kept = new Member("a", RowsServer.Seat.whole(0), 100);
            assertThat(kept.content(1)).isEqualTo(before);
        }
        try (InMemoryRegistry anew = new InMemoryRegistry();
                Coordinator coordinator = coordinator(anew);
                RowsNode other = RowsNode.open("b", folder.resolve("b"));
                RowsServer serverOther = RowsServer.start(
                        Map.of(ITEMS, other),
                        RowsServer.Options.onLoopback(0),
                        new RowsServer.Orders(anew, RowsServer.Seat.whole(1), Map.of(ITEMS, new Source(100)), null));
                RowsServer serverKept = RowsServer.start(
                        Map.of(ITEMS, kept.node),
                        RowsServer.Options.onLoopback(0),
                        new RowsServer.Orders(anew, RowsServer.Seat.whole(0), Map.of(ITEMS, kept.source), null))) {
            anew.register("a", serverKept.address());
            anew.register("b", serverOther.address());
            assertThatThrownBy(() -> coordinator.roll(1, 2)).hasMessageContaining("version 1 must have content ");
            other.load(anew.termInCharge(ITEMS), 1, RollingUpdate.shardsAt(1, 0, 2), new Source(100));
            assertThatThrownBy(() -> coordinator.roll(1, 2))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("all servers must have one content of version 1, but the announcement has ")
                    .hasMessageContaining("roll out a higher version");
            coordinator.roll(2, 2);
            try (RowsClient client = new RowsClient(anew)) {
                assertValues(client, 100);
            }
        }
    }

    @Test
    void aSnapshotSparesTheRowsOfOtherShardsAndMustNotMove() throws IOException {
        Member member = new Member("a", new RowsServer.Seat(0, 0, 2), 100);
        Source source = member.source;
        Served half = RollingUpdate.shardsAt(2, 0, 4);
        member.node.load(1, 1, half, source);
        assertThat(source.requested).containsExactlyInAnyOrder(0, 1, 2, 3);
        source.requested.clear();
        source.snapshot = "monday";
        member.node.load(1, 2, half, source);
        assertThat(source.requested).containsExactlyInAnyOrder(0, 2);
        source.snapshot = "tuesday";
        assertThatThrownBy(() -> member.node.load(1, 2, half, source))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("version 2 must have content ");
        member.node.unload(1, 1);
        source.during = () -> source.snapshot = "wednesday";
        assertThatThrownBy(() -> member.node.load(1, 3, half, source))
                .isInstanceOf(IOException.class)
                .hasMessage("the source must stay at snapshot tuesday of version 3 while it is read, is at wednesday");
        assertThat(member.node.view().versions()).containsOnlyKeys(2L);
        source.during = () -> {};
        member.node.load(1, 3, half, source);
        assertThat(member.content(3)).isNotEqualTo(member.content(2));
    }

    /** Rows by texts, of which all servers hash all. */
    private record Texts(String last) implements RowSource {
        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofText("name"));
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            RowWriter row = to.writer();
            for (String name : List.of("a", "b", "c", "d", "e", "f", last)) {
                to.put(new TextKeys("name"), name, row);
            }
        }
    }

    @Test
    void oneOtherTextInAnotherShardIsAnotherContent() throws IOException {
        Set<Long> contents = new HashSet<>();
        for (int server = 0; server < 4; server++) {
            Path at = folder.resolve("text" + server);
            Served half = RollingUpdate.shardsAt(2, server % 2, 2);
            try (RowsNode node = RowsNode.open("s", at)) {
                node.load(1, 1, half, new Texts(server < 2 ? "g" : "h"));
                contents.add(
                        Objects.requireNonNull(node.view().versions().get(1L)).content());
            }
            try (RowsNode again = RowsNode.open("s", at)) {
                contents.add(
                        Objects.requireNonNull(again.view().versions().get(1L)).content());
            }
        }
        assertThat(contents).hasSize(2);
    }
}
