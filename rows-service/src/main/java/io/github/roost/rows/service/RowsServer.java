package io.github.roost.rows.service;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.rows.BatchTooLargeException;
import io.github.roost.rows.ColdReadException;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Serves tables by gRPC: one method fetches rows of one shard of one version, without an object per row; another, which is optional, takes a
 * coordinator's orders. No gRPC reflection, no other service. Thread-safe.
 */
public final class RowsServer implements AutoCloseable {
    static final Metadata.Key<String> TOKEN = Metadata.Key.of("roost-token", Metadata.ASCII_STRING_MARSHALLER);

    private static final long CLOSE_SECONDS = 5;
    /** The maximum time for a request without a deadline. */
    private static final long MAX_NANOS = 60_000_000_000L;

    /** The minimum interval between a client's keep-alive pings. */
    private static final long KEEP_ALIVE_SECONDS = 5;

    private final Map<String, RowsNode> tables;
    private final @Nullable OrderService orders;
    private final int maxReplyBytes;
    private final Server server;

    private RowsServer(
            Map<String, RowsNode> tables, NettyServerBuilder builder, int maxReplyBytes, @Nullable OrderService orders)
            throws IOException {
        this.tables = tables;
        this.maxReplyBytes = maxReplyBytes;
        this.orders = orders;
        if (orders != null) {
            builder.addService(orders.definition());
        }
        this.server = builder.addService(ServerServiceDefinition.builder(Wire.SERVICE)
                        .addMethod(Wire.FETCH, ServerCalls.asyncUnaryCall(this::fetch))
                        .build())
                // A fetch that may block runs on a thread of its own; others on the thread that reads their request,
                // without another queue.
                .directExecutor()
                .build()
                .start();
    }

    /**
     * Starts a server that takes no orders: its tables are loaded in its own process.
     *
     * @param tables the tables by name; the caller closes them after the server
     * @param options the network options
     * @return the server; the caller closes it
     * @throws IOException if it cannot listen on the address, or the certificate or key cannot be read
     */
    public static RowsServer start(Map<String, RowsNode> tables, ServerOptions options) throws IOException {
        return start(Map.copyOf(tables), options, (OrderService) null);
    }

    /**
     * Starts a server whose tables are loaded by a {@link Coordinator}, which may be in another process. Any client that is authorised to fetch may
     * also give orders.
     *
     * @param tables the tables by name; the caller closes them after the server
     * @param options the network options
     * @param orders the options of orders: registry, seat and sources of rows
     * @return the server; the caller closes it
     * @throws IOException if it cannot listen on the address, or the certificate or key cannot be read
     */
    public static RowsServer start(Map<String, RowsNode> tables, ServerOptions options, OrderOptions orders)
            throws IOException {
        Map<String, RowsNode> copy = Map.copyOf(tables);
        return start(copy, options, new OrderService(copy, orders));
    }

    private static RowsServer start(Map<String, RowsNode> tables, ServerOptions options, @Nullable OrderService orders)
            throws IOException {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(options.address())
                .maxInboundMessageSize(options.maxMessageBytes())
                .decompressorRegistry(Channels.PLAIN)
                .intercept(new Compression())
                .permitKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
        if (options.certificate() != null && options.key() != null) {
            builder.useTransportSecurity(
                    options.certificate().toFile(), options.key().toFile());
        }
        if (options.token() != null) {
            builder.intercept(new TokenCheck(options.token()));
        }
        return new RowsServer(tables, builder, options.maxReplyBytes(), orders);
    }

    /** Compresses answers to clients that accept gzip; gRPC sends all other answers as they are. */
    private static final class Compression implements ServerInterceptor {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            call.setCompression("gzip");
            return next.startCall(call, headers);
        }
    }

    /** Rejects requests without the right token. */
    private record TokenCheck(byte[] token) implements ServerInterceptor {
        TokenCheck(String token) {
            this(token.getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            String brought = headers.get(TOKEN);
            // A constant-time comparison, so that its duration does not reveal a matching prefix.
            if (brought != null && MessageDigest.isEqual(token, brought.getBytes(StandardCharsets.US_ASCII))) {
                return next.startCall(call, headers);
            }
            call.close(Status.UNAUTHENTICATED.withDescription("the token is missing or wrong"), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }

    void fetch(Wire.Request request, StreamObserver<Wire.Reply> to) {
        RowsNode table = tables.get(request.table());
        if (table == null) {
            to.onError(Status.NOT_FOUND
                    .withDescription("there is no table " + request.table())
                    .asRuntimeException());
            return;
        }
        Deadline deadline = Context.current().getDeadline();
        long nanos = deadline == null ? MAX_NANOS : Math.clamp(deadline.timeRemaining(NANOSECONDS), 1, MAX_NANOS);
        if (table.readsFiles()) {
            Thread.startVirtualThread(() -> fetch(table, request, Duration.ofNanos(nanos), to));
        } else {
            fetch(table, request, Duration.ofNanos(nanos), to);
        }
    }

    private void fetch(RowsNode table, Wire.Request request, Duration timeout, StreamObserver<Wire.Reply> to) {
        try {
            ServerView view = table.view();
            ServerView news = view.sequence() == request.known() ? null : view;
            Boolean isServed = table.fetch(
                    request.version(),
                    request.shards(),
                    request.shard(),
                    request.keys(),
                    request.columns(),
                    maxReplyBytes,
                    timeout,
                    rows -> {
                        // onNext writes the rows before it returns; their memory is reused afterwards.
                        to.onNext(new Wire.Reply(news, rows));
                        return true;
                    });
            if (isServed == null) {
                to.onNext(new Wire.Reply(table.view(), null));
            }
            to.onCompleted();
        } catch (StatusRuntimeException e) {
            // The client has cancelled the call.
            to.onError(e);
        } catch (BatchTooLargeException e) {
            to.onError(Status.RESOURCE_EXHAUSTED.withDescription(e.getMessage()).asRuntimeException());
        } catch (IllegalArgumentException e) {
            to.onError(Status.INVALID_ARGUMENT.withDescription(e.getMessage()).asRuntimeException());
        } catch (IllegalStateException | ColdReadException | DeadlineExceededException | RejectedExecutionException e) {
            // Another server may be able to read the row.
            to.onError(Status.UNAVAILABLE.withDescription(e.getMessage()).asRuntimeException());
        } catch (OutOfMemoryError e) {
            // Affects this call only: its allocations are garbage now.
            to.onError(Status.UNAVAILABLE
                    .withDescription("no memory for the rows of " + request.keys().length + " keys: " + e.getMessage())
                    .asRuntimeException());
        } catch (RuntimeException e) {
            to.onError(
                    Status.INTERNAL.withDescription(e.toString()).withCause(e).asRuntimeException());
        }
    }

    /**
     * The address that the server listens on.
     *
     * @return the address, with the actual port
     */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().getFirst();
    }

    /**
     * Closes the server: refuses further requests, interrupts a load in progress and waits up to a minute for it, waits five seconds for other
     * requests, then cancels them.
     */
    @Override
    public void close() {
        server.shutdown();
        if (orders != null) {
            orders.close();
        }
        try {
            if (!server.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                server.shutdownNow();
                server.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
