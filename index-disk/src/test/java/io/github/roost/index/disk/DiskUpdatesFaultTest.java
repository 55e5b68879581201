package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.index.disk.update.LogFiles;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Updates of a table on a disk that fails: what was acknowledged is there, and nothing else but what was under way. */
@Tag("stress")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway") // what is made before all tests is there
class DiskUpdatesFaultTest {
    private static final Path FILE = Path.of("/no/such/folder/table");
    private static final int BUILT = 60;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 200, 6, 21);

    private static Orchestrator orchestrator;

    @BeforeAll
    static void start() {
        orchestrator = Orchestrator.builder().build();
    }

    @AfterAll
    static void stop() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private static BlockIo io(FaultDevice device) {
        return device.io(orchestrator, 256);
    }

    private static FaultDevice built(long seed) throws IOException {
        FaultDevice device = new FaultDevice(seed);
        try (BlockIo io = io(device)) {
            DiskTable.builder()
                    .degree(16)
                    .build(
                            orchestrator,
                            io,
                            FILE,
                            Arrays.copyOf(ROWS.ids(), BUILT),
                            Arrays.copyOf(ROWS.vectors(), BUILT));
        }
        // As if long ago: with all of it durable.
        return device.afterPowerLoss(seed);
    }

    /** What is known of the rows of a table whose power may go: of each id what was acknowledged last, and what was asked for after. */
    private static final class Oracle {
        private final Rows rows;
        private final Map<Long, float[]> acknowledged = new HashMap<>();
        private final Map<Long, List<float[]>> underWay = new HashMap<>();

        Oracle() {
            this(ROWS, BUILT);
        }

        Oracle(Rows rows, int built) {
            this.rows = rows;
            for (int row = 0; row < built; row++) {
                acknowledged.put(Rows.id(row), rows.vectors()[row]);
            }
        }

        void asks(long id, float @Nullable [] vector) {
            underWay.computeIfAbsent(id, same -> new ArrayList<>()).add(vector);
        }

        void acknowledges(long id, float @Nullable [] vector) {
            underWay.remove(id);
            if (vector == null) {
                acknowledged.remove(id);
            } else {
                acknowledged.put(id, vector);
            }
        }

        /** Checks every row; returns those that are there. An update that is not done by now will never be. */
        private Map<Long, float[]> checkRows(MutableDiskTable table, String when) {
            Map<Long, float[]> there = new LinkedHashMap<>();
            for (int row = 0; row < rows.vectors().length; row++) {
                long id = Rows.id(row);
                float[] found = table.vector(id);
                float[] expected = acknowledged.get(id);
                boolean isRight = Arrays.equals(found, expected)
                        || underWay.getOrDefault(id, List.of()).stream().anyMatch(one -> Arrays.equals(found, one));
                assertThat(isRight)
                        .as(when + ", row " + row + " is " + Arrays.toString(found))
                        .isTrue();
                if (found != null) {
                    there.put(id, found);
                }
            }
            assertThat(table.size()).as(when).isEqualTo(there.size());
            assertThat(table.diskStats().damagedPages()).as(when).isEmpty();
            return there;
        }

        void check(MutableDiskTable table, String when) throws Exception {
            int there = checkRows(table, when).size();
            if (there > 0) {
                long[] all = table.search(ROWS.query(1), there, 400).get().ids();
                assertThat(all).as(when + ", by a search").doesNotHaveDuplicates();
                // A build of so few rows leaves some that no edge leads to.
                assertThat(all.length).as(when + ", by a search").isGreaterThanOrEqualTo(there - there / 4);
            }
        }

        /** Checks every row, that searches reach 99.9 % of them, and that recall is that of a table built from them. */
        void checkSearches(MutableDiskTable table, BlockIo io, String when) throws Exception {
            Map<Long, float[]> there = checkRows(table, when);
            int lost = 0;
            for (Map.Entry<Long, float[]> row : there.entrySet()) {
                lost += table.search(row.getValue(), 10, 100).get().ids()[0] == row.getKey() ? 0 : 1;
            }
            assertThat(lost).as(when + ", rows that are not reached").isLessThanOrEqualTo(there.size() / 1_000);
            Path fresh = Path.of("/no/such/folder/fresh" + when.hashCode());
            long[] ids = there.keySet().stream().mapToLong(Long::longValue).toArray();
            DiskTable.builder()
                    .build(orchestrator, io, fresh, ids, there.values().toArray(float[][]::new));
            try (DiskTable built = DiskTable.openReadOnly(orchestrator, io, "fresh", fresh)) {
                assertThat(recall(table, there.keySet())).as(when).isGreaterThan(recall(built, there.keySet()) - .005);
            }
        }

        private double recall(DiskTable table, Set<Long> there) throws Exception {
            double sum = 0;
            int queries = 50;
            for (int i = 0; i < queries; i++) {
                float[] query = rows.query(70_000 + i);
                sum += Rows.recall(
                        table.search(query, 10, 100).get().ids(),
                        rows.nearest(query, 10, row -> there.contains(Rows.id(row))));
            }
            return sum / queries;
        }
    }

    /** A table's life: inserts, replacements, deletes that are taken out of the graph, checkpoints, a close. */
    private static void live(FaultDevice device, Oracle oracle, long seed) throws Exception {
        Random random = new Random(seed);
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            for (int round = 0; round < 6; round++) {
                List<CompletableFuture<Boolean>> updates = new ArrayList<>();
                List<Long> ids = new ArrayList<>();
                List<float[]> vectors = new ArrayList<>();
                for (int i = 0; i < 12; i++) {
                    int row = random.nextInt(ROWS.vectors().length);
                    long id = Rows.id(row);
                    float[] vector = random.nextInt(5) < 2
                            ? null
                            : ROWS.vectors()[random.nextInt(4) == 0 ? random.nextInt(ROWS.vectors().length) : row];
                    if (!ids.contains(id)) {
                        oracle.asks(id, vector);
                        updates.add(vector == null ? table.removeLater(id) : table.putLater(id, vector));
                        ids.add(id);
                        vectors.add(vector);
                    }
                }
                IOException failed = null;
                for (int i = 0; i < ids.size(); i++) {
                    try {
                        updates.get(i).get(60, TimeUnit.SECONDS);
                        oracle.acknowledges(ids.get(i), vectors.get(i));
                    } catch (TimeoutException hangs) {
                        throw new AssertionError("update " + i + " stands still", hangs);
                    } catch (ExecutionException lost) {
                        failed = new IOException(lost.getCause());
                    }
                }
                if (failed != null) {
                    throw failed;
                }
                if (round % 2 == 1) {
                    table.checkpoint().join();
                }
            }
        } catch (UncheckedIOException | CompletionException failed) {
            throw new IOException(failed);
        }
    }

    @Test
    void afterAPowerLossAtAnyWriteEveryAcknowledgedUpdateIsThereAndNoOther() throws Exception {
        FaultDevice whole = built(1);
        Oracle all = new Oracle();
        int before = whole.changes();
        live(whole, all, 5);
        int changes = whole.changes() - before;
        assertThat(changes).as("logs, checkpoints and their syncs").isBetween(30, 400);
        check(whole.afterPowerLoss(3), all, "without a power loss");
        for (int at = 0; at < changes; at++) {
            FaultDevice device = built(1).powerLossAt(at);
            Oracle oracle = new Oracle();
            try {
                live(device, oracle, 5);
            } catch (IOException off) {
                assertThat(device.isOff()).as("at change " + at + ": " + off).isTrue();
            }
            check(device.afterPowerLoss(at), oracle, "power loss at change " + at);
            if (at % 7 == 0) {
                // It goes on from there, and fails again.
                FaultDevice second = device.afterPowerLoss(at).powerLossAt(at % 40);
                try {
                    live(second, oracle, at);
                } catch (IOException off) {
                    assertThat(second.isOff()).isTrue();
                }
                check(second.afterPowerLoss(at + 1), oracle, "second power loss, after one at change " + at);
            }
        }
    }

    /** Inserts and deletes of random rows, some tens under way, until there are enough or the power goes; a checkpoint in between. */
    private static void change(FaultDevice device, Oracle oracle, SplittableRandom random) throws Exception {
        record Asked(long id, float @Nullable [] vector, CompletableFuture<Boolean> done) {}
        Rows rows = oracle.rows;
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            for (int round = 0; round < 12; round++) {
                Map<Long, Asked> requested = new LinkedHashMap<>();
                for (int i = 0; i < 50; i++) {
                    int row = random.nextInt(rows.vectors().length);
                    long id = Rows.id(row);
                    if (!requested.containsKey(id)) {
                        float[] vector = oracle.acknowledged.containsKey(id) ? null : rows.vectors()[row];
                        oracle.asks(id, vector);
                        requested.put(
                                id,
                                new Asked(
                                        id,
                                        vector,
                                        vector == null ? table.removeLater(id) : table.putLater(id, vector)));
                    }
                }
                for (Asked one : requested.values()) {
                    one.done.get(60, TimeUnit.SECONDS);
                    oracle.acknowledges(one.id, one.vector);
                }
                if (round % 5 == 4) {
                    table.checkpoint().join();
                }
            }
        } catch (UncheckedIOException | ExecutionException | CompletionException failed) {
            throw new IOException(failed);
        }
    }

    @Test
    void aLargerTableIsWholeAfterPowerLossesAtRandomWrites() throws Exception {
        SplittableRandom random = new SplittableRandom(17);
        Rows rows = Rows.clustered(Metric.SQUARED_L2, 4_000, 12, 31);
        int built = 3_000;
        FaultDevice device = new FaultDevice(8);
        try (BlockIo io = io(device)) {
            long[] ids = Arrays.copyOf(rows.ids(), built);
            DiskTable.builder().build(orchestrator, io, FILE, ids, Arrays.copyOf(rows.vectors(), built));
        }
        device = device.afterPowerLoss(8);
        Oracle oracle = new Oracle(rows, built);
        int losses = 0;
        for (int i = 0; i < Effort.times(4); i++) {
            device.powerLossAt(random.nextInt(80));
            try {
                change(device, oracle, random);
            } catch (IOException off) {
                assertThat(device.isOff()).as("loss " + i + ": " + off).isTrue();
                losses++;
            }
            device = device.afterPowerLoss(i);
            try (BlockIo io = io(device)) {
                Map<Long, float[]> there;
                try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
                    oracle.checkSearches(table, io, "after power loss " + i);
                    there = oracle.checkRows(table, "again");
                }
                // What was not done by now will never be.
                oracle.underWay.clear();
                oracle.acknowledged.clear();
                oracle.acknowledged.putAll(there);
            }
            // A device ends with its block I/O.
            device = device.afterPowerLoss(i);
        }
        assertThat(losses).isGreaterThan(1);
    }

    private static void check(FaultDevice device, Oracle oracle, String when) throws Exception {
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            oracle.check(table, when);
        }
    }

    @Test
    void aFullDiskFailsUpdatesAndCheckpointsAndLosesNothing() throws Exception {
        FaultDevice device = built(2);
        Oracle oracle = new Oracle();
        try (BlockIo io = io(device)) {
            try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
                assertThat(table.put(Rows.id(100), ROWS.vectors()[100])).isTrue();
                oracle.acknowledges(Rows.id(100), ROWS.vectors()[100]);
                device.capacity(device.used() + 4_096);
                assertThatThrownBy(() -> table.checkpoint().join()).hasMessageContaining("ENOSPC");
                oracle.check(table, "after a checkpoint that had no room");
                for (int row = 101; row < 110; row++) {
                    try {
                        table.put(Rows.id(row), ROWS.vectors()[row]);
                        oracle.acknowledges(Rows.id(row), ROWS.vectors()[row]);
                    } catch (UncheckedIOException full) {
                        assertThat(full).hasMessageContaining("was not written").hasMessageContaining("ENOSPC");
                    }
                }
                oracle.check(table, "with a full disk");
                device.capacity(Long.MAX_VALUE);
                assertThat(table.put(Rows.id(120), ROWS.vectors()[120])).isTrue();
                oracle.acknowledges(Rows.id(120), ROWS.vectors()[120]);
                table.checkpoint().join();
                oracle.check(table, "with room again");
            }
        }
        check(device.afterPowerLoss(1), oracle, "with room again, after a power loss");
    }

    @Test
    void aSyncThatFailsIsFollowedByACheckpointAndAnotherLog() throws Exception {
        FaultDevice device = built(3);
        Oracle oracle = new Oracle();
        try (BlockIo io = io(device)) {
            try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
                assertThat(table.put(Rows.id(100), ROWS.vectors()[100])).isTrue();
                oracle.acknowledges(Rows.id(100), ROWS.vectors()[100]);
                device.syncFails(true);
                oracle.asks(Rows.id(101), ROWS.vectors()[101]);
                assertThatThrownBy(() -> table.put(Rows.id(101), ROWS.vectors()[101]))
                        .isInstanceOf(UncheckedIOException.class)
                        .hasMessageContaining("EIO");
                device.syncFails(false);
                for (int round = 0; round < 4; round++) {
                    putUntilItIsTaken(table, 102, oracle);
                    assertThat(table.search(ROWS.query(1), 10).get().size()).isEqualTo(10);
                    table.checkpoint().join();
                    putUntilItIsTaken(table, 103 + round, oracle);
                }
            }
        }
        check(device.afterPowerLoss(1), oracle, "after a sync that failed");
    }

    /** As a user would who wants a row to be there; what fails begins a new log. */
    private static void putUntilItIsTaken(MutableDiskTable table, int row, Oracle oracle) {
        boolean isTaken = false;
        while (!isTaken) {
            try {
                table.put(Rows.id(row), ROWS.vectors()[row]);
                isTaken = true;
            } catch (UncheckedIOException failed) {
                assertThat(failed).hasMessageContaining("takes no more writes");
            }
        }
        oracle.acknowledges(Rows.id(row), ROWS.vectors()[row]);
    }

    @Test
    void whatARestartedProcessFindsOutlivesAPowerLoss() throws Exception {
        FaultDevice device = built(3);
        MutableDiskTable killed = DiskTable.open(orchestrator, io(device), "killed", FILE);
        killed.put(Rows.id(100), ROWS.vectors()[100]);
        device.syncFails(true);
        assertThatThrownBy(() -> killed.put(Rows.id(101), ROWS.vectors()[101])).hasMessageContaining("EIO");
        FaultDevice restarted = device.afterCrash();
        killed.close();
        Oracle oracle = new Oracle();
        oracle.acknowledges(Rows.id(100), ROWS.vectors()[100]);
        try (BlockIo io = io(restarted);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            assertThat(table.vector(Rows.id(101)))
                    .as("in the log that the system has")
                    .isNotNull();
            oracle.acknowledges(Rows.id(101), ROWS.vectors()[101]);
            check(restarted.afterPowerLoss(1), oracle, "at once");
            table.put(Rows.id(102), ROWS.vectors()[102]);
            oracle.acknowledges(Rows.id(102), ROWS.vectors()[102]);
            for (int seed = 0; seed < 20; seed++) {
                check(restarted.afterPowerLoss(seed), oracle, "power loss " + seed);
            }
        }
    }

    /** A random life of a table: updates, checkpoints, failed syncs, full disks, closings, kills and power losses. */
    private static void live(FaultDevice first, long seed, int maxSteps) throws Exception {
        Random random = new Random(seed);
        FaultDevice device = first;
        Oracle oracle = new Oracle();
        for (int life = 0; life < 3; life++) {
            String when = "seed " + seed + ", life " + life;
            FaultDevice left;
            try (BlockIo io = io(device)) {
                if (random.nextInt(3) == 0) {
                    device.powerLossAt(random.nextInt(5 * maxSteps));
                }
                left = live(device, io, oracle, random, when, maxSteps);
            }
            device = left;
        }
        device.powerLossAt(Integer.MAX_VALUE / 2);
        check(device, oracle, "seed " + seed);
    }

    /** Returns what is left. */
    private static FaultDevice live(
            FaultDevice device, BlockIo io, Oracle oracle, Random random, String when, int maxSteps) throws Exception {
        MutableDiskTable table;
        try {
            table = DiskTable.open(orchestrator, io, "table", FILE);
        } catch (IOException | UncheckedIOException off) {
            assertThat(device.isOff()).as(when + ": " + off).isTrue();
            return device.afterPowerLoss(random.nextLong());
        }
        try (table) {
            // What it has at its opening is durable.
            try {
                Map<Long, float[]> there = oracle.checkRows(table, when);
                oracle.underWay.clear();
                oracle.acknowledged.clear();
                oracle.acknowledged.putAll(there);
            } catch (AssertionError wrong) {
                // A read fails when the power is off.
                if (!device.isOff()) {
                    throw wrong;
                }
                return device.afterPowerLoss(random.nextLong());
            }
            int steps = 2 + random.nextInt(maxSteps);
            for (int step = 0; step < steps; step++) {
                switch (random.nextInt(16)) {
                    case 0 -> device.syncFails(true);
                    case 1, 2 -> device.syncFails(false);
                    case 3 -> device.capacity(device.used() + 4_096L * random.nextInt(3));
                    case 4 -> device.capacity(Long.MAX_VALUE);
                    case 5 -> ignoringFailures(() -> table.checkpoint().join());
                    case 6 ->
                        ignoringFailures(() -> {
                            var _ = table.checkpoint();
                        });
                    case 7 -> device.badWrites(random.nextInt(4));
                    default -> {
                        int row = random.nextInt(ROWS.vectors().length);
                        float[] vector = random.nextInt(3) == 0 ? null : ROWS.vectors()[row];
                        oracle.asks(Rows.id(row), vector);
                        ignoringFailures(() -> {
                            var _ = vector == null ? table.remove(Rows.id(row)) : table.put(Rows.id(row), vector);
                            oracle.acknowledges(Rows.id(row), vector);
                        });
                    }
                }
            }
            switch (random.nextInt(4)) {
                case 0 -> {
                    device.syncFails(false).capacity(Long.MAX_VALUE).badWrites(0);
                    table.close();
                    return device.isOff() ? device.afterPowerLoss(random.nextLong()) : device.afterCrash();
                }
                case 1 -> {
                    return device.isOff() ? device.afterPowerLoss(random.nextLong()) : device.afterCrash();
                }
                case 2 -> {
                    FaultDevice restarted =
                            device.isOff() ? device.afterPowerLoss(random.nextLong()) : device.afterCrash();
                    return restarted.powerLossAt(random.nextInt(6));
                }
                default -> {
                    return device.afterPowerLoss(random.nextLong());
                }
            }
        }
    }

    private static void ignoringFailures(Runnable action) {
        try {
            action.run();
        } catch (UncheckedIOException | CompletionException failed) {
            // Then it may be done or not.
        }
    }

    @Test
    void aTableWhoseFirstUpdateFailedIsWholeOnceClosed() throws Exception {
        FaultDevice device = built(3);
        try (BlockIo io = io(device)) {
            MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE);
            device.syncFails(true);
            assertThatThrownBy(() -> table.put(Rows.id(100), ROWS.vectors()[100]))
                    .hasMessageContaining("EIO");
            device.syncFails(false);
            table.close();
        }
        FaultDevice copy = device.afterPowerLoss(1).without(LogFiles.pathOf(FILE, 0), LogFiles.pathOf(FILE, 1));
        try (BlockIo io = io(copy);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            assertThat(table.size()).isEqualTo(BUILT);
        }
    }

    @Test
    void aTableThatWasNotClosedNeedsBothLogs() throws Exception {
        FaultDevice device = built(3);
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            table.put(Rows.id(100), ROWS.vectors()[100]);
            for (int log = 0; log < 2; log++) {
                FaultDevice copy = device.afterCrash().without(LogFiles.pathOf(FILE, log));
                assertThatThrownBy(() -> sizeOf(copy))
                        .isInstanceOf(FileFormatException.class)
                        .hasMessageContaining("was not closed, so updates are in its logs");
            }
            assertThat(sizeOf(device.afterCrash())).isEqualTo(BUILT + 1);
        }
    }

    @Test
    void randomLivesLoseNothing() throws Exception {
        FaultDevice built = built(7);
        for (int seed = 0; seed < Effort.times(300); seed++) {
            live(built.afterCrash(), seed, 12);
        }
    }

    /** So many updates that deleted nodes are removed from the graph, and checkpoints are written meanwhile. */
    @Test
    void randomLongLivesLoseNothing() throws Exception {
        FaultDevice built = built(7);
        for (int seed = 0; seed < Effort.times(10); seed++) {
            live(built.afterCrash(), seed, 1_000);
        }
    }

    @Test
    void aDamagedLogOrSuperblockIsRefusedAndNotTakenForAnOlderTable() throws Exception {
        FaultDevice device = built(4);
        Path log = LogFiles.pathOf(FILE, 0);
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            for (int row = 100; row < 104; row++) {
                table.put(Rows.id(row), ROWS.vectors()[row]);
            }
            device.flip(log, 4_096 + 60, 1);
            FaultDevice inTheMidst = device.afterCrash();
            assertThatThrownBy(() -> check(inTheMidst, new Oracle(), ""))
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining("has a damaged block between acknowledged updates");
            device.flip(log, 4_096 + 60, 1);
        }
        FaultDevice reopened = device.afterCrash();
        try (BlockIo io = io(reopened);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            table.remove(Rows.id(100));
            table.checkpoint().join();
            table.remove(Rows.id(101));
            table.checkpoint().join();
            FaultDevice newest = reopened.afterCrash();
            newest.flip(FILE, 4_096L * Superblock.blockOf(6) + 20, 1);
            // Its checkpoint is gone, but the one before and both logs are there.
            try (BlockIo other = io(newest);
                    MutableDiskTable same = DiskTable.open(orchestrator, other, "same", FILE)) {
                assertThat(same.size()).isEqualTo(BUILT + 2);
                assertThat(same.vector(Rows.id(101))).isNull();
            }
            FaultDevice both = reopened.afterCrash();
            both.flip(FILE, 20, 1);
            both.flip(FILE, 4_096 + 20, 1);
            assertThatThrownBy(() -> check(both, new Oracle(), ""))
                    .hasMessageContaining("neither of its superblocks is one");
        }
    }

    @Test
    void theLastUpdateOfALogThatAnotherFollowsIsNotLeftOut() throws Exception {
        FaultDevice device = built(4);
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            for (int row = 100; row < 104; row++) {
                table.put(Rows.id(row), ROWS.vectors()[row]);
            }
            table.checkpoint().join();
            table.remove(Rows.id(100));
            // As before that checkpoint was durable: the one before and both logs are the table.
            device.flip(FILE, 4_096L * Superblock.blockOf(3) + 20, 1);
            assertThat(sizeOf(device.afterCrash())).isEqualTo(BUILT + 3);
            for (int block = 0; block < 5; block++) {
                FaultDevice first = device.afterCrash();
                first.flip(LogFiles.pathOf(FILE, 0), 4_096L * block + 60, 1);
                assertThatThrownBy(() -> sizeOf(first))
                        .isInstanceOf(FileFormatException.class)
                        .hasMessageStartingWith(
                                LogFiles.pathOf(FILE, 0) + " has a damaged block between acknowledged updates");
            }
            FaultDevice second = device.afterCrash();
            second.flip(LogFiles.pathOf(FILE, 1), 60, 1);
            assertThatThrownBy(() -> sizeOf(second))
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageStartingWith(LogFiles.pathOf(FILE, 1) + " has a damaged block");
        }
    }

    private static int sizeOf(FaultDevice device) throws IOException {
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            return table.size();
        }
    }

    @Test
    void whatWasWrittenAndNotSyncedBeforeAnotherLogBeganIsThereWholeOrNotAtAll() throws Exception {
        FaultDevice device = built(3);
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            table.put(Rows.id(100), ROWS.vectors()[100]);
            device.syncFails(true);
            assertThatThrownBy(() -> table.put(Rows.id(101), ROWS.vectors()[101]))
                    .hasMessageContaining("EIO");
            device.syncFails(false);
            // Begins the log that follows.
            table.checkpoint().join();
            table.put(Rows.id(102), ROWS.vectors()[102]);
            device.flip(FILE, 4_096L * Superblock.blockOf(3) + 20, 1);
            FaultDevice crashed = device.afterCrash();
            try (BlockIo other = io(crashed);
                    MutableDiskTable same = DiskTable.open(orchestrator, other, "same", FILE)) {
                assertThat(same.vector(Rows.id(100))).isEqualTo(ROWS.vectors()[100]);
                assertThat(same.vector(Rows.id(101))).isIn(null, ROWS.vectors()[101]);
                assertThat(same.vector(Rows.id(102))).isEqualTo(ROWS.vectors()[102]);
            }
        }
    }

    @Test
    void aLogGoesOnWhereTheBeginningOfTheNextOneWasWrittenAndNotSynced() throws Exception {
        FaultDevice device = built(5);
        try (BlockIo io = io(device);
                MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
            table.put(Rows.id(100), ROWS.vectors()[100]);
            device.syncFails(true);
            assertThatThrownBy(() -> table.checkpoint().join()).hasMessageContaining("EIO");
            device.syncFails(false);
            table.put(Rows.id(101), ROWS.vectors()[101]);
            assertThat(sizeOf(device.afterCrash())).isEqualTo(BUILT + 2);
        }
    }

    @Test
    void aFlippedBitInAnyBlockIsFoundAndNothingWrongIsAnswered() throws Exception {
        FaultDevice device = built(6);
        long blocks;
        try (BlockIo io = io(device)) {
            try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", FILE)) {
                for (int row = BUILT; row < 90; row++) {
                    table.put(Rows.id(row), ROWS.vectors()[row]);
                }
            }
            try (BlockFile file = io.open(FILE)) {
                blocks = file.blocks();
            }
        }
        Random random = new Random(9);
        int refused = 0;
        int leftOut = 0;
        for (long block = 0; block < blocks; block++) {
            FaultDevice damaged = device.afterCrash();
            damaged.flip(FILE, block * BlockIo.BLOCK_BYTES + random.nextInt(BlockIo.BLOCK_BYTES), random.nextInt(8));
            try (BlockIo io = io(damaged);
                    DiskTable table = DiskTable.openReadOnly(orchestrator, io, "table", FILE)) {
                int missing = 0;
                for (int row = 0; row < 90; row++) {
                    float[] found = table.vector(Rows.id(row));
                    missing += found == null ? 1 : 0;
                    if (found != null) {
                        assertThat(found)
                                .as("row %d with block %d damaged", row, block)
                                .containsExactly(ROWS.vectors()[row]);
                    }
                }
                for (int query = 0; query < 10; query++) {
                    assertThat(Arrays.stream(table.search(ROWS.query(query), 90, 200)
                                            .get()
                                            .ids())
                                    .boxed())
                            .as("with block %d damaged", block)
                            .doesNotHaveDuplicates()
                            .allMatch(id -> 0 <= Rows.row(id) && Rows.row(id) < 90);
                }
                // Where rows are missing, their page is named; an older checkpoint may not have had all of them.
                boolean isOlder = table.size() < 90;
                assertThat(missing > 0)
                        .isEqualTo(isOlder || !table.diskStats().damagedPages().isEmpty());
                leftOut += missing > 0 && !isOlder ? 1 : 0;
            } catch (FileFormatException named) {
                assertThat(named).hasMessageContaining(FILE.toString());
                refused++;
            }
        }
        assertThat(refused)
                .as("blocks without which there is no table: codes, centroids, the map")
                .isPositive();
        assertThat(leftOut).as("blocks of pages").isPositive();
    }
}
