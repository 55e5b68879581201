package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.testkit.Await;
import io.github.roost.vector.Metric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Updates whose workers have fewer buffers than they would read pages at once. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FewBuffersTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 300;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 320, 200, 7);

    private final Orchestrator orchestrator = Orchestrator.builder().build();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 15})
    void rowsArePutAndTakenOut(int buffers) throws Exception {
        try (BlockIo io = new FaultDevice(1).io(orchestrator, buffers)) {
            DiskTable.builder()
                    .build(
                            orchestrator,
                            io,
                            FILE,
                            Arrays.copyOf(ROWS.ids(), BUILT),
                            Arrays.copyOf(ROWS.vectors(), BUILT));
            try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
                List<CompletableFuture<Boolean>> updates = new ArrayList<>();
                for (int row = BUILT; row < 320; row++) {
                    updates.add(table.putLater(Rows.id(row), ROWS.vectors()[row]));
                }
                for (int row = 0; row < 40; row++) {
                    updates.add(table.removeLater(Rows.id(row)));
                }
                assertThat(updates).allMatch(CompletableFuture::join);
                Await.until(() -> table.diskStats().deletedNodes() < 40);
                assertThat(table.size()).isEqualTo(280);
                for (int row = BUILT; row < 320; row++) {
                    assertThat(table.vector(Rows.id(row))).isEqualTo(ROWS.vectors()[row]);
                }
                assertThat(table.diskStats().damagedPages()).isEmpty();
            }
        }
    }
}
