package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.disk.stall.StallPolicy;
import io.github.roost.index.disk.update.DiskUpdates;
import io.github.roost.index.disk.update.LogFiles;
import io.github.roost.index.disk.update.UpdateThread;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Await;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Inserts and deletes of a table on a real disk, with exact search beside them. */
@Tag("stress")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DiskUpdatesTest {
    private static final String OPEN =
            " is being built or replaced, or open for updates already, in this process or another";
    private static final int K = 10;
    private static final int COUNT = 3_000;
    private static final int AT_ONCE = 100;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 2 * COUNT, 24, 11);

    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final BlockIo io = BlockIo.builder(orchestrator).build();
    private Path file = Path.of("");

    @BeforeEach
    void name() {
        file = folder.resolve("table");
    }

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
        assertThat(io.stats().buffersInUse()).isZero();
        io.close();
    }

    private void build(int rows) throws IOException {
        DiskTable.builder()
                .build(orchestrator, io, file, Arrays.copyOf(ROWS.ids(), rows), Arrays.copyOf(ROWS.vectors(), rows));
    }

    private MutableDiskTable open() throws IOException {
        return DiskTable.open(orchestrator, io, "table", file);
    }

    @Test
    void aTableIsOpenedForUpdatesOnceAtATimeAndForSearchesBesides() throws Exception {
        build(100);
        try (MutableDiskTable table = open()) {
            for (Path name : List.of(
                    file,
                    Files.createSymbolicLink(folder.resolve("symbolic"), file),
                    Files.createLink(folder.resolve("hard"), file))) {
                assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "table", name))
                        .isInstanceOf(IOException.class)
                        .hasMessage(name.equals(folder.resolve("symbolic")) ? file + OPEN : name + OPEN);
            }
            try (DiskTable searched = DiskTable.openReadOnly(orchestrator, io, "searched", file)) {
                assertThat(searched.size()).isEqualTo(100);
            }
            assertThat(table.remove(ROWS.ids()[0])).isTrue();
        }
        try (MutableDiskTable table = open()) {
            assertThat(table.size()).isEqualTo(99);
        }
    }

    @Test
    void aLinkLeadsToTheLogsOfItsFile() throws Exception {
        build(100);
        Path link = Files.createSymbolicLink(folder.resolve("link"), file.getFileName());
        try (MutableDiskTable table = open()) {
            assertThat(table.remove(ROWS.ids()[0])).isTrue();
        }
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", link)) {
            assertThat(table.size()).isEqualTo(99);
            assertThat(table.remove(ROWS.ids()[1])).isTrue();
        }
        try (MutableDiskTable table = open()) {
            assertThat(table.size()).isEqualTo(98);
        }
    }

    @Test
    void noTableIsSavedOverFilesOfAnOpenTable() throws Exception {
        build(100);
        Path otherFile = Files.copy(file, folder.resolve("other"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        try (MutableDiskTable table = open();
                MutableDiskTable other = DiskTable.open(orchestrator, io, "other", otherFile)) {
            assertThat(table.remove(ROWS.ids()[0])).isTrue();
            Path hard = Files.createLink(folder.resolve("hard"), file);
            for (Path own : List.of(file, link, hard, LogFiles.pathOf(file, 0), LogFiles.pathOf(file, 1))) {
                for (DiskTable saved : List.of(table, other)) {
                    assertThatThrownBy(() -> saved.save(own))
                            .isInstanceOf(IOException.class)
                            .hasMessageEndingWith(" is in use by an open table or a save, so it cannot be replaced");
                }
            }
            assertThat(table.remove(ROWS.ids()[1])).isTrue();
        }
        try (MutableDiskTable table = open()) {
            assertThat(table.size()).isEqualTo(98);
        }
    }

    /** Copies a file, with the logs that the table has now. */
    private void copyWithLogs(Path from, Path to) throws IOException {
        Files.copy(from, to);
        for (int log = 0; log < 2; log++) {
            Files.copy(LogFiles.pathOf(file, log), LogFiles.pathOf(to, log));
        }
    }

    /** Its process was killed: nothing holds it, and its updates are in its logs. */
    @Test
    void aTableThatWasNotClosedIsNotSavedOverItself() throws Exception {
        build(100);
        Path killed = folder.resolve("killed");
        try (MutableDiskTable table = open()) {
            assertThat(table.remove(ROWS.ids()[0])).isTrue();
            copyWithLogs(file, killed);
        }
        Path link = Files.createSymbolicLink(folder.resolve("link"), killed);
        try (DiskTable read = DiskTable.openReadOnly(orchestrator, io, "read", killed)) {
            for (Path own : List.of(killed, link, LogFiles.pathOf(killed, 0), LogFiles.pathOf(killed, 1))) {
                assertThatThrownBy(() -> read.save(own))
                        .isInstanceOf(IOException.class)
                        .hasMessage(own + " is in use by an open table or a save, so it cannot be replaced");
            }
            read.save(folder.resolve("other"));
        }
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "killed", killed)) {
            assertThat(table.size()).isEqualTo(99);
        }
    }

    @Test
    void anOlderCopyDoesNotTakeTheUpdatesOfALaterState() throws Exception {
        build(100);
        Path backup = Files.copy(file, folder.resolve("backup"));
        Path killed = folder.resolve("killed");
        try (MutableDiskTable table = open()) {
            assertThat(table.remove(ROWS.ids()[0])).isTrue();
            copyWithLogs(backup, killed);
        }
        assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "killed", killed))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("is an older copy: the updates in " + LogFiles.pathOf(killed, 0)
                        + " are of a later state; without its logs it opens as it was");
        Files.delete(LogFiles.pathOf(killed, 0));
        Files.delete(LogFiles.pathOf(killed, 1));
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "killed", killed)) {
            assertThat(table.size()).isEqualTo(100);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 5", "1, 4095", "0, 4096", "0, 4097", "1, 9000", "0, 0"})
    void anotherFileOfALogsNameIsNotOverwritten(int log, int bytes) throws Exception {
        build(100);
        byte[] content = bytes == 0 ? Files.readAllBytes(file) : new byte[bytes];
        content[content.length - 1] = 'x';
        Path named = LogFiles.pathOf(file, log);
        for (boolean isLink : new boolean[] {false, true}) {
            Path other = Files.write(isLink ? folder.resolve("linked") : named, content);
            if (isLink) {
                Files.createSymbolicLink(named, other);
            }
            assertThatThrownBy(this::open)
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining(named + " is not a log of a table");
            assertThat(other).hasBinaryContent(content);
            Files.delete(named);
        }
        try (MutableDiskTable table = open()) {
            assertThat(table.remove(ROWS.ids()[0])).isTrue();
        }
    }

    @Test
    void aTableThatWasNotClosedIsNotOpenedWithoutItsLogs() throws Exception {
        build(100);
        Path killed = Files.createDirectory(folder.resolve("killed"));
        Path hard = Files.createLink(folder.resolve("hard"), file);
        try (MutableDiskTable table = open()) {
            assertThat(table.remove(ROWS.ids()[0])).isTrue();
            Files.copy(file, killed.resolve("table"));
            assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "copy", killed.resolve("table")))
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining(
                            "was not closed, so updates are in its logs, and " + killed.resolve("table.log"));
            assertThat(killed).isDirectoryNotContaining("glob:**.log*");
            for (int log = 0; log < 2; log++) {
                Files.copy(LogFiles.pathOf(file, log), LogFiles.pathOf(killed.resolve("table"), log));
            }
        }
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "copy", killed.resolve("table"))) {
            assertThat(table.size()).isEqualTo(99);
        }
        // Closed, it is whole in its file; then either name may be used, one at a time.
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", hard)) {
            assertThat(table.remove(ROWS.ids()[1])).isTrue();
            Files.copy(file, folder.resolve("copy"));
        }
        assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "copy", folder.resolve("copy")))
                .hasMessageContaining("was not closed");
        try (MutableDiskTable table = open()) {
            assertThat(table.size()).isEqualTo(98);
        }
        Files.move(file, folder.resolve("moved"));
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", folder.resolve("moved"))) {
            assertThat(table.size()).isEqualTo(98);
        }
    }

    @Test
    void aClosedOrchestratorSavesNoUpdates() throws Exception {
        build(100);
        try (MutableDiskTable table = open()) {
            orchestrator.close();
            assertThatThrownBy(() -> table.save(folder.resolve("copy")))
                    .isInstanceOf(OrchestratorClosedException.class);
        }
    }

    @Test
    void aTableThatCouldNotBeOpenedMayBeOpenedOnceItCan() throws Exception {
        build(100);
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, new byte[whole.length]);
        assertThatThrownBy(this::open).isInstanceOf(IOException.class);
        Files.write(file, whole);
        try (MutableDiskTable table = open()) {
            assertThat(table.size()).isEqualTo(100);
        }
    }

    private static double recall(MutableDiskTable table, int from, int to) throws Exception {
        double sum = 0;
        for (int i = 0; i < 100; i++) {
            float[] query = ROWS.query(50 + i);
            long[] found = table.search(query, K, 100).get().ids();
            assertThat(Arrays.stream(found).map(Rows::row)).allMatch(row -> from <= row && row < to);
            sum += Rows.recall(found, ROWS.nearest(query, K, row -> from <= row && row < to));
        }
        return sum / 100;
    }

    private static void await(List<CompletableFuture<Boolean>> updates, boolean answer) {
        updates.forEach(update -> assertThat(update.join()).isEqualTo(answer));
        updates.clear();
    }

    @Test
    void aTableOfWhichHalfIsReplacedFindsAsMuchAsOneThatIsBuilt() throws Exception {
        build(COUNT);
        int half = COUNT / 2;
        double turnedOver;
        try (MutableDiskTable table = open()) {
            List<CompletableFuture<Boolean>> updates = new ArrayList<>();
            for (int i = 0; i < half; i++) {
                updates.add(table.putLater(Rows.id(COUNT + i), ROWS.vectors()[COUNT + i]));
                updates.add(table.removeLater(Rows.id(i)));
            }
            await(updates, true);
            assertThat(table.size()).isEqualTo(COUNT);
            assertThat(table.removeLater(Rows.id(0)).join()).isFalse();
            turnedOver = recall(table, half, COUNT + half);
            assertThat(table.diskStats().updates()).isEqualTo(COUNT + 1);
            assertThat(table.diskStats().pruneNanos())
                    .isBetween(1L, table.diskStats().updateNanos());
            Await.until(() -> table.diskStats().deletedNodes() <= COUNT / 8);
        }
        DiskTable.builder()
                .build(
                        orchestrator,
                        io,
                        folder.resolve("fresh"),
                        Arrays.copyOfRange(ROWS.ids(), half, COUNT + half),
                        Arrays.copyOfRange(ROWS.vectors(), half, COUNT + half));
        try (MutableDiskTable fresh = DiskTable.open(orchestrator, io, "fresh", folder.resolve("fresh"))) {
            assertThat(turnedOver).isGreaterThan(recall(fresh, half, COUNT + half) - .005);
        }
        try (MutableDiskTable table = open()) {
            assertThat(table.size()).isEqualTo(COUNT);
            assertThat(recall(table, half, COUNT + half)).isGreaterThan(turnedOver - .01);
            assertEachIsFound(table, half, COUNT + half);
        }
    }

    private static void assertEachIsFound(MutableDiskTable table, int from, int to) throws Exception {
        int lost = 0;
        for (int first = from; first < to; first += AT_ONCE) {
            List<CompletableFuture<SearchResult>> searches = new ArrayList<>();
            for (int row = first; row < Math.min(to, first + AT_ONCE); row++) {
                assertThat(table.vector(Rows.id(row))).containsExactly(ROWS.vectors()[row]);
                searches.add(table.search(ROWS.vectors()[row], 1, 200));
            }
            for (int i = 0; i < searches.size(); i++) {
                lost += searches.get(i).get().ids()[0] == Rows.id(first + i) ? 0 : 1;
            }
        }
        assertThat(lost).as("rows that a search for them does not find").isLessThanOrEqualTo((to - from) / 1_000);
    }

    @Test
    void checkpointsWhileUpdatesAndSearchesGoOnLoseNothing() throws Exception {
        build(500);
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", file, 40, DiskUpdates.MAX_LOG_BLOCKS)) {
            List<CompletableFuture<Boolean>> updates = new ArrayList<>();
            List<CompletableFuture<SearchResult>> searches = new ArrayList<>();
            for (int i = 500; i < 2_000; i++) {
                updates.add(table.putLater(Rows.id(i), ROWS.vectors()[i]));
                searches.add(table.search(ROWS.query(i), K, 30));
            }
            for (CompletableFuture<SearchResult> search : searches) {
                assertThat(search.get().cost().damagedPages()).isZero();
                assertThat(search.get().size()).isEqualTo(K);
            }
            await(updates, true);
            table.checkpoint().join();
            assertThat(table.diskStats().checkpoints()).isPositive();
            assertThat(table.diskStats().damagedPages()).isEmpty();
            assertThat(table.diskStats().changedPages()).isZero();
            assertThat(recall(table, 0, 2_000)).isGreaterThan(.95);
        }
        try (MutableDiskTable table = open()) {
            assertThat(table.size()).isEqualTo(2_000);
            assertThat(recall(table, 0, 2_000)).isGreaterThan(.95);
            Path copy = folder.resolve("copy");
            table.save(copy);
            try (MutableDiskTable other = DiskTable.open(orchestrator, io, "copy", copy)) {
                assertThat(other.remove(Rows.id(7))).isTrue();
                assertThat(other.size()).isEqualTo(1_999);
            }
            assertThat(table.size()).isEqualTo(2_000);
        }
    }

    @Test
    void whereverUpdatesRunTheyAreDoneBesideSearches() throws Exception {
        build(800);
        try (MutableDiskTable table = open()) {
            table.prefetch(true);
            int row = 800;
            List<CompletableFuture<Boolean>> updates = new ArrayList<>();
            for (StallPolicy policy : List.of(
                    StallPolicy.POLLED,
                    StallPolicy.BUDGETED,
                    StallPolicy.POLLED.withLatencyTarget(.05),
                    StallPolicy.BUDGETED.withLatencyTarget(.05))) {
                StallPolicy.Rules stalls = policy.applyTo(orchestrator);
                for (UpdateThread thread : UpdateThread.values()) {
                    List<CompletableFuture<SearchResult>> searches = new ArrayList<>();
                    for (int i = 0; i < 150; i++) {
                        // In the midst of updates.
                        if (i == 20) {
                            table.updateThread(thread);
                        }
                        updates.add(table.putLater(Rows.id(row), ROWS.vectors()[row]));
                        row++;
                        searches.add(table.search(ROWS.query(i), K, 30));
                    }
                    for (CompletableFuture<SearchResult> search : searches) {
                        assertThat(search.get().size()).isEqualTo(K);
                    }
                    await(updates, true);
                }
                // Now searches must read.
                table.checkpoint().join();
                for (int i = 0; i < 60; i++) {
                    assertThat(table.search(ROWS.query(i), K, 60).get().size()).isEqualTo(K);
                }
                assertThat(stalls.stats().stalls() > 0).isEqualTo(!policy.isPlain());
            }
            assertThat(table.size()).isEqualTo(row);
            assertThat(recall(table, 0, row)).isGreaterThan(.95);
            table.updateThread(UpdateThread.OWN);
            table.updateSlice(Duration.ofSeconds(1));
            assertThat(table.remove(Rows.id(0))).isTrue();
        }
    }

    /** The repair is interrupted between two pieces of a step, which takes as long as the repair. */
    @Test
    void aTableThatIsClosedWhileItRemovesRowsFromItsGraphIsClosedWithACheckpoint() throws Exception {
        build(2_000);
        int deleted = 0;
        for (int round = 0; round < 10; round++) {
            try (MutableDiskTable table = open()) {
                assertThat(table.diskStats().updates())
                        .as("updates that are in no checkpoint, round %d", round)
                        .isZero();
                table.updateSlice(Duration.ofSeconds(1));
                List<CompletableFuture<Boolean>> updates = new ArrayList<>();
                int enough = table.size() / 8 - table.diskStats().deletedNodes();
                for (int i = 0; i < Math.max(1, enough); i++) {
                    updates.add(table.removeLater(Rows.id(deleted++)));
                }
                await(updates, true);
                long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                while (table.diskStats().takenOut() == 0 && System.nanoTime() < giveUp) {
                    Thread.onSpinWait();
                }
                assertThat(table.diskStats().takenOut()).as("removal has begun").isPositive();
            }
        }
        try (MutableDiskTable table = open()) {
            assertThat(table.diskStats().updates()).isZero();
            assertThat(table.size()).isEqualTo(2_000 - deleted);
        }
    }

    @Test
    void trafficIsCountedByWhereTheBytesLay() throws Exception {
        build(800);
        try (MutableDiskTable table = open()) {
            table.search(ROWS.query(1), K, 50).get();
            DiskTable.Stats.Traffic read = table.diskStats().traffic();
            assertThat(read.codes())
                    .isEqualTo(table.diskStats().codesCompared()
                            * table.graph().layout().codeBytes());
            assertThat(read.changedPages()).isZero();
            assertThat(read.device() + read.pageCache())
                    .isEqualTo(4_096 * table.diskStats().pagesRead())
                    .isPositive();
            assertThat(read.device() == 0 || read.pageCache() == 0).isTrue();
            for (int row = 800; row < 860; row++) {
                table.put(Rows.id(row), ROWS.vectors()[row]);
            }
            assertThat(table.diskStats().updatePagesRead()).isPositive();
            long before = table.diskStats().pagesRead();
            table.search(ROWS.query(1), K, 50).get();
            DiskTable.Stats after = table.diskStats();
            assertThat(after.pagesInMemory()).isPositive();
            assertThat(after.traffic().changedPages()).isEqualTo(4_096 * after.pagesInMemory());
            assertThat(after.traffic().device() + after.traffic().pageCache())
                    .isEqualTo(4_096 * (after.pagesRead() + after.updatePagesRead()));
            assertThat(after.pagesRead()).isGreaterThanOrEqualTo(before);
        }
    }

    @Test
    void aRowIsReplacedAtOnceAndFoundOnce() throws Exception {
        build(300);
        try (MutableDiskTable table = open()) {
            float[] far = new float[24];
            Arrays.fill(far, 30);
            assertThat(table.put(Rows.id(5), far)).isFalse();
            assertThat(table.vector(Rows.id(5))).containsExactly(far);
            assertThat(table.search(far, 1).get().ids()).containsExactly(Rows.id(5));
            assertThat(table.search(far, 1).get().distances()).containsExactly(0);
            long[] all = table.search(ROWS.vectors()[5], 300, 300).get().ids();
            assertThat(all).hasSize(300).doesNotHaveDuplicates();
            assertThat(table.size()).isEqualTo(300);
            assertThat(table.put(Rows.id(5), ROWS.vectors()[5])).isFalse();
            assertThat(table.remove(Rows.id(5))).isTrue();
            assertThat(table.remove(Rows.id(5))).isFalse();
            assertThat(table.put(Rows.id(5), ROWS.vectors()[5])).isTrue();
            assertThat(table.search(ROWS.vectors()[5], 1).get().ids()).containsExactly(Rows.id(5));
        }
    }

    @Test
    void aTableOfWhichAllIsDeletedIsFilledAgain() throws Exception {
        build(200);
        try (MutableDiskTable table = open()) {
            List<CompletableFuture<Boolean>> updates = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                updates.add(table.removeLater(Rows.id(i)));
            }
            await(updates, true);
            assertThat(table.size()).isZero();
            assertThat(table.search(ROWS.query(1), K).get().size()).isZero();
            for (int i = 0; i < 400; i++) {
                updates.add(table.putLater(Rows.id(i), ROWS.vectors()[i]));
            }
            await(updates, true);
            assertThat(table.size()).isEqualTo(400);
            assertEachIsFound(table, 0, 400);
        }
        try (MutableDiskTable table = open()) {
            assertEachIsFound(table, 0, 400);
        }
    }

    @Test
    void entryAndAllNeighborsOfANodeAreDeletedAndTheRestIsFound() throws Exception {
        build(600);
        try (MutableDiskTable table = open()) {
            // The whole neighborhood of one row, and whatever searches begin with.
            float[] middle = ROWS.vectors()[17];
            long entry = table.graph().codes().id(table.graph().entry());
            long[] near = table.search(middle, 150, 300).get().ids();
            List<Long> left =
                    new ArrayList<>(Arrays.stream(ROWS.ids()).limit(600).boxed().toList());
            for (long id : near) {
                if (id != Rows.id(17)) {
                    assertThat(table.remove(id)).isTrue();
                    left.remove(id);
                }
            }
            table.remove(entry);
            left.remove(entry);
            assertThat(table.size()).isEqualTo(left.size());
            int lost = 0;
            for (long id : left) {
                long[] found =
                        table.search(ROWS.vectors()[Rows.row(id)], 1, 100).get().ids();
                lost += found.length == 1 && found[0] == id ? 0 : 1;
            }
            assertThat(lost).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void rowsThatAreAlikeAreAllThere() throws Exception {
        build(200);
        try (MutableDiskTable table = open()) {
            float[] same = ROWS.vectors()[3];
            for (int i = 0; i < 60; i++) {
                assertThat(table.put(-1 - i, same)).isTrue();
            }
            assertThat(table.size()).isEqualTo(260);
            SearchRequest request = SearchRequest.of(same, 61).effort(260).radius(0);
            assertThat(table.search(request).get().size()).isGreaterThan(55);
            for (int i = 0; i < 60; i++) {
                assertThat(table.remove(-1 - i)).isTrue();
            }
            assertThat(table.search(same, 1).get().ids()).containsExactly(Rows.id(3));
        }
    }

    @Test
    void badUpdatesAreRefusedAndChangeNothing() throws Exception {
        build(100);
        MutableDiskTable table = open();
        assertThatThrownBy(() -> table.put(1, new float[3])).hasMessage("vector must have 24 dimensions, got 3");
        float[] bad = new float[24];
        bad[3] = Float.NaN;
        assertThatThrownBy(() -> table.put(1, bad)).isInstanceOf(IllegalArgumentException.class);
        assertThat(table.size()).isEqualTo(100);
        table.close();
        assertThatThrownBy(() -> table.remove(1)).isInstanceOf(TableClosedException.class);
    }
}
