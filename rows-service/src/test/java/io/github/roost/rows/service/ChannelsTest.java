package io.github.roost.rows.service;

import io.github.roost.testkit.Await;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChannelsTest {
    @Test
    void aServerThatCannotBeReachedIsTriedAnewEachSecond() throws Exception {
        AtomicLong clock = new AtomicLong();
        AtomicInteger tries = new AtomicInteger();
        try (ServerSocket closing = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Channels channels = new Channels(null, null, false, clock::get, new ChangedFiles())) {
            Thread.startVirtualThread(() -> {
                try {
                    while (true) {
                        closing.accept().close();
                        tries.incrementAndGet();
                    }
                } catch (IOException e) {
                    // The test is over.
                }
            });
            channels.setServers(Map.of("a", (InetSocketAddress) closing.getLocalSocketAddress()));
            // The pauses of gRPC before so many tries take minutes.
            for (int i = 1; i <= 12; i++) {
                int wanted = i;
                Await.until(() -> {
                    // Again and again: a second that ends while the server is tried is lost.
                    clock.addAndGet(1_000_000_000);
                    ManagedChannel channel = channels.to("a");
                    channel.getState(true);
                    return tries.get() >= wanted;
                });
            }
        }
    }
}
