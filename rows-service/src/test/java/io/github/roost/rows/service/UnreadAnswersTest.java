package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that ask for many large answers and read none, beside others. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnreadAnswersTest {
    private static final Duration DEADLINE = Duration.ofMinutes(1);
    /** A client asks for the view of a server that has been silent for a second: its answer has fewer bytes than rows have. */
    private static final int MAX_VIEW_BYTES = 1_000;

    private static final String ITEMS = "items";
    private static final long MAX_BYTES = 32 << 20;
    private static final int ROW_BYTES = 1_000;

    private static final RowSource SOURCE = new RowSource() {
        @Override
        public Schema schema(long version) {
            return Schema.of(Column.ofBytes("value"));
        }

        @Override
        public void load(long version, Served shards, Sink to) {
            RowWriter row = to.writer();
            for (long key = 0; key < 100; key++) {
                to.put(key, row.setBytes(0, new byte[ROW_BYTES]));
            }
        }
    };

    /** The threads that wrote answers with rows. */
    private final Queue<Thread> writers = new ConcurrentLinkedQueue<>();

    private final List<ManagedChannel> channels = new ArrayList<>();
    private final InMemoryRegistry registry = new InMemoryRegistry();

    @TempDir
    private Path folder;

    private RowsNode node;
    private FetchService service;
    private Server server;

    @BeforeEach
    void start() throws IOException {
        node = RowsNode.open("server", folder);
        node.load(1, 1, new Served(1, Set.of(0)), SOURCE);
        service = new FetchService(Map.of(ITEMS, node), 1 << 28, MAX_BYTES);
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(service.definition())
                .addTransportFilter(service.connections())
                .addStreamTracerFactory(service.deadlines())
                .addStreamTracerFactory(new ServerStreamTracer.Factory() {
                    @Override
                    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                        return new ServerStreamTracer() {
                            @Override
                            public void outboundUncompressedSize(long bytes) {
                                if (bytes > MAX_VIEW_BYTES) {
                                    writers.add(Thread.currentThread());
                                }
                            }
                        };
                    }
                })
                .directExecutor()
                .build()
                .start();
        registry.register(
                "server", (InetSocketAddress) server.getListenSockets().getFirst());
    }

    @AfterEach
    void stop() {
        channels.forEach(ManagedChannel::shutdownNow);
        server.shutdownNow();
        service.close();
        node.close();
    }

    private static long[] sevens(int keys) {
        long[] sevens = new long[keys];
        Arrays.fill(sevens, 7);
        return sevens;
    }

    /** Sends requests over one connection, and reads no answer. Returns the ends of the calls. */
    private Queue<Status> ask(int requests, int keys, CallOptions options) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        (InetSocketAddress) server.getListenSockets().getFirst())
                .usePlaintext()
                .build();
        channels.add(channel);
        Queue<Status> ends = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < requests; i++) {
            ask(channel, new Wire.Request(ITEMS, 1, 1, 0, 0, List.of(), sevens(keys)), options, ends);
        }
        return ends;
    }

    private static void ask(ManagedChannel channel, Wire.Request request, CallOptions options, Queue<Status> ends) {
        ClientCall<Wire.Request, Wire.Reply> call = channel.newCall(Wire.FETCH, options);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        ends.add(status);
                    }
                },
                new Metadata());
        call.sendMessage(request);
        call.halfClose();
    }

    private void fillsAllThatIsForLargeOnes() {
        for (int connection = 0; connection < 6; connection++) {
            ask(40, 7_000, CallOptions.DEFAULT);
        }
        while (service.inFlight() < 20_000_000) {
            assertThat(service.inFlight()).isLessThanOrEqualTo(MAX_BYTES + MAX_BYTES / 4);
            Thread.onSpinWait();
        }
    }

    private void givesAllBack() {
        while (service.inFlight() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void whoDoesNotReadFillsAPartOfTheMemoryAndHoldsUpNoSmallAnswer() throws Exception {
        fillsAllThatIsForLargeOnes();
        try (RowsClient client = new RowsClient(registry)) {
            for (int i = 0; i < 200; i++) {
                assertThat(client.fetch(ITEMS, new long[] {1, 2}, DEADLINE)
                                .join()
                                .isPresent(1))
                        .isTrue();
                assertThat(service.inFlight()).isLessThanOrEqualTo(MAX_BYTES + MAX_BYTES / 4);
            }
            CompletableFuture<RowsClient.FetchedRows> large = client.fetch(ITEMS, sevens(7_000), DEADLINE);
            channels.forEach(ManagedChannel::shutdownNow);
            assertThat(large.get(1, TimeUnit.MINUTES).size()).isEqualTo(7_000);
        }
        givesAllBack();
    }

    @Test
    void anAnswerThatIsNotReadIsGivenUpAtItsDeadline() {
        Queue<Status> ends = ask(10, 7_000, CallOptions.DEFAULT.withDeadlineAfter(2, TimeUnit.SECONDS));
        while (ends.size() < 10) {
            Thread.onSpinWait();
        }
        assertThat(ends).extracting(Status::getCode).containsOnly(Status.Code.DEADLINE_EXCEEDED);
        givesAllBack();
    }

    @Test
    void answersWithoutRowsCountTooAndOthersGetTheirs() {
        for (int connection = 0; connection < 16; connection++) {
            ManagedChannel channel = NettyChannelBuilder.forAddress(
                            (InetSocketAddress) server.getListenSockets().getFirst())
                    .usePlaintext()
                    .flowControlWindow(1)
                    .build();
            channels.add(channel);
            for (int i = 0; i < 500; i++) {
                Wire.Request unknown = new Wire.Request(ITEMS, 9, 1, 0, 0, List.of(), new long[0]);
                ask(channel, unknown, CallOptions.DEFAULT, new ConcurrentLinkedQueue<>());
            }
        }
        // Each connection may have a little beside that.
        long most = MAX_BYTES / 4 + 17 * 65_536;
        while (service.inFlight() < MAX_BYTES / 4 - 2_100) {
            assertThat(service.inFlight()).isLessThanOrEqualTo(most);
            Thread.onSpinWait();
        }
        try (RowsClient client = new RowsClient(registry)) {
            for (int i = 0; i < 100; i++) {
                assertThat(client.fetch(ITEMS, new long[] {1, 2}, DEADLINE)
                                .join()
                                .isPresent(1))
                        .isTrue();
                assertThat(service.inFlight()).isLessThanOrEqualTo(most);
            }
        }
        channels.forEach(ManagedChannel::shutdownNow);
        givesAllBack();
    }

    @Test
    void aLargeAnswerComesThroughBesideManySmallOnesOfTheSameClient() throws Exception {
        try (RowsClient client = new RowsClient(registry)) {
            List<CompletableFuture<RowsClient.FetchedRows>> small = new ArrayList<>();
            List<CompletableFuture<RowsClient.FetchedRows>> large = new ArrayList<>();
            for (int i = 0; i < 600; i++) {
                small.add(client.fetch(ITEMS, sevens(i % 2 == 0 ? 200 : 400), DEADLINE));
                if (i % 200 == 100) {
                    large.add(client.fetch(ITEMS, sevens(25_000), DEADLINE));
                }
            }
            for (CompletableFuture<RowsClient.FetchedRows> one : large) {
                assertThat(one.get(1, TimeUnit.MINUTES).size()).isEqualTo(25_000);
            }
            for (CompletableFuture<RowsClient.FetchedRows> one : small) {
                assertThat(one.get(1, TimeUnit.MINUTES).isPresent(0)).isTrue();
            }
        }
        givesAllBack();
    }

    @Test
    void requestsThatWaitAreLimitedToo() {
        fillsAllThatIsForLargeOnes();
        Queue<Status> ends = ask(40, 25_000, CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS));
        while (ends.isEmpty()) {
            Thread.onSpinWait();
        }
        assertThat(ends.element().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(ends.element().getDescription()).isEqualTo("too many requests wait for their answers");
    }

    private Thread writerOf(RowsClient client, int keys) {
        writers.clear();
        assertThat(client.fetch(ITEMS, sevens(keys), DEADLINE).join().size()).isEqualTo(keys);
        return writers.element();
    }

    @Test
    void largeAndCompressedAnswersLeaveTheThreadThatReadsRequests() {
        try (RowsClient plain = new RowsClient(registry);
                RowsClient compressed = new RowsClient(registry, null, null, true)) {
            plain.fetch(ITEMS, new long[1], DEADLINE).join();
            compressed.fetch(ITEMS, new long[1], DEADLINE).join();
            assertThat(writerOf(plain, 100).getName()).contains("grpc");
            assertThat(writerOf(plain, 1_000).getName()).startsWith("roost-rows-answer");
            assertThat(writerOf(plain, 10_000).getName()).startsWith("roost-rows-answer");
            assertThat(writerOf(compressed, 100).isVirtual()).isTrue();
            assertThat(writerOf(compressed, 1_000).getName()).startsWith("roost-rows-answer");
        }
        givesAllBack();
    }
}
