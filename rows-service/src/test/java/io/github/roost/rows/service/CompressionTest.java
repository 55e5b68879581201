package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.grpc.CallOptions;
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
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers with and without gzip, counted on the wire, and compressed messages beyond the limits. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway.Init")
class CompressionTest {
    private static final String ITEMS = "items";
    private static final Duration DEADLINE = Duration.ofSeconds(100);
    private static final int ROWS = 1_000;
    private static final long[] ALL = LongStream.range(0, ROWS).toArray();

    private static final RowSource SOURCE = new RowSource() {
        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofText("text"));
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            RowWriter row = to.writer();
            for (long key : ALL) {
                to.put(key, row.setText(0, text(key)));
            }
        }
    };

    @TempDir
    private Path folder;

    private RowsNode node;
    private RowsServer server;

    private static String text(long key) {
        return ("item " + key + ", ").repeat(80);
    }

    @BeforeEach
    void start() throws IOException {
        node = RowsNode.open("server", folder);
        node.load(1, 1, new Served(2, Set.of(0, 1)), SOURCE);
        server = RowsServer.start(Map.of(ITEMS, node), RowsServer.Options.onLoopback(0));
    }

    @AfterEach
    void stop() {
        server.close();
        node.close();
    }

    /** Forwards connections to a server, and counts the bytes that it answers with. */
    private static final class Counting implements AutoCloseable {
        private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final AtomicLong answered = new AtomicLong();

        Counting(InetSocketAddress to) throws IOException {
            Thread.startVirtualThread(() -> {
                try {
                    while (true) {
                        Socket from = listening.accept();
                        Socket server = new Socket(to.getAddress(), to.getPort());
                        Thread.startVirtualThread(() -> copy(from, server, new AtomicLong()));
                        Thread.startVirtualThread(() -> copy(server, from, answered));
                    }
                } catch (IOException closed) {
                    // The test is over.
                }
            });
        }

        private static void copy(Socket from, Socket to, AtomicLong count) {
            try (from;
                    to;
                    InputStream in = from.getInputStream();
                    OutputStream out = to.getOutputStream()) {
                byte[] bytes = new byte[1 << 16];
                for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                    count.addAndGet(read);
                    out.write(bytes, 0, read);
                }
            } catch (IOException closed) {
                // One of the two ends is gone.
            }
        }

        InetSocketAddress address() {
            return new InetSocketAddress(listening.getInetAddress(), listening.getLocalPort());
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }

    /**
     * Fetches all rows, checks them, and returns the bytes on the wire: the least of several times, as a busy machine's answers may be late, and sent
     * again.
     */
    private long bytesFor(boolean compressed) throws IOException {
        try (Counting wire = new Counting(server.address());
                InMemoryRegistry registry = new InMemoryRegistry()) {
            registry.register("server", wire.address());
            try (RowsClient client = new RowsClient(registry, null, null, compressed)) {
                long least = Long.MAX_VALUE;
                for (int i = 0; i < 10; i++) {
                    long before = wire.answered.get();
                    RowsClient.FetchedRows rows =
                            client.fetch(ITEMS, ALL, DEADLINE).join();
                    for (int row = 0; row < ALL.length; row++) {
                        assertThat(rows.batch(row).getText(rows.row(row), 0)).isEqualTo(text(ALL[row]));
                    }
                    least = Math.min(least, wire.answered.get() - before);
                }
                return least;
            }
        }
    }

    @Test
    void compressibleRowsTakeAFractionOfTheBytesIfTheClientAsksForIt() throws IOException {
        long bytes = LongStream.of(ALL).map(key -> text(key).length()).sum();
        long plain = bytesFor(false);
        long compressed = bytesFor(true);
        assertThat(plain).isGreaterThan(bytes);
        assertThat(compressed).isLessThan(plain / 10);
    }

    @Test
    void theLimitOfAnswersIsThatOfTheirRowsBeforeCompression() throws IOException {
        RowsServer.Options limits = new RowsServer.Options(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), null, null, null, 1 << 20, 100_000);
        try (RowsServer limited = RowsServer.start(Map.of(ITEMS, node), limits);
                InMemoryRegistry registry = new InMemoryRegistry()) {
            registry.register("server", limited.address());
            try (RowsClient client = new RowsClient(registry, null, null, true)) {
                assertThatThrownBy(() -> client.fetch(ITEMS, ALL, DEADLINE).join())
                        .cause()
                        .hasMessageContaining("the rows of a batch must have 100000 bytes at most, got ");
            }
        }
    }

    /** Sends bytes as they are; the other end's marshaller reads them. */
    private record Raw(InputStream content) implements MethodDescriptor.Marshaller<Object> {
        @Override
        public InputStream stream(Object value) {
            return content;
        }

        @Override
        public Object parse(InputStream stream) {
            return stream;
        }
    }

    private static MethodDescriptor<Object, Object> fetchOf(InputStream request, InputStream answer) {
        return MethodDescriptor.newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(Wire.FETCH.getFullMethodName())
                .setRequestMarshaller((MethodDescriptor.Marshaller<Object>) new Raw(request))
                .setResponseMarshaller((MethodDescriptor.Marshaller<Object>) new Raw(answer))
                .build();
    }

    /** Zeros, which gzip makes a thousand times smaller. */
    private static final class Zeros extends InputStream {
        private long left;

        Zeros(long bytes) {
            this.left = bytes;
        }

        @Override
        public int read() {
            return left-- > 0 ? 0 : -1;
        }

        @Override
        public int read(byte[] to, int at, int count) {
            int some = (int) Math.min(left, count);
            Arrays.fill(to, at, at + Math.max(some, 0), (byte) 0);
            left -= some;
            return some > 0 ? some : -1;
        }
    }

    private static byte[] head() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            Wire.writeProtocol(out);
            out.writeBoolean(false);
            out.writeBoolean(true);
            out.writeLong(1);
            out.writeLong(0);
            out.writeInt(1);
            out.write(SOURCE.schema(1).encode());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Asks a server that has its answers compressed where gRPC lets it. */
    private static void assertAnswerRefused(InputStream answer, boolean compressed, String why) throws IOException {
        Server sender = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(ServerServiceDefinition.builder(Wire.SERVICE)
                        .addMethod(
                                fetchOf(InputStream.nullInputStream(), answer),
                                ServerCalls.asyncUnaryCall((Object request, StreamObserver<Object> to) -> {
                                    ((ServerCallStreamObserver<Object>) to).setCompression("gzip");
                                    to.onNext(request);
                                    to.onCompleted();
                                }))
                        .build())
                .build()
                .start();
        try (Channels channels = new Channels(null, null, compressed)) {
            channels.setServers(Map.of(
                    "sender", (InetSocketAddress) sender.getListenSockets().getFirst()));
            // gRPC's code for an answer that its reader refuses; the batch asks another server.
            assertRefused(channels.to("sender"), Wire.FETCH, request(), null, Status.Code.CANCELLED, why);
        } finally {
            sender.shutdownNow();
        }
    }

    @Test
    void anAnswerThatIsTooLongOnceDecompressedIsRefused() throws IOException {
        InputStream bomb = new SequenceInputStream(new ByteArrayInputStream(head()), new Zeros(300L << 20));
        assertAnswerRefused(bomb, true, "Decompressed gRPC message exceeds maximum size 269484032");
        // Sent as it is to a client that does not accept gzip.
        assertAnswerRefused(new ByteArrayInputStream(head()), false, "size must be between 0 and 0, got 1");
    }

    private static Wire.Request request() {
        return new Wire.Request(ITEMS, 1, 2, 0, 0, List.of(), new long[0]);
    }

    private static <Q> void assertRefused(
            ManagedChannel channel,
            MethodDescriptor<Q, ?> method,
            Q request,
            @Nullable String compression,
            Status.Code with,
            String why) {
        CallOptions options = CallOptions.DEFAULT
                .withDeadlineAfter(DEADLINE.toSeconds(), TimeUnit.SECONDS)
                .withCompression(compression);
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, method, options, request))
                .isInstanceOfSatisfying(StatusRuntimeException.class, refused -> {
                    assertThat(refused.getStatus().getCode()).isEqualTo(with);
                    assertThat(refused.getMessage() + refused.getCause()).contains(why);
                });
    }

    @Test
    void aServerReadsNoCompressedRequest() {
        ManagedChannel channel =
                NettyChannelBuilder.forAddress(server.address()).usePlaintext().build();
        try {
            for (InputStream content : List.of(new Zeros(300L << 20), new Zeros(10))) {
                assertRefused(
                        channel,
                        fetchOf(content, InputStream.nullInputStream()),
                        new Object(),
                        "gzip",
                        Status.Code.UNIMPLEMENTED,
                        "gzip");
            }
        } finally {
            channel.shutdownNow();
        }
    }
}
