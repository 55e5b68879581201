package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tokens that are replaced while servers and clients run. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TokensTest {
    private static final String ITEMS = "items";
    private static final String OLD = "the-old-token-0123";
    private static final String NEW = "the-new-token-4567";
    private static final String ORDERS = "orders-token-01234";

    @TempDir
    private Path folder;

    @Test
    void aTokenIsReplacedWithoutARestart() throws Exception {
        Path ofServer = Files.writeString(folder.resolve("server"), OLD + "\n");
        Path ofClient = Files.writeString(folder.resolve("client"), OLD + "\n");
        try (InMemoryRegistry registry = new InMemoryRegistry();
                RowsNode node = loaded();
                RowsServer server = RowsServer.start(Map.of(ITEMS, node), options(Tokens.inFile(ofServer)));
                Registry.Registration _ = registry.register("a", server.address());
                RowsClient client = new RowsClient(registry, null, Tokens.inFile(ofClient));
                RowsClient former = new RowsClient(registry, null, Tokens.of(OLD));
                RowsClient next = new RowsClient(registry, null, Tokens.of(NEW))) {
            assertThat(isAnswered(client)).isTrue();
            assertThat(isAnswered(next)).isFalse();

            Files.writeString(ofServer, OLD + "\n\n  " + NEW + " \r\n");
            Await.until(() -> isAnswered(next));
            assertThat(isAnswered(former)).isTrue();

            Files.writeString(ofClient, NEW);
            assertThat(isAnswered(client)).isTrue();

            Files.writeString(ofServer, NEW);
            Await.until(() -> !isAnswered(former));
            assertThat(isAnswered(next)).isTrue();
            Await.until(() -> isAnswered(client));
        }
    }

    @Test
    void aTokenOfReadersGivesNoOrdersEvenIfAFileNamesItForBoth() throws Exception {
        Path ofOrders = Files.writeString(folder.resolve("orders"), ORDERS);
        Tokens orders = Tokens.inFile(ofOrders);
        try (InMemoryRegistry registry = new InMemoryRegistry();
                RowsNode node = RowsNode.open("a", folder.resolve("a"));
                RowsServer server = RowsServer.start(
                        Map.of(ITEMS, node),
                        options(Tokens.of(OLD)),
                        new RowsServer.Orders(
                                registry, RowsServer.Seat.whole(0), Map.of(ITEMS, new OneRow()), orders));
                Registry.Registration _ = registry.register("a", server.address())) {
            Files.writeString(ofOrders, ORDERS + "\n" + OLD + "\n" + NEW);
            Await.until(() -> orders.accept(NEW));
            try (Coordinator reader = coordinator(registry, OLD)) {
                assertThatThrownBy(() -> reader.roll(1, 1)).hasMessageContaining("the token is missing or wrong");
            }
            try (Coordinator coordinator = coordinator(registry, NEW)) {
                coordinator.roll(1, 1);
            }
            assertThat(node.view().versions()).containsOnlyKeys(1L);
        }
    }

    @Test
    void filesWithoutTokensAreRefused() throws IOException {
        Path file = folder.resolve("tokens");
        assertThatThrownBy(() -> Tokens.inFile(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("token file must be readable, got " + file);
        Files.writeString(file, "\n \n");
        assertThatThrownBy(() -> Tokens.inFile(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tokens in " + file);
        Files.writeString(file, OLD + "\nshort\n");
        assertThatThrownBy(() -> Tokens.inFile(file)).hasMessage("token must have 16 characters or more, got 5");
        Files.writeString(file, (OLD + "\n").repeat(17));
        assertThatThrownBy(() -> Tokens.inFile(file)).hasMessageContaining("tokens in " + file);
        assertThat(Tokens.of(OLD).toString()).doesNotContain(OLD);
    }

    private static Coordinator coordinator(Registry registry, String token) {
        return new Coordinator(
                registry,
                ITEMS,
                new Coordinator.Options(
                        1,
                        Duration.ZERO,
                        Duration.ofSeconds(30),
                        null,
                        Tokens.of(token),
                        new Coordinator.Observer() {}));
    }

    private static boolean isAnswered(RowsClient client) {
        try {
            client.fetch(ITEMS, new long[] {1}, Duration.ofSeconds(20)).join();
            return true;
        } catch (CompletionException refused) {
            assertThat(refused).hasMessageContaining("UNAUTHENTICATED");
            return false;
        }
    }

    private static RowsServer.Options options(Tokens tokens) {
        return new RowsServer.Options(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), null, null, tokens, 1 << 20, 1 << 20);
    }

    private RowsNode loaded() throws IOException {
        RowsNode node = RowsNode.open("a", folder.resolve("a"));
        node.load(1, 1, new Served(1, Set.of(0)), new OneRow());
        return node;
    }
}
