package io.github.roost.rows.service;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
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
    private static final String TOKEN = "0123456789abcdef";
    private static final String ORDERS_TOKEN = "orders-0123456789";
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
        RowSource rows = new RowSource() {
            @Override
            public Schema schema(long version) {
                return Schema.of(Column.ofLong("version"));
            }

            @Override
            public void load(long version, Served shards, Sink to) {
                RowWriter row = to.writer();
                to.put(1, row.setLong(0, version));
            }
        };
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
                new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(ITEMS, rows), ORDERS_TOKEN));
        registry.register("a", server.address());
    }

    @AfterEach
    void stop() {
        server.close();
        node.close();
        registry.close();
    }

    private Coordinator coordinator(@Nullable Path trusted, @Nullable String token) {
        return new Coordinator(
                registry,
                ITEMS,
                new Coordinator.Options(1, Duration.ZERO, LONG, trusted, token, new Coordinator.Observer() {}));
    }

    private RowsClient.FetchedRows fetch(@Nullable Path trusted, @Nullable String token, Duration deadline) {
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
        for (String token : new String[] {"0123456789abcdeg", null, ORDERS_TOKEN}) {
            assertThatThrownBy(() -> fetch(own.certificate(), token, LONG))
                    .cause()
                    .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
                        assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
                        assertThat(e.getStatus().getDescription()).isEqualTo("the token is missing or wrong");
                    });
        }
        for (String token : new String[] {"0123456789abcdeg", null, TOKEN}) {
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
        for (String ofOrders : new String[] {null, TOKEN}) {
            assertThatThrownBy(() -> RowsServer.start(
                            Map.of(ITEMS, node),
                            new RowsServer.Options(
                                    server.address(), own.certificate(), own.key(), TOKEN, 1 << 20, 1 << 20),
                            new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(), ofOrders)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("fetches and orders must have a token each, and not the same, or neither");
        }
        assertThatThrownBy(() -> new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(), "short"))
                .hasMessage("token must have 16 characters or more, got 5");
        assertThatThrownBy(() ->
                        new RowsServer.Orders(registry, RowsServer.Seat.whole(0), Map.of(), "пароль-координатора"))
                .hasMessage("token must be of printable ASCII characters, got another");
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
