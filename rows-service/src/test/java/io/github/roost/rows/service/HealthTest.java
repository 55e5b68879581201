package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** gRPC's health service, as orchestrators of containers and gRPC's own clients use it. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HealthTest {
    private static final String ITEMS = "items";

    @TempDir
    private Path folder;

    @Test
    void aTableIsServedOnceAVersionIsLoadedAndUntilTheServerCloses() throws Exception {
        RowsServer.Options guarded = new RowsServer.Options(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                null,
                null,
                Tokens.of("0123456789abcdef"),
                1 << 20,
                1 << 20);
        try (RowsNode node = RowsNode.open("a", folder)) {
            RowsServer server = RowsServer.start(Map.of(ITEMS, node), guarded);
            ManagedChannel channel = NettyChannelBuilder.forAddress(server.address())
                    .usePlaintext()
                    .build();
            try {
                assertThat(status(channel, "")).isEqualTo(ServingStatus.SERVING);
                assertThat(status(channel, ITEMS)).isEqualTo(ServingStatus.NOT_SERVING);
                assertThatThrownBy(() -> status(channel, "no-such-table"))
                        .isInstanceOfSatisfying(
                                StatusRuntimeException.class,
                                e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND));
                Iterator<HealthCheckResponse> watched =
                        HealthGrpc.newBlockingStub(channel).watch(request(ITEMS));
                assertThat(watched.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
                node.load(1, 1, new Served(1, Set.of(0)), new OneRow());
                assertThat(watched.next().getStatus()).isEqualTo(ServingStatus.SERVING);
                assertThat(status(channel, ITEMS)).isEqualTo(ServingStatus.SERVING);
                Thread close = Thread.ofPlatform().start(server::close);
                assertThat(watched.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
                channel.shutdownNow();
                close.join();
                // The closed server no longer follows the table.
                node.load(1, 2, new Served(1, Set.of(0)), new OneRow());
            } finally {
                channel.shutdownNow();
                server.close();
            }
        }
    }

    private static HealthCheckRequest request(String name) {
        return HealthCheckRequest.newBuilder().setService(name).build();
    }

    private static ServingStatus status(ManagedChannel channel, String name) {
        return HealthGrpc.newBlockingStub(channel)
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .check(request(name))
                .getStatus();
    }
}
