package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.server.SmallService.Busy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("stress")
class ServiceLifeTest {
    private static final String SEARCH = "{\"like\":\"games-1\"}";

    @Test
    void aServiceWhoseTablesAreBeingBuiltIsLiveButNotReady() {
        try (SmallService building = new SmallService("pack:1 l3:1 core:1 pu:1", 8, ServeSettings.DEFAULT)) {
            assertThat(building.get("/health/live").status()).isEqualTo(200);
            assertThat(building.get("/health/ready").status()).isEqualTo(503);
            assertThat(building.post("/tables/games/search", SEARCH).status()).isEqualTo(503);

            building.withTables();

            assertThat(building.get("/health/ready").status()).isEqualTo(200);
            assertThat(building.post("/tables/games/search", SEARCH).status()).isEqualTo(200);
        }
    }

    @Test
    void whatIsAcceptedBeforeTheEndIsAnsweredAndWhatComesAfterIsTurnedAway() {
        try (SmallService service = SmallService.withOneWorker(64, ServeSettings.DEFAULT)) {
            List<CompletableFuture<Integer>> accepted = new ArrayList<>();
            CompletableFuture<Boolean> drained;
            try (Busy busy = service.busyWorker()) {
                for (int i = 0; i < 12; i++) {
                    accepted.add(service.postLater("/tables/games/search", SEARCH));
                }
                await(() -> waiting(service) == 12);
                drained = CompletableFuture.supplyAsync(service.service::drain);
                await(() -> service.get("/health/ready").status() == 503);

                assertThat(service.get("/health/live").status()).isEqualTo(200);
                assertThat(service.post("/tables/games/search", SEARCH).status())
                        .isEqualTo(503);
                assertThat(accepted).noneMatch(CompletableFuture::isDone);
                assertThat(busy.isBusy()).isTrue();
            }

            assertThat(accepted).allMatch(future -> future.join() == 200);
            assertThat(drained.join()).isTrue();
        }
    }

    @Test
    void aSearchThatTheEndLeavesNoTimeForIsToldSo() {
        ServeSettings impatient = new ServeSettings(
                "127.0.0.1", 0, null, 1 << 20, Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ofMillis(50));
        try (SmallService service = SmallService.withOneWorker(64, impatient);
                Busy busy = service.busyWorker()) {
            CompletableFuture<Integer> accepted = service.postLater("/tables/games/search", SEARCH);
            await(() -> waiting(service) == 1);

            assertThat(service.service.drain()).isFalse();
            assertThat(accepted.join()).isEqualTo(503);
            assertThat(busy.isBusy()).isTrue();
        }
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aBodyThatNeverComesToItsEndHoldsUpNeitherTheEndNorOthersForEver() throws IOException {
        ServeSettings impatient = new ServeSettings(
                "127.0.0.1", 0, null, 1 << 20, Duration.ofHours(1), Duration.ofSeconds(10), Duration.ofMillis(50));
        try (SmallService service = SmallService.withOneWorker(64, impatient);
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.service.port())) {
            socket.getOutputStream()
                    .write(("POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                    + "Content-Length: 60\r\n\r\n{\"like\":")
                            .getBytes(StandardCharsets.US_ASCII));
            await(() -> service.get("/stats")
                            .json()
                            .path("service")
                            .path("inFlight")
                            .asInt()
                    == 1);

            assertThat(service.service.drain()).isFalse();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    private static int waiting(SmallService service) {
        return service.orchestrator.stats().domains().getFirst().waiting();
    }

    private interface Condition {
        boolean holds();
    }

    private static void await(Condition condition) {
        while (!condition.holds()) {
            Thread.onSpinWait();
        }
    }
}
