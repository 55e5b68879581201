package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.io.FaultDevice.PowerLossException;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tables on a disk that fails. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DiskTableFaultTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 300, 8, 5);

    private final Orchestrator orchestrator = Orchestrator.builder().build();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private BlockIo io(FaultDevice device) {
        return device.io(orchestrator, 256);
    }

    private void build(BlockIo io) throws IOException {
        DiskTable.builder().build(orchestrator, io, FILE, ROWS.ids(), ROWS.vectors());
    }

    @Test
    void searchesThatFindNoBufferGoOnWhenOthersHaveGivenTheirsBack() throws Exception {
        FaultDevice device = new FaultDevice(7).slow(500_000);
        try (BlockIo io = device.io(orchestrator, 8)) {
            build(io);
            try (DiskTable table = DiskTable.openReadOnly(orchestrator, io, "table", FILE)) {
                float[] query = ROWS.query(1);
                table.pageReads(5, DiskTable.ReadMode.BEAM);
                List<CompletableFuture<SearchResult>> searches = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    searches.add(table.search(query, 5, 50));
                }
                for (CompletableFuture<SearchResult> search : searches) {
                    assertThat(search.get()).isEqualTo(searches.getFirst().get());
                }
            }
            assertThat(io.stats().buffersInUse()).isZero();
        }
    }

    @Tag("stress")
    @Test
    void afterAPowerLossAtAnyWriteOfABuildThereIsAWholeTableOrNone() throws Exception {
        FaultDevice whole = new FaultDevice(1);
        try (BlockIo io = io(whole)) {
            build(io);
        }
        int changes = whole.changes();
        assertThat(changes).isEqualTo(7);
        int seeds = Effort.times(6);
        int tables = 0;
        for (int at = 0; at <= changes; at++) {
            for (int seed = 0; seed < seeds; seed++) {
                FaultDevice device = new FaultDevice(seed).powerLossAt(at);
                try (BlockIo io = io(device)) {
                    build(io);
                    assertThat(at).isEqualTo(changes);
                } catch (IOException off) {
                    assertThat(off).hasRootCauseInstanceOf(PowerLossException.class);
                }
                try (BlockIo io = io(device.afterPowerLoss(seed))) {
                    tables += wholeTables(io);
                }
            }
        }
        assertThat(tables).as("those that were synced, and some that were not").isBetween(seeds, 3 * seeds);
    }

    /** 1 if there is a table, of which then nothing is damaged; 0 if it is said that there is none. */
    private int wholeTables(BlockIo io) throws Exception {
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            for (int i = 0; i < 5; i++) {
                SearchResult answer = table.search(ROWS.query(i), 10, 300).get();
                assertThat(answer.cost().damagedPages()).isZero();
                assertThat(Rows.recall(answer.ids(), ROWS.nearest(ROWS.query(i), 10, row -> true)))
                        .isGreaterThan(.8);
            }
            return 1;
        } catch (FileFormatException none) {
            return 0;
        }
    }

    @Test
    void aFullDiskFailsTheBuildAndNamesTheFile() throws Exception {
        try (BlockIo io = io(new FaultDevice(2).capacity(20_000))) {
            assertThatThrownBy(() -> build(io)).hasMessageContaining(FILE + " failed: ENOSPC (no space left)");
        }
    }

    @Test
    void shortSlowAndBadReadsLeaveOutOnlyTheBadPage() throws Exception {
        FaultDevice device = new FaultDevice(3);
        try (BlockIo io = io(device)) {
            build(io);
            try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
                Set<Long> onPage = Rows.onPage(table, 3);
                table.pageReads(8, DiskTable.ReadMode.PIPELINED);
                device.shortTransfers(.3).slow(200_000).badBlock(new DiskLayout(8, 32, 8).firstFreeBlock() + 3);
                long damaged = 0;
                double recall = 0;
                for (int i = 0; i < 20; i++) {
                    float[] query = ROWS.query(i);
                    SearchResult answer = table.search(query, 10, 300).get();
                    damaged += answer.cost().damagedPages();
                    assertThat(Arrays.stream(answer.ids()).noneMatch(onPage::contains))
                            .isTrue();
                    // What only the bad page led to is not found either.
                    recall += Rows.recall(answer.ids(), ROWS.nearest(query, 10, row -> !onPage.contains(Rows.id(row))));
                }
                assertThat(recall / 20).isGreaterThan(.95);
                assertThat(damaged).isPositive();
                assertThat(table.diskStats().damagedPages()).containsExactly(3);
                assertThat(io.stats().resubmitted()).isPositive();
            }
        }
    }
}
