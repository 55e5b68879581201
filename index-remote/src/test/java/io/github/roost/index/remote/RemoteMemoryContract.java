package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What holds for every provider of remote memory. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class RemoteMemoryContract {
    private static final int BYTES = 3_000_000;

    @TempDir
    private Path folder;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private byte[] content = new byte[0];
    private Path file = Path.of("");

    /** The provider, and the name under which it knows a file; what it needs for that is to be closed by {@link #closing}. */
    public record Provided(RemoteMemory memory, String region) {}

    protected abstract Provided provide(Path file) throws IOException;

    protected final void closing(AutoCloseable one) {
        opened.add(one);
    }

    @BeforeEach
    void write() throws IOException {
        content = new byte[BYTES];
        new Random(5).nextBytes(content);
        file = Files.write(folder.resolve("some.region"), content);
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private RemoteMemory.Region open() throws IOException {
        Provided provided = provide(file);
        closing(provided.memory());
        RemoteMemory.Region region = provided.memory().open(provided.region());
        closing(region);
        return region;
    }

    private static MemorySegment local(long bytes) {
        return Arena.ofAuto().allocate(bytes, 8);
    }

    private void requireSame(RemoteMemory.Region.Transfer piece) {
        byte[] expected = Arrays.copyOfRange(content, (int) piece.offset(), (int)
                (piece.offset() + piece.local().byteSize()));
        assertThat(piece.local().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
    }

    private static List<RemoteMemory.Region.Transfer> pieces(Random random, int count, int max) {
        List<RemoteMemory.Region.Transfer> pieces = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int bytes = random.nextInt(1, max);
            pieces.add(new RemoteMemory.Region.Transfer(random.nextInt(BYTES - bytes), local(bytes)));
        }
        return pieces;
    }

    @Test
    void aRegionIsAsLongAsItsFile() throws Exception {
        assertThat(open().bytes()).isEqualTo(BYTES);
    }

    @Test
    void aGetBringsEveryPieceThatItAsksFor() throws Exception {
        RemoteMemory.Region region = open();
        Random random = new Random(1);
        for (int max : new int[] {2, 9, 600, 70_000, 1_000_000}) {
            List<RemoteMemory.Region.Transfer> pieces = pieces(random, 16, max);
            region.get(pieces).join();
            pieces.forEach(this::requireSame);
        }
        List<RemoteMemory.Region.Transfer> whole = List.of(new RemoteMemory.Region.Transfer(0, local(BYTES)));
        region.get(whole).join();
        requireSame(whole.getFirst());
    }

    @Test
    void aPieceOfNoBytesIsThereAtOnce() throws Exception {
        RemoteMemory.Region region = open();
        region.get(List.of(new RemoteMemory.Region.Transfer(BYTES, local(8).asSlice(0, 0))))
                .join();
    }

    @Test
    void getsOfSeveralThreadsGoOnAtOnce() throws Exception {
        RemoteMemory.Region region = open();
        List<Thread> threads = new ArrayList<>();
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Random random = new Random(t);
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < 50; i++) {
                        List<RemoteMemory.Region.Transfer> some = pieces(random, 5, 300_000);
                        List<RemoteMemory.Region.Transfer> words = pieces(random, 3, 9);
                        CompletableFuture<Void> first = region.get(some);
                        region.get(words).join();
                        first.join();
                        some.forEach(this::requireSame);
                        words.forEach(this::requireSame);
                    }
                    end.complete(null);
                } catch (Throwable failed) {
                    end.completeExceptionally(failed);
                }
            }));
        }
        for (CompletableFuture<Void> end : ends) {
            end.join();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void whatIsPutIsThereForEveryReaderWhenThePutHasEnded() throws Exception {
        RemoteMemory.Region region = open();
        assertThat(region.isWritable()).isTrue();
        Random random = new Random(8);
        try (RemoteMemory.Region reader = RemoteMemory.mapped(folder).open("some.region")) {
            for (int max : new int[] {9, 600, 70_000, 1_000_000}) {
                List<RemoteMemory.Region.Transfer> pieces = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    byte[] bytes = new byte[random.nextInt(1, max)];
                    random.nextBytes(bytes);
                    // Each in a part of its own.
                    pieces.add(new RemoteMemory.Region.Transfer(
                            i * 1_000_000L, local(bytes.length).copyFrom(MemorySegment.ofArray(bytes))));
                }
                region.put(pieces).join();
                for (RemoteMemory.Region.Transfer piece : pieces) {
                    MemorySegment there = local(piece.local().byteSize());
                    reader.get(List.of(new RemoteMemory.Region.Transfer(piece.offset(), there)))
                            .join();
                    assertThat(there.mismatch(piece.local())).isEqualTo(-1);
                    MemorySegment here = local(piece.local().byteSize());
                    region.get(List.of(new RemoteMemory.Region.Transfer(piece.offset(), here)))
                            .join();
                    assertThat(here.mismatch(piece.local())).isEqualTo(-1);
                }
            }
            assertThatThrownBy(() -> region.put(List.of(new RemoteMemory.Region.Transfer(BYTES - 7, local(8))))
                            .join())
                    .hasMessageContaining("has " + BYTES + " bytes, asked for 8 at " + (BYTES - 7));
        }
    }

    @Test
    void compareAndSetsOfSeveralThreadsAndProcessesLoseNothing() throws Exception {
        RemoteMemory.Region region = open();
        try (RemoteMemory.Region mapped = RemoteMemory.mapped(folder).open("some.region")) {
            MemorySegment zero = local(8);
            mapped.put(List.of(new RemoteMemory.Region.Transfer(800, zero))).join();
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (RemoteMemory.Region one : List.of(region, region, mapped)) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                ends.add(end);
                Thread.ofPlatform().start(() -> {
                    try {
                        long known = 0;
                        for (int i = 0; i < 300; i++) {
                            long found =
                                    one.compareAndSet(800, known, known + 1).join();
                            while (found != known) {
                                known = found;
                                found = one.compareAndSet(800, known, known + 1).join();
                            }
                            known++;
                        }
                        end.complete(null);
                    } catch (Throwable failed) {
                        end.completeExceptionally(failed);
                    }
                });
            }
            ends.forEach(CompletableFuture::join);
            assertThat(region.compareAndSet(800, 900, 0).join()).isEqualTo(900);
        }
        for (long wrong : new long[] {-8, 4, BYTES - 4, BYTES, Long.MAX_VALUE - 7}) {
            assertThatThrownBy(() -> region.compareAndSet(wrong, 0, 1).join())
                    .hasCauseInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("asked for 8 at " + wrong);
        }
    }

    @Test
    void changesOfATableAreFoundInTheMappedFileAndTheOtherWayRound() throws Exception {
        float[][] rows = Pools.rows(600, 3);
        float[][] more = Pools.rows(60, 6);
        try (Orchestrator orchestrator = Pools.orchestrator()) {
            Pools.build(
                    orchestrator,
                    PartitionedIndex.builder().partitions(4).gap(1).spare(8),
                    rows,
                    file);
            Provided provided = provide(file);
            closing(provided.memory());
            try (MutableRemoteTable mapped = RemoteTable.builder()
                            .open(orchestrator, "mapped", RemoteMemory.mapped(folder), "some.region");
                    MutableRemoteTable table =
                            RemoteTable.builder().open(orchestrator, "other", provided.memory(), provided.region())) {
                for (int i = 0; i < more.length; i++) {
                    MutableRemoteTable writer = i % 3 == 0 ? mapped : table;
                    MutableRemoteTable reader = i % 3 == 0 ? table : mapped;
                    assertThat(writer.put(10_000 + i, more[i])).isTrue();
                    assertThat(reader.vector(10_000 + i)).isEqualTo(more[i]);
                    assertThat(reader.search(more[i], 1, 4).join().ids()[0]).isEqualTo(10_000 + i);
                }
                assertThat(table.remove(10_000)).isTrue();
                assertThat(mapped.vector(10_000)).isNull();
                assertThat(table.rebuild(0)).isTrue();
                assertThat(mapped.search(more[7], 1, 4).join().ids()[0]).isEqualTo(10_007);
                assertThat(mapped.size()).isEqualTo(table.size()).isEqualTo(rows.length + more.length - 1);
            }
        }
    }

    @Test
    void whatLiesOutsideIsRefused() throws Exception {
        RemoteMemory.Region region = open();
        long[][] wrong = {
            {-1, 8}, {BYTES - 7, 8}, {BYTES, 1}, {0, BYTES + 1L}, {Long.MAX_VALUE, 1}, {Long.MAX_VALUE - 3, 8}
        };
        for (long[] piece : wrong) {
            assertThatThrownBy(() -> region.get(List.of(
                                    new RemoteMemory.Region.Transfer(0, local(8)),
                                    new RemoteMemory.Region.Transfer(piece[0], local(piece[1]))))
                            .join())
                    .hasCauseInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("has " + BYTES + " bytes, asked for " + piece[1] + " at " + piece[0]);
        }
    }

    @Test
    void whatAnotherProcessHasWrittenIsSeenByGetsThatBeginLater() throws Exception {
        RemoteMemory.Region region = open();
        try (RemoteMemory.Region writer = RemoteMemory.mapped(folder).open("some.region")) {
            MemorySegment word = local(8);
            for (long i = 1; i < 200; i++) {
                word.set(ValueLayout.JAVA_LONG, 0, i);
                writer.put(List.of(new RemoteMemory.Region.Transfer(4_096, word)))
                        .join();
                MemorySegment read = local(8);
                region.get(List.of(new RemoteMemory.Region.Transfer(4_096, read)))
                        .join();
                assertThat(read.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
            }
        }
    }

    @Test
    void afterItsCloseARegionRefusesAndNothingIsLeftUnderWay() throws Exception {
        RemoteMemory.Region region = open();
        List<CompletableFuture<Void>> underWay = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            underWay.add(region.get(pieces(new Random(i), 3, 300_000)));
        }
        region.close();
        for (CompletableFuture<Void> one : underWay) {
            assertThat(one).isDone();
        }
        assertThatThrownBy(() -> region.get(List.of(new RemoteMemory.Region.Transfer(0, local(8))))
                        .join())
                .hasCauseInstanceOf(RemoteMemoryException.class)
                .hasMessageContaining("is closed");
        region.close();
    }

    @Test
    void searchesFindWhatTheyFindInTheMappedFile() throws Exception {
        float[][] rows = Pools.rows(1_200, 3);
        try (Orchestrator orchestrator = Pools.orchestrator()) {
            Pools.build(orchestrator, PartitionedIndex.builder().partitions(7), rows, file);
            Provided provided = provide(file);
            // A cache that has not room for all: partitions are fetched again and again.
            long bytes;
            try (MutableRemoteTable mapped =
                    RemoteTable.builder().open(orchestrator, "mapped", RemoteMemory.mapped(folder), "some.region")) {
                bytes = Pools.partitionBytes(file);
                try (MutableRemoteTable table = RemoteTable.builder()
                        .cacheBytes(bytes / 2)
                        .open(orchestrator, "other", provided.memory(), provided.region())) {
                    for (float[] query : Pools.rows(60, 4)) {
                        SearchResult found = table.search(query, 5, 3).join();
                        SearchResult expected = mapped.search(query, 5, 3).join();
                        assertThat(found.ids()).isEqualTo(expected.ids());
                        assertThat(found.distances()).isEqualTo(expected.distances());
                    }
                    assertThat(table.remoteStats().reads()).isGreaterThan(7);
                }
            } finally {
                provided.memory().close();
            }
        }
    }

    @Test
    void aRegionShorterThanItsHeadSaysIsRefused() throws Exception {
        try (Orchestrator orchestrator = Pools.orchestrator()) {
            Pools.build(orchestrator, PartitionedIndex.builder().partitions(3), Pools.rows(300, 3), file);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() - 1);
            }
            Provided provided = provide(file);
            closing(provided.memory());
            assertThatThrownBy(() ->
                            RemoteTable.builder().open(orchestrator, "short", provided.memory(), provided.region()))
                    .isInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("bytes");
        }
    }
}
