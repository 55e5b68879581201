package io.github.roost.tableservice;

import io.github.roost.table.BatchTooLargeException;
import io.github.roost.table.ColdReadException;
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
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Serves tables by gRPC: one method fetches rows of one shard of one version, without an object per row; another takes a coordinator's orders, where
 * these are wanted. No reflection, no other service. Thread-safe.
 */
public final class TableServer implements AutoCloseable {
    static final Metadata.Key<String> TOKEN = Metadata.Key.of("roost-token", Metadata.ASCII_STRING_MARSHALLER);

    private static final long CLOSE_SECONDS = 5;
    /** How often a client may ask whether the connection stands. */
    private static final long KEEP_ALIVE_SECONDS = 5;

    private final Map<String, TableNode> tables;
    private final @Nullable OrderService orders;
    private final int mostReplyBytes;
    private final Server server;

    private TableServer(
            Map<String, TableNode> tables,
            NettyServerBuilder builder,
            int mostReplyBytes,
            @Nullable OrderService orders)
            throws IOException {
        this.tables = tables;
        this.mostReplyBytes = mostReplyBytes;
        this.orders = orders;
        if (orders != null) {
            builder.addService(orders.definition());
        }
        this.server = builder.addService(ServerServiceDefinition.builder(Wire.SERVICE)
                        .addMethod(Wire.FETCH, ServerCalls.asyncUnaryCall(this::fetch))
                        .build())
                // A fetch waits for nothing: it is done where its request is read, with no second queue.
                .directExecutor()
                .build()
                .start();
    }

    /**
     * Starts a server that takes no orders: its tables are loaded in its own process.
     *
     * @param tables by name; closed by who opened them, after the server
     * @param options how it is reached
     * @return to be closed
     * @throws IOException if it cannot listen there, or certificate or key cannot be read
     */
    public static TableServer start(Map<String, TableNode> tables, ServerOptions options) throws IOException {
        return start(Map.copyOf(tables), options, (OrderService) null);
    }

    /**
     * Starts a server whose tables are loaded by a {@link Coordinator}, which may be in another process. Whoever is let in may give orders.
     *
     * @param tables by name; closed by who opened them, after the server
     * @param options how it is reached
     * @param orders whose orders it takes, and where it has the rows from
     * @return to be closed
     * @throws IOException if it cannot listen there, or certificate or key cannot be read
     */
    public static TableServer start(Map<String, TableNode> tables, ServerOptions options, OrderOptions orders)
            throws IOException {
        Map<String, TableNode> copy = Map.copyOf(tables);
        return start(copy, options, new OrderService(copy, orders));
    }

    private static TableServer start(
            Map<String, TableNode> tables, ServerOptions options, @Nullable OrderService orders) throws IOException {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(options.address())
                .maxInboundMessageSize(options.mostMessageBytes())
                .permitKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
        if (options.certificate() != null && options.key() != null) {
            builder.useTransportSecurity(
                    options.certificate().toFile(), options.key().toFile());
        }
        if (options.token() != null) {
            builder.intercept(new TokenCheck(options.token()));
        }
        return new TableServer(tables, builder, options.mostReplyBytes(), orders);
    }

    /** Lets only requests with the token pass. */
    private record TokenCheck(byte[] token) implements ServerInterceptor {
        TokenCheck(String token) {
            this(token.getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            String brought = headers.get(TOKEN);
            // In a time that tells nothing of how much of it is right.
            if (brought != null && MessageDigest.isEqual(token, brought.getBytes(StandardCharsets.US_ASCII))) {
                return next.startCall(call, headers);
            }
            call.close(Status.UNAUTHENTICATED.withDescription("the token is missing or wrong"), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }

    void fetch(Wire.Request request, StreamObserver<Wire.Reply> to) {
        try {
            TableNode table = tables.get(request.table());
            if (table == null) {
                throw Status.NOT_FOUND
                        .withDescription("there is no table " + request.table())
                        .asRuntimeException();
            }
            ServerView view = table.view();
            ServerView news = view.sequence() == request.known() ? null : view;
            Boolean isServed = table.fetch(
                    request.version(),
                    request.shards(),
                    request.shard(),
                    request.keys(),
                    request.columns(),
                    mostReplyBytes,
                    rows -> {
                        // Written before this returns: the rows are another request's then.
                        to.onNext(new Wire.Reply(news, rows));
                        return true;
                    });
            if (isServed == null) {
                to.onNext(new Wire.Reply(table.view(), null));
            }
            to.onCompleted();
        } catch (StatusRuntimeException e) {
            to.onError(e);
        } catch (BatchTooLargeException e) {
            to.onError(Status.RESOURCE_EXHAUSTED.withDescription(e.getMessage()).asRuntimeException());
        } catch (IllegalArgumentException e) {
            to.onError(Status.INVALID_ARGUMENT.withDescription(e.getMessage()).asRuntimeException());
        } catch (IllegalStateException | ColdReadException e) {
            // Another server may have what this one cannot read.
            to.onError(Status.UNAVAILABLE.withDescription(e.getMessage()).asRuntimeException());
        } catch (OutOfMemoryError e) {
            // Of this call alone: what it has allocated is garbage now.
            to.onError(Status.UNAVAILABLE
                    .withDescription("no memory for the rows of " + request.keys().length + " keys: " + e.getMessage())
                    .asRuntimeException());
        }
    }

    /**
     * Where it listens.
     *
     * @return its address, with the port that it has
     */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().getFirst();
    }

    /** Ends it: takes no more requests, and ends those under way, by force after five seconds; a load that is under way, within a minute. */
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
