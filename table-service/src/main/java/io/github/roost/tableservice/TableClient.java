package io.github.roost.tableservice;

import io.github.roost.core.Vectors;
import io.github.roost.table.RowBatch;
import io.github.roost.tableservice.StrongBatch.Answer;
import io.github.roost.tableservice.StrongBatch.Ask;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Fetches rows of tables from the servers that have them, without a proxy. All rows of a batch are of one version, or it fails. Thread-safe.
 */
public final class TableClient implements AutoCloseable {
    /** How long one server is waited for before another is asked. */
    private static final long ASK_NANOS = 250_000_000;

    private static final long RETRY_MILLIS = 5;
    private static final int MOST_REPLY_BYTES = 1 << 28;

    private final Map<String, KnownServers> known = new ConcurrentHashMap<>();
    private final Map<String, ManagedChannel> channels = new ConcurrentHashMap<>();
    private final ExecutorService retries = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("roost-table-client").factory());
    private final Registry.Registration watch;
    private final @Nullable Path trusted;
    private final @Nullable String token;
    private volatile Map<String, InetSocketAddress> servers = Map.of();
    private volatile boolean isClosed;

    /**
     * A client without TLS and token, for servers on the same machine.
     *
     * @param registry says which servers there are
     */
    public TableClient(Registry registry) {
        this(registry, null, null);
    }

    /**
     * A client.
     *
     * @param registry says which servers there are
     * @param trusted PEM file of certificates that servers' must go back to, or null for no TLS
     * @param token that servers ask for, or null if they ask for none; only with TLS, or to loopback addresses
     */
    public TableClient(Registry registry, @Nullable Path trusted, @Nullable String token) {
        this.trusted = trusted;
        this.token = token;
        this.watch = registry.watch(this::setServers);
    }

    private void setServers(Map<String, InetSocketAddress> now) {
        servers = now;
        known.values().forEach(table -> table.setServers(now.keySet()));
        channels.entrySet().removeIf(entry -> {
            String name = entry.getKey().substring(0, entry.getKey().lastIndexOf('@'));
            boolean isGone = !entry.getKey().equals(channelName(name, now.get(name)));
            if (isGone) {
                entry.getValue().shutdown();
            }
            return isGone;
        });
    }

    private static String channelName(String server, @Nullable InetSocketAddress address) {
        return server + "@" + address;
    }

    /**
     * Fetches rows.
     *
     * @param table its name
     * @param keys from 0 to 100,000; not to be changed until the future is done
     * @param deadline from now; then the future fails with a {@link TimeoutException}
     * @param columns names of columns; all of them, if none is named
     * @return completes with the rows, all of one version: the newest that is complete at the servers, as far as this client
     *     knows. It fails with an {@link io.grpc.StatusRuntimeException} if a server refuses the request
     * @throws IllegalArgumentException if there are too many keys
     * @throws IllegalStateException if the client is closed
     */
    public CompletableFuture<FetchedRows> fetch(String table, long[] keys, Duration deadline, String... columns) {
        Vectors.requireRange("keys", keys.length, 0, Wire.MOST_KEYS);
        if (isClosed) {
            throw new IllegalStateException("the client is closed");
        }
        KnownServers knownOf = known.computeIfAbsent(table, unknown -> new KnownServers());
        if (knownOf.servers().isEmpty()) {
            knownOf.setServers(servers.keySet());
        }
        Fetch fetch = new Fetch(table, keys, List.of(columns), knownOf, System.nanoTime() + deadline.toNanos());
        fetch.result.orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS);
        fetch.begin();
        return fetch.result;
    }

    /** One batch. What is asked next is decided under the lock of this. */
    private final class Fetch {
        private final String table;
        private final int size;
        private final List<String> columns;
        private final KnownServers knownOf;
        private final long deadline;
        private final StrongBatch<RowBatch> batch;
        private final CompletableFuture<FetchedRows> result = new CompletableFuture<>();

        Fetch(String table, long[] keys, List<String> columns, KnownServers knownOf, long deadline) {
            this.table = table;
            this.size = keys.length;
            this.columns = columns;
            this.knownOf = knownOf;
            this.deadline = deadline;
            this.batch = new StrongBatch<>(
                    knownOf,
                    keys,
                    new SplittableRandom(ThreadLocalRandom.current().nextLong()));
        }

        synchronized void begin() {
            if (!result.isDone() && !batch.isWaiting()) {
                proceed(batch.begin(System.nanoTime()));
            }
        }

        private void proceed(List<Ask> asks) {
            asks.forEach(this::send);
            if (batch.isDone()) {
                result.complete(rows());
            } else if (!batch.isWaiting() && !result.isDone()) {
                CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, retries)
                        .execute(this::begin);
            }
        }

        private FetchedRows rows() {
            RowBatch[] batches = new RowBatch[size];
            int[] rows = new int[size];
            for (Answer<RowBatch> answer : batch.answers()) {
                for (int i = 0; i < answer.positions().length; i++) {
                    batches[answer.positions()[i]] = answer.values();
                    rows[answer.positions()[i]] = i;
                }
            }
            return new FetchedRows(batch.version(), batches, rows);
        }

        private void send(Ask ask) {
            ManagedChannel channel = channel(ask.server());
            if (channel == null) {
                retries.execute(() -> failed(ask, Status.UNAVAILABLE));
                return;
            }
            long left = Math.min(ASK_NANOS, deadline - System.nanoTime());
            CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(Math.max(1, left), TimeUnit.NANOSECONDS);
            Wire.Request request = new Wire.Request(
                    table,
                    ask.version(),
                    ask.shards(),
                    ask.shard(),
                    knownOf.sequence(ask.server()),
                    columns,
                    ask.keys());
            ClientCalls.asyncUnaryCall(channel.newCall(Wire.FETCH, options), request, new StreamObserver<>() {
                @Override
                public void onNext(Wire.Reply reply) {
                    answered(ask, reply);
                }

                @Override
                public void onError(Throwable failure) {
                    failed(ask, Status.fromThrowable(failure));
                }

                @Override
                public void onCompleted() {
                    // The answer has come before.
                }
            });
        }

        private synchronized void answered(Ask ask, Wire.Reply reply) {
            if (reply.view() != null && reply.view().server().equals(ask.server())) {
                knownOf.learn(reply.view());
            }
            RowBatch rows = reply.rows();
            if (rows == null) {
                proceed(batch.notServed(ask, System.nanoTime()));
            } else if (rows.version() == ask.version() && rows.size() == ask.keys().length) {
                proceed(batch.answered(ask, rows.version(), rows));
            } else {
                proceed(batch.failed(ask, System.nanoTime()));
            }
        }

        private synchronized void failed(Ask ask, Status status) {
            switch (status.getCode()) {
                case INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED, UNIMPLEMENTED, RESOURCE_EXHAUSTED ->
                    result.completeExceptionally(status.asRuntimeException());
                default -> proceed(batch.failed(ask, System.nanoTime()));
            }
        }
    }

    private @Nullable ManagedChannel channel(String server) {
        InetSocketAddress address = servers.get(server);
        return address == null
                ? null
                : channels.computeIfAbsent(channelName(server, address), unknown -> connect(address));
    }

    private ManagedChannel connect(InetSocketAddress address) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(address)
                .maxInboundMessageSize(MOST_REPLY_BYTES)
                .directExecutor();
        if (trusted == null) {
            builder.usePlaintext();
        } else {
            try {
                builder.sslContext(GrpcSslContexts.forClient()
                        .trustManager(trusted.toFile())
                        .build());
            } catch (IOException e) {
                throw new IllegalStateException("cannot read " + trusted, e);
            }
        }
        if (token != null) {
            if (trusted == null && !address.getAddress().isLoopbackAddress()) {
                throw new IllegalStateException(
                        "a token goes without TLS to loopback addresses only, not to " + address);
            }
            Metadata headers = new Metadata();
            headers.put(TableServer.TOKEN, token);
            builder.intercept(MetadataUtils.newAttachHeadersInterceptor(headers));
        }
        return builder.build();
    }

    /** Ends it; fetches that are under way fail by their deadline. */
    @Override
    public void close() {
        isClosed = true;
        watch.close();
        channels.values().forEach(ManagedChannel::shutdownNow);
        retries.shutdownNow();
    }
}
