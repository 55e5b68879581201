package io.github.roost.rows.service;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Codec;
import io.grpc.ConnectivityState;
import io.grpc.DecompressorRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.stub.MetadataUtils;
import io.grpc.util.AdvancedTlsX509TrustManager;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The connections to servers, one per server, created on first use. Thread-safe. */
final class Channels implements AutoCloseable {
    /** The maximum size of the rows, plus 1 MiB for a server's view. */
    private static final int MAX_REPLY_BYTES = RowsServer.Options.USUAL_REPLY_BYTES + (1 << 20);

    /** Messages without compression only; gRPC's default also accepts gzip. */
    static final DecompressorRegistry PLAIN =
            DecompressorRegistry.emptyInstance().with(Codec.Identity.NONE, false);

    /** A server that died without closing its connection is detected within twice this time. */
    private static final long KEEP_ALIVE_SECONDS = 10;

    /** A server that cannot be reached is tried anew so often; gRPC's own pauses grow to two minutes. */
    private static final long RECONNECT_NANOS = 1_000_000_000;

    private final Map<String, Connection> connections = new ConcurrentHashMap<>();
    private final LongSupplier clock;
    /** Null for no TLS. */
    private final @Nullable SslContext tls;

    private final @Nullable Tokens tokens;
    private final ChangedFiles secrets;
    /** The encodings of answers that servers may use. */
    private final DecompressorRegistry encodings;

    private volatile Map<String, InetSocketAddress> servers = Map.of();

    /** @param tried when it was created, or last tried anew */
    private record Connection(ManagedChannel channel, AtomicLong tried) {
        void reconnectIfDue(long now) {
            if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
                long before = tried.get();
                if (now - before >= RECONNECT_NANOS && tried.compareAndSet(before, now)) {
                    channel.resetConnectBackoff();
                }
            }
        }
    }

    /**
     * @param trusted PEM file of the trusted root certificates, or null for no TLS
     * @param tokens those that servers require, or null; without TLS they are sent to loopback addresses only
     * @param compressed whether servers compress their answers with gzip
     * @throws IllegalArgumentException if there are no certificates in the file
     */
    Channels(@Nullable Path trusted, @Nullable Tokens tokens, boolean compressed) {
        this(trusted, tokens, compressed, System::nanoTime, new ChangedFiles());
    }

    /**
     * @param clock nanoseconds
     * @param secrets reads the certificates and tokens; closed with the connections
     */
    Channels(
            @Nullable Path trusted,
            @Nullable Tokens tokens,
            boolean compressed,
            LongSupplier clock,
            ChangedFiles secrets) {
        this.clock = clock;
        this.secrets = secrets;
        this.tokens = tokens;
        this.encodings = compressed ? PLAIN.with(new Codec.Gzip(), true) : PLAIN;
        this.tls = trusted == null ? null : tls(trusted, secrets);
        if (tokens != null) {
            tokens.follow(secrets);
        }
    }

    private static SslContext tls(Path trusted, ChangedFiles secrets) {
        try {
            AdvancedTlsX509TrustManager authorities =
                    AdvancedTlsX509TrustManager.newBuilder().build();
            secrets.follow(List.of(trusted), () -> PemFiles.read(trusted, authorities));
            return GrpcSslContexts.forClient().trustManager(authorities).build();
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            secrets.close();
            throw new IllegalArgumentException("trusted must be a PEM file of certificates, got " + trusted, e);
        }
    }

    Map<String, InetSocketAddress> servers() {
        return servers;
    }

    /** Sets the servers. Connections to other servers, and to former addresses, close when their calls in progress have ended. */
    void setServers(Map<String, InetSocketAddress> now) {
        servers = now;
        connections.entrySet().removeIf(entry -> {
            String name = entry.getKey().substring(0, entry.getKey().lastIndexOf('@'));
            boolean isGone = !entry.getKey().equals(channelName(name, now.get(name)));
            if (isGone) {
                entry.getValue().channel.shutdown();
            }
            return isGone;
        });
    }

    private static String channelName(String server, @Nullable InetSocketAddress address) {
        return server + "@" + address;
    }

    /**
     * The connection to a server.
     *
     * @throws StatusRuntimeException UNAVAILABLE, if the server is not registered, its address cannot be resolved, or the token must not be sent to
     *     it
     */
    ManagedChannel to(String server) {
        InetSocketAddress address = servers.get(server);
        if (address == null) {
            throw unavailable("it is not there");
        }
        // Checked per call, not in setServers, so that a bad address affects its server only.
        if (address.isUnresolved()) {
            throw unavailable("its address is not known: " + address);
        }
        if (tokens != null && tls == null && !address.getAddress().isLoopbackAddress()) {
            throw unavailable("a token goes without TLS to loopback addresses only, not to " + address);
        }
        long now = clock.getAsLong();
        Connection connection = connections.computeIfAbsent(
                channelName(server, address), unknown -> new Connection(connect(address), new AtomicLong(now)));
        connection.reconnectIfDue(now);
        return connection.channel;
    }

    private static StatusRuntimeException unavailable(String why) {
        return Status.UNAVAILABLE.withDescription(why).asRuntimeException();
    }

    private ManagedChannel connect(InetSocketAddress address) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(address)
                // Of a compressed message, the size after decompression counts.
                .maxInboundMessageSize(MAX_REPLY_BYTES)
                .decompressorRegistry(encodings)
                .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveTimeout(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .directExecutor();
        if (tls == null) {
            builder.usePlaintext();
        } else {
            builder.sslContext(tls);
        }
        if (tokens != null) {
            builder.intercept(new TokenSender(tokens));
        }
        return builder.build();
    }

    /** Adds the token that is the first now to each request. */
    private record TokenSender(Tokens tokens) implements ClientInterceptor {
        @Override
        public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            Metadata headers = new Metadata();
            headers.put(RowsServer.TOKEN, tokens.first());
            return MetadataUtils.newAttachHeadersInterceptor(headers).interceptCall(method, options, next);
        }
    }

    /** Closes all connections, and cancels calls in progress. */
    @Override
    public void close() {
        secrets.close();
        connections.values().forEach(connection -> connection.channel.shutdownNow());
    }
}
