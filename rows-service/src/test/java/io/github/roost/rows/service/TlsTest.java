package io.github.roost.rows.service;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.Await;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with TLS and a token, and who is let in. The JDK's keytool makes the certificates. */
@Tag("program")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway.Init")
class TlsTest {
    private static final String ITEMS = "items";
    private static final Tokens TOKEN = Tokens.of("0123456789abcdef");
    private static final Tokens ORDERS_TOKEN = Tokens.of("orders-0123456789");
    private static final Tokens WRONG = Tokens.of("0123456789abcdeg");
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofSeconds(3);

    @TempDir
    private Path folder;

    private final InMemoryRegistry registry = new InMemoryRegistry();
    private Pem own;
    private RowsNode node;
    private RowsServer server;

    @BeforeEach
    void start() throws Exception {
        own = Pem.of(folder, "own");
        node = RowsNode.open("a", folder.resolve("a"));
        RowsServer.Options options = new RowsServer.Options(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                own.certificate(),
                own.key(),
                TOKEN,
                1 << 20,
                1 << 20);
        server = RowsServer.start(
                Map.of(ITEMS, node),
                options,
                new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(ITEMS, new OneRow()), ORDERS_TOKEN));
        registry.register("a", server.address());
    }

    @AfterEach
    void stop() {
        server.close();
        node.close();
        registry.close();
    }

    private Coordinator coordinator(@Nullable Path trusted, @Nullable Tokens token) {
        return new Coordinator(
                registry,
                ITEMS,
                new Coordinator.Options(1, Duration.ZERO, LONG, trusted, token, new Coordinator.Observer() {}));
    }

    private RowsClient.FetchedRows fetch(@Nullable Path trusted, @Nullable Tokens token, Duration deadline) {
        try (RowsClient client = new RowsClient(registry, trusted, token)) {
            return client.fetch(ITEMS, new long[] {1}, deadline).join();
        }
    }

    @Test
    void whoTrustsTheServerAndHasTheTokenGivesOrdersAndIsAnswered() throws Exception {
        try (Coordinator coordinator = coordinator(own.certificate(), ORDERS_TOKEN)) {
            coordinator.roll(1, 1);
        }
        RowsClient.FetchedRows rows = fetch(own.certificate(), TOKEN, LONG);
        assertThat(rows.isPresent(0)).isTrue();
        assertThat(rows.version()).isEqualTo(1);
    }

    @Test
    void aWrongTokenIsRefusedAndNamedAsSuch() {
        for (Tokens token : new Tokens[] {WRONG, null, ORDERS_TOKEN}) {
            assertThatThrownBy(() -> fetch(own.certificate(), token, LONG))
                    .cause()
                    .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
                        assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
                        assertThat(e.getStatus().getDescription()).isEqualTo("the token is missing or wrong");
                    });
        }
        for (Tokens token : new Tokens[] {WRONG, null, TOKEN}) {
            try (Coordinator coordinator = coordinator(own.certificate(), token)) {
                assertThatThrownBy(() -> coordinator.roll(1, 1))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("server a refuses: the token is missing or wrong");
            }
        }
        assertThat(node.view().versions()).isEmpty();
    }

    @Test
    void aReadersTokenIsNoCoordinators() {
        for (Tokens ofOrders : new Tokens[] {null, TOKEN}) {
            assertThatThrownBy(() -> RowsServer.start(
                            Map.of(ITEMS, node),
                            new RowsServer.Options(
                                    server.address(), own.certificate(), own.key(), TOKEN, 1 << 20, 1 << 20),
                            new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(), ofOrders)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("fetches and orders must have a token each, and not the same, or neither");
        }
        assertThatThrownBy(() -> Tokens.of("short")).hasMessage("token must have 16 characters or more, got 5");
        assertThatThrownBy(() -> Tokens.of("пароль-координатора"))
                .hasMessage("token must be of printable ASCII characters, got another");
    }

    @Test
    void aRenewedCertificateIsServedWithoutARestart() throws Exception {
        Path before = Files.copy(own.certificate(), folder.resolve("before.pem"));
        assertThat(isAnswered(before)).isTrue();
        Pem next = Pem.of(folder, "next");
        // The key first: until the certificate is there, too, both old ones are served.
        Files.copy(next.key(), own.key(), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(next.certificate(), own.certificate(), StandardCopyOption.REPLACE_EXISTING);
        Await.until(() -> isAnswered(next.certificate()));
        assertThat(isAnswered(before)).isFalse();
    }

    @Test
    void anAuthorityThatIsAddedIsTrustedWithoutARestart() throws Exception {
        Path trusted = folder.resolve("trusted.pem");
        Files.copy(Pem.of(folder, "other").certificate(), trusted);
        try (ChangedFiles secrets = new ChangedFiles(20);
                Channels channels = new Channels(trusted, TOKEN, false, System::nanoTime, secrets)) {
            assertThat(isAnswered(channels)).isFalse();
            Files.writeString(trusted, "no certificate");
            Files.copy(own.certificate(), trusted, StandardCopyOption.REPLACE_EXISTING);
            Await.until(() -> isAnswered(channels));
        }
    }

    /** Whether a client that connects for the first time is answered. */
    private boolean isAnswered(Path trusted) {
        try (Channels channels = new Channels(trusted, TOKEN, false)) {
            return isAnswered(channels);
        }
    }

    /** Whether a new connection is answered. */
    private boolean isAnswered(Channels channels) {
        channels.setServers(Map.of());
        channels.setServers(Map.of("a", server.address()));
        try {
            HealthGrpc.newBlockingStub(channels.to("a"))
                    .withDeadlineAfter(20, TimeUnit.SECONDS)
                    .check(HealthCheckRequest.getDefaultInstance());
            return true;
        } catch (StatusRuntimeException e) {
            assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
    }

    @Test
    void plainTextToTheTlsPortIsRefused() throws IOException {
        assertThatThrownBy(() -> fetch(null, TOKEN, SHORT))
                .cause()
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("server a: UNAVAILABLE");
        try (Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort())) {
            socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            socket.getInputStream().transferTo(answer);
            // An alert of TLS at most, and the end: nothing of HTTP.
            assertThat(answer.toByteArray().length).isLessThan(16);
        }
    }

    @Test
    void aServerThatIsNotTrustedIsToldNothing() throws Exception {
        Path other = Pem.of(folder, "other").certificate();
        assertThatThrownBy(() -> fetch(other, TOKEN, SHORT))
                .cause()
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("server a: UNAVAILABLE");
    }
}
