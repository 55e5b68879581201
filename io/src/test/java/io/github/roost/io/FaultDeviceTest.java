package io.github.roost.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.io.FaultDevice.PowerLossException;
import io.github.roost.testkit.Machines;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Block I/O on a disk that fails, and that the disk fails as it is told to. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultDeviceTest {
    private static final Path FILE = Path.of("/blocks");

    private final Orchestrator orchestrator = Machines.orchestrator(1, 2).build();
    private final MappingId id = orchestrator.register("table").id();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
        arena.close();
    }

    private BlockIo io(FaultDevice device) {
        return device.io(orchestrator, 64);
    }

    private MemorySegment blockOf(int value) {
        return arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES).fill((byte) value);
    }

    @Test
    void readsThatEndShortGoOnUntilTheBlockIsThere() throws Exception {
        FaultDevice device = new FaultDevice(1).shortTransfers(.5);
        try (BlockIo io = io(device);
                BlockFile file = io.openForUpdate(FILE)) {
            file.write(0, Disk.content(arena, 50));
            for (int round = 0; round < 20; round++) {
                assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 3, 20, 49)
                                .get()
                                .right())
                        .containsExactlyInAnyOrder(1L, 3L, 20L, 49L);
            }
            assertThat(io.stats().resubmitted()).isGreaterThan(10);
        }
        while (!device.isClosed()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aDeviceThatNeverReturnsAWholeBlockFailsTheReadInsteadOfGoingOnForEver() throws Exception {
        try (BlockIo io = io(new FaultDevice(2));
                BlockFile file = io.openForUpdate(FILE)) {
            file.write(0, Disk.content(arena, 2));
            BlockReads reads = io.reads();
            BlockBuffer[] buffer = new BlockBuffer[1];
            BlockIo.Lane lane = io.lane(SearchContext.outside((nodes, bytes) -> {}));
            lane.buffers().take(buffer, 1);
            List<BlockReads.Read> resubmitted = new ArrayList<>();
            BlockReads.Read read =
                    new BlockReads.Read(reads, file, 1, buffer[0], new Resubmissions(lane.queue(), resubmitted));
            file.acquire();
            read.result = 100;
            while (read.failure() == null) {
                read.ended();
            }
            assertThat(resubmitted).hasSize(15);
            assertThat(read.failure()).hasMessageContaining("did not return all of it, 16 times");
            reads.close();
        }
    }

    /** Notes what is submitted again. */
    private record Resubmissions(BlockDevice.Queue queue, List<BlockReads.Read> noted) implements BlockDevice.Queue {
        @Override
        public void submit(BlockReads.Read first) {
            noted.add(first);
        }

        @Override
        public int inFlight() {
            return queue.inFlight();
        }

        @Override
        public BlockDevice.Counts counts() {
            return queue.counts();
        }

        @Override
        public void wakes(Waker waker) {
            queue.wakes(waker);
        }

        @Override
        public int poll() {
            return queue.poll();
        }

        @Override
        public boolean arm() {
            return queue.arm();
        }

        @Override
        public void close() {
            queue.close();
        }
    }

    @Test
    void aBadBlockFailsByItselfAmongThoseThatAreReadTogether() throws Exception {
        for (long bad = 4; bad <= 8; bad++) {
            FaultDevice device = new FaultDevice(3).badBlock(bad).shortTransfers(.3);
            try (BlockIo io = io(device);
                    BlockFile file = io.openForUpdate(FILE)) {
                file.write(0, Disk.content(arena, 10));
                for (int round = 0; round < 10; round++) {
                    Disk.Found found = Disk.readMerged(io, orchestrator, id, file, 4, 5, 6, 7, 8)
                            .get();
                    assertThat(found.right()).hasSize(4).doesNotContain(bad);
                    assertThat(found.failures())
                            .singleElement()
                            .asString()
                            .contains("read of block " + bad + " ")
                            .contains("EIO (the device failed)");
                }
                assertThat(io.stats().buffersInUse()).isZero();
                assertThat(io.stats().inFlight()).isZero();
            }
        }
    }

    @Test
    void aBadBlockFailsItsOwnReadAndNamesFileAndBlock() throws Exception {
        try (BlockIo io = io(new FaultDevice(3).badBlock(5));
                BlockFile file = io.openForUpdate(FILE)) {
            file.write(0, Disk.content(arena, 10));
            Disk.Found found = Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 4, 5, 6)
                    .get();
            assertThat(found.right()).containsExactlyInAnyOrder(4L, 6L);
            assertThat(found.failures()).singleElement().isInstanceOfSatisfying(BlockIoException.class, failure -> {
                assertThat(failure)
                        .hasMessage("read of block 5 (byte 20480) of /blocks failed: EIO (the device failed)");
                assertThat(failure.block()).isEqualTo(5);
                assertThat(failure.file()).isEqualTo("/blocks");
            });
            assertThat(io.stats().buffersInUse()).isZero();
        }
    }

    @Test
    void slowReadsEndOutOfOrderAndEachIntoItsOwnBuffer() throws Exception {
        try (BlockIo io = io(new FaultDevice(4).slow(2_000_000));
                BlockFile file = io.openForUpdate(FILE)) {
            file.write(0, Disk.content(arena, 30));
            Set<List<Long>> orders = new HashSet<>();
            for (int round = 0; round < 10; round++) {
                List<Long> order = Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 0, 1, 2, 3, 4, 5, 6)
                        .get()
                        .right();
                assertThat(order).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 6L);
                orders.add(order);
            }
            assertThat(orders).hasSizeGreaterThan(1);
        }
    }

    @Test
    void aSearchThatIsCancelledWhileItsReadsAreSlowFreesTheirBuffersWhenTheyEnd() throws Exception {
        FaultDevice device = new FaultDevice(5).slow(20_000_000).paused(true);
        try (BlockIo io = io(device);
                BlockFile file = io.openForUpdate(FILE)) {
            file.write(0, Disk.content(arena, 30));
            List<CompletableFuture<Disk.Found>> answers = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                answers.add(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 2, 3));
            }
            while (io.stats().buffersInUse() < 15) {
                Thread.onSpinWait();
            }
            answers.forEach(answer -> answer.cancel(false));
            assertThat(io.stats().buffersInUse()).as("not before they end").isPositive();
            device.paused(false);
            while (io.stats().buffersInUse() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void aFullDiskIsSaidWithFileAndBlock() throws Exception {
        try (BlockIo io = io(new FaultDevice(6).capacity(2L * BlockIo.BLOCK_BYTES));
                BlockFile file = io.openForUpdate(FILE)) {
            file.write(0, Disk.content(arena, 2));
            assertThatThrownBy(() -> file.write(2, blockOf(1)))
                    .isInstanceOf(BlockIoException.class)
                    .hasMessage("write of block 2 (byte 8192) of /blocks failed: ENOSPC (no space left)");
            assertThat(file.blocks()).isEqualTo(2);
            file.write(1, blockOf(1));
            file.sync();
        }
    }

    @Test
    void afterASyncThatFailedAFileTakesNoMoreWrites() throws Exception {
        FaultDevice device = new FaultDevice(7).syncFails(true);
        try (BlockIo io = io(device);
                BlockFile file = io.openForUpdate(FILE)) {
            file.write(0, blockOf(1));
            assertThatThrownBy(file::sync).hasMessage("sync of /blocks failed: EIO (the device failed)");
            device.syncFails(false);
            assertThatThrownBy(file::sync).hasMessageContaining("takes no more writes");
            assertThatThrownBy(() -> file.write(0, blockOf(2))).hasMessageContaining("takes no more writes");
        }
    }

    @Test
    void whatWasSyncedSurvivesEveryPowerLossAndWhatWasNotSurvivesInAnyPart() throws Exception {
        Set<String> found = new HashSet<>();
        for (int seed = 0; seed < 300; seed++) {
            FaultDevice device = new FaultDevice(seed);
            try (BlockIo io = io(device);
                    BlockFile file = io.openForUpdate(FILE)) {
                file.write(0, blockOf(1));
                file.write(1, blockOf(1));
                file.sync();
                file.write(1, blockOf(2));
                file.write(2, blockOf(3));
                device.powerLossAt(0);
                assertThatThrownBy(file::sync).hasRootCauseInstanceOf(PowerLossException.class);
                assertThatThrownBy(() -> file.read(0, blockOf(0))).hasRootCauseInstanceOf(PowerLossException.class);
            }
            try (BlockIo io = io(device.afterPowerLoss(seed));
                    BlockFile file = io.open(FILE)) {
                assertThat(valuesIn(file, 0)).isEqualTo(Set.of(1));
                String one = valuesIn(file, 1).toString();
                String two = file.blocks() < 3 ? "absent" : valuesIn(file, 2).toString();
                found.add(one);
                found.add(two);
                found.add(one + two);
            }
        }
        assertThat(found)
                .as("old, new and torn; none, all and torn; the later without the earlier")
                .contains("[1]", "[2]", "[1, 2]", "absent", "[3]", "[0, 3]", "[1][3]", "[2]absent");
    }

    @Test
    void thePowerGoesAtTheWriteThatIsChosen() throws Exception {
        for (int at = 0; at < 6; at++) {
            FaultDevice device = new FaultDevice(at).powerLossAt(at);
            int done = 0;
            try (BlockIo io = io(device);
                    BlockFile file = io.openForUpdate(FILE)) {
                for (int round = 0; round < 3; round++) {
                    file.write(round, blockOf(round + 1));
                    done++;
                    file.sync();
                    done++;
                }
            } catch (IOException off) {
                assertThat(off).hasRootCauseInstanceOf(PowerLossException.class);
            }
            assertThat(done).isEqualTo(at);
            try (BlockIo io = io(device.afterPowerLoss(at));
                    BlockFile file = io.open(FILE)) {
                for (int block = 0; block < at / 2; block++) {
                    assertThat(valuesIn(file, block)).isEqualTo(Set.of(block + 1));
                }
            }
        }
    }

    private Set<Integer> valuesIn(BlockFile file, long block) throws IOException {
        MemorySegment memory = blockOf(99);
        file.read(block, memory);
        Set<Integer> values = new TreeSet<>();
        for (byte one : memory.toArray(ValueLayout.JAVA_BYTE)) {
            values.add((int) one);
        }
        return values;
    }
}
