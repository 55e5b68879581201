package io.github.roost.bench.peer;

import io.grpc.CallOptions;
import io.grpc.KnownLength;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * A gRPC service on a loopback address with one method, from bytes to bytes, and its client with one connection. The flow-control window is larger
 * than any response, so that no response waits for window updates. The client is not thread-safe.
 */
public final class BytesOverGrpc implements AutoCloseable {
    private static final int WINDOW_BYTES = 64 << 20;
    private static final long CLOSE_SECONDS = 5;
    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] bytes) {
            return new ByteArrayInputStream(bytes);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream instanceof KnownLength ? stream.readNBytes(stream.available()) : stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    /** Answers requests; called by the one thread of the one connection. */
    @FunctionalInterface
    public interface Answering {
        /**
         * Returns the response to a request.
         *
         * @throws IOException if there is none
         */
        byte[] answer(byte[] request) throws IOException;
    }

    private final MethodDescriptor<byte[], byte[]> method;
    private final Answering answering;
    private final Server server;
    private final ManagedChannel channel;

    /**
     * Starts server and client.
     *
     * @param service its name
     */
    public BytesOverGrpc(String service, Answering answering) throws IOException {
        this.answering = answering;
        this.method = MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(service, "Get"))
                .setRequestMarshaller(BYTES)
                .setResponseMarshaller(BYTES)
                .build();
        this.server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .flowControlWindow(WINDOW_BYTES)
                .addService(ServerServiceDefinition.builder(service)
                        .addMethod(method, ServerCalls.asyncUnaryCall(this::answer))
                        .build())
                .directExecutor()
                .build()
                .start();
        this.channel = NettyChannelBuilder.forAddress(
                        (InetSocketAddress) server.getListenSockets().getFirst())
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .flowControlWindow(WINDOW_BYTES)
                .usePlaintext()
                .directExecutor()
                .build();
    }

    private void answer(byte[] request, StreamObserver<byte[]> to) {
        byte[] answer;
        try {
            answer = answering.answer(request);
        } catch (IOException e) {
            to.onError(Status.INTERNAL.withCause(e).asRuntimeException());
            return;
        }
        to.onNext(answer);
        to.onCompleted();
    }

    /** Sends a request and waits for the response. */
    public byte[] ask(byte[] request) {
        return ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
    }

    @Override
    public void close() {
        channel.shutdownNow();
        server.shutdownNow();
        try {
            server.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
