package io.github.roost.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.io.BlockIo.Backend;
import io.github.roost.io.linux.IoUring;
import io.github.roost.io.linux.LinuxException;
import io.github.roost.testkit.Machines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.ref.WeakReference;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reads of searches, on rings where this kernel has them, and by threads. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BlockIoTest {
    private static final int BLOCKS = 500;

    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Machines.orchestrator(1, 2)
            .idleStrategy(IdleStrategy.spinThenPark(0))
            .build();
    private final MappingId id = orchestrator.register("table").id();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private BlockIo.Builder on(Backend backend) {
        return BlockIo.builder(orchestrator).backend(backend);
    }

    private BlockFile open(BlockIo io) throws IOException {
        return io.open(Disk.file(folder.resolve("blocks"), BLOCKS));
    }

    private static long[] someBlocks(SplittableRandom random, int count) {
        return random.longs(count, 0, BLOCKS).toArray();
    }

    @ParameterizedTest
    @EnumSource
    void searchesFindInTheirBuffersWhatTheFileHolds(Backend backend) throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        try (BlockIo io = on(backend).build();
                BlockFile file = open(io)) {
            List<CompletableFuture<Disk.Found>> answers = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                long[] blocks = someBlocks(random, 1 + random.nextInt(16));
                answers.add(
                        i % 2 == 0
                                ? Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, blocks)
                                : Disk.readInTurn(io, orchestrator, id, file, blocks));
                Disk.Found found = answers.getLast().get();
                assertThat(found.right()).containsExactlyInAnyOrder(boxed(blocks));
            }
            assertThat(io.stats().buffersInUse()).isZero();
            assertThat(io.stats().inFlight()).isZero();
            assertThat(io.stats().reads()).isGreaterThan(1000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void openedAndClosedAgainAndAgainItLeavesNothing(Backend backend) throws Exception {
        List<WeakReference<BlockIo>> closed = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            closed.add(usedAndClosed(backend));
        }
        while (closed.stream().anyMatch(io -> io.get() != null)) {
            System.gc();
            Thread.sleep(10);
        }
    }

    private WeakReference<BlockIo> usedAndClosed(Backend backend) throws Exception {
        try (BlockIo io = on(backend).build();
                BlockFile file = open(io)) {
            assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 2)
                            .get()
                            .right())
                    .containsExactlyInAnyOrder(1L, 2L);
            return new WeakReference<>(io);
        }
    }

    @Test
    void ringsHaveAnOpenFileRegisteredAndNoneAfterItIsClosed() throws Exception {
        // More than there are slots for: those beyond are read by their descriptors, and slots are used again.
        int count = IoUring.FILES + 2;
        try (BlockIo io = on(Backend.BEST).build()) {
            assumeThat(io.stats().backend()).isEqualTo("io_uring");
            List<BlockFile> files = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                files.add(io.open(Disk.file(folder.resolve("registered" + i), BLOCKS)));
            }
            assumeThat(infoOfDescriptors())
                    .as("the kernel lists the slots of rings")
                    .anyMatch(lines -> lines.contains("UserFiles:\t" + IoUring.FILES));
            assertThat(filesOfRings()).isEqualTo((long) orchestrator.workers() * IoUring.FILES);
            for (BlockFile file : files) {
                assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, new long[] {7, 8})
                                .get()
                                .right())
                        .containsExactlyInAnyOrder(7L, 8L);
            }
            for (BlockFile file : files) {
                file.close();
            }
            assertThat(filesOfRings()).isZero();
            try (BlockFile file = open(io)) {
                assertThat(filesOfRings()).isEqualTo(orchestrator.workers());
                assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, new long[] {7})
                                .get()
                                .right())
                        .containsExactly(7L);
            }
        }
    }

    /** The files of this test that rings of this process have registered, as the kernel lists them; each counts once per ring. */
    private long filesOfRings() throws IOException {
        return infoOfDescriptors().stream()
                .filter(lines -> lines.stream().anyMatch(line -> line.startsWith("UserFiles:")))
                .flatMap(List::stream)
                // Older kernels list names, newer ones paths.
                .filter(line -> line.matches("\\s*\\d+: .*(registered\\d+|blocks)"))
                .count();
    }

    private static List<List<String>> infoOfDescriptors() throws IOException {
        List<List<String>> all = new ArrayList<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fdinfo"))) {
            for (Path descriptor : descriptors.toList()) {
                try {
                    all.add(Files.readAllLines(descriptor));
                } catch (IOException closedMeanwhile) {
                    // Not a ring of this test, which is open.
                }
            }
        }
        return all;
    }

    private static Long[] boxed(long[] blocks) {
        return Arrays.stream(blocks).boxed().toArray(Long[]::new);
    }

    @ParameterizedTest
    @EnumSource
    void adjacentBlocksAreReadTogether(Backend backend) throws Exception {
        try (BlockIo io = on(backend).build();
                BlockFile file = open(io)) {
            long[] blocks = {3, 4, 5, 7, 100, 101, 200};
            assertThat(Disk.readMerged(io, orchestrator, id, file, blocks).get().right())
                    .containsExactlyInAnyOrder(boxed(blocks));
            assertThat(io.stats().reads()).isEqualTo(4);
            // 32 at most.
            long[] many = LongStream.range(10, 80).toArray();
            assertThat(Disk.readMerged(io, orchestrator, id, file, many).get().right())
                    .containsExactlyInAnyOrder(boxed(many));
            assertThat(io.stats().reads()).isEqualTo(4 + 3);
            assertThat(io.stats().buffersInUse()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void blocksThatAreReadTogetherAreWhatTheFileHolds(Backend backend) throws Exception {
        SplittableRandom random = new SplittableRandom(4);
        try (BlockIo io = on(backend).depth(8).build();
                BlockFile file = open(io)) {
            List<CompletableFuture<Disk.Found>> answers = new ArrayList<>();
            List<long[]> requested = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                requested.add(random.longs(1 + random.nextInt(200), 0, BLOCKS)
                        .sorted()
                        .distinct()
                        .toArray());
                answers.add(Disk.readMerged(io, orchestrator, id, file, requested.getLast()));
                // As many as there are buffers for.
                if (i % 20 == 19) {
                    answers.getLast().get();
                    answers.get(i - 10).get();
                }
            }
            for (int i = 0; i < requested.size(); i++) {
                assertThat(answers.get(i).get().right()).containsExactlyInAnyOrder(boxed(requested.get(i)));
            }
            assertThat(io.stats().buffersInUse()).isZero();
            assertThat(io.stats().inFlight()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void moreReadsThanTheRingHasPlacesForWaitForOne(Backend backend) throws Exception {
        SplittableRandom random = new SplittableRandom(2);
        try (BlockIo io = on(backend).depth(4).threads(2).build();
                BlockFile file = open(io)) {
            List<CompletableFuture<Disk.Found>> answers = new ArrayList<>();
            List<long[]> requested = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                requested.add(someBlocks(random, 20));
                answers.add(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, requested.getLast()));
            }
            for (int i = 0; i < requested.size(); i++) {
                assertThat(answers.get(i).get().right()).containsExactlyInAnyOrder(boxed(requested.get(i)));
            }
        }
    }

    @Test
    void aWorkerThatSleepsWakesWhenItsReadIsThere() throws Exception {
        SplittableRandom random = new SplittableRandom(3);
        try (BlockIo io = on(Backend.BEST).build();
                BlockFile file = open(io)) {
            // Workers here sleep at once. One that is not woken fails this by its timeout.
            for (int i = 0; i < 3_000; i++) {
                Disk.Found found = Disk.readAll(
                                io, orchestrator, id, SubmitOptions.DEFAULT, file, random.nextLong(BLOCKS))
                        .get();
                assertThat(found.right()).hasSize(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSearchThatIsCancelledOrTooLateFreesItsBuffersWhenItsReadsHaveEnded(Backend backend) throws Exception {
        SplittableRandom random = new SplittableRandom(4);
        try (BlockIo io = on(backend).depth(2).threads(1).build();
                BlockFile file = open(io)) {
            List<CompletableFuture<Disk.Found>> answers = new ArrayList<>();
            SubmitOptions soonLate = SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(300_000));
            for (int i = 0; i < 300; i++) {
                SubmitOptions options = i % 3 == 0 ? soonLate : SubmitOptions.DEFAULT;
                answers.add(Disk.readAll(io, orchestrator, id, options, file, someBlocks(random, 8)));
                if (i % 3 == 1) {
                    answers.get(random.nextInt(answers.size())).cancel(false);
                }
            }
            for (CompletableFuture<Disk.Found> answer : answers) {
                try {
                    assertThat(answer.get().right()).hasSize(8);
                } catch (CancellationException expected) {
                    assertThat(answer).isCancelled();
                } catch (ExecutionException late) {
                    assertThat(late.getCause()).isInstanceOf(DeadlineExceededException.class);
                }
            }
            while (io.stats().inFlight() > 0 || io.stats().buffersInUse() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFileThatIsClosedIsRefusedAndWhatIsUnderWayEnds(Backend backend) throws Exception {
        try (BlockIo io = on(backend).depth(1).threads(1).build()) {
            BlockFile file = open(io);
            SplittableRandom random = new SplittableRandom(5);
            List<CompletableFuture<Disk.Found>> answers = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                answers.add(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, someBlocks(random, 8)));
            }
            file.close();
            file.close();
            answers.add(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1));
            assertThatThrownBy(answers.getLast()::get).hasMessageContaining(file.path() + " is closed");
            for (CompletableFuture<Disk.Found> answer : answers) {
                // Those that had not begun to read are refused, the others have all of their blocks.
                assertThat(answer.handle((found, failure) ->
                                        failure == null ? found.right().size() : -1)
                                .get())
                        .isIn(8, -1);
            }
            assertThat(io.stats().buffersInUse()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void closedBlockIoRefusesReadsAndFilesWithoutCrashing(Backend backend) throws Exception {
        BlockIo io = on(backend).build();
        BlockFile file = open(io);
        Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 2).get();
        assertThat(io.close(Duration.ofSeconds(10))).isTrue();
        assertThatThrownBy(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1)::get)
                .hasMessageContaining("the block I/O is closed");
        assertThatThrownBy(() -> io.open(file.path())).hasMessageContaining("the block I/O is closed");
        file.close();
    }

    @ParameterizedTest
    @EnumSource
    void aFileThatHasBecomeShorterGivesAnErrorWithItsNameAndBlock(Backend backend) throws Exception {
        try (BlockIo io = on(backend).build();
                BlockFile file = open(io)) {
            try (FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
                channel.truncate(10L * BlockIo.BLOCK_BYTES + 512);
            }
            Disk.Found found = Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 9, 10, 11)
                    .get();
            assertThat(found.right()).containsExactly(9L);
            assertThat(found.failures())
                    .extracting(Throwable::getMessage)
                    .containsExactlyInAnyOrder(
                            "read of block 10 (byte 40960) of " + file.path()
                                    + " failed: the device did not return all of it, 16 times",
                            "read of block 11 (byte 45056) of " + file.path()
                                    + " failed: the file ends before the end of the block");
        }
    }

    @Test
    void aBlockOutsideTheFileIsRefusedAndNothingBegins() throws Exception {
        try (BlockIo io = on(Backend.BEST).build();
                BlockFile file = open(io)) {
            for (long outside : new long[] {-1, BLOCKS, Long.MAX_VALUE}) {
                assertThatThrownBy(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 3, outside)::get)
                        .hasRootCauseInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("must be between 0 and 499, got " + outside);
            }
            assertThat(io.stats().reads()).isZero();
            assertThat(io.stats().buffersInUse()).isZero();
        }
    }

    @Test
    void aSearchForWhichNoBuffersAreLeftIsRefusedAndThoseAfterItAreNot() throws Exception {
        try (BlockIo io = on(Backend.BEST).buffers(4).build();
                BlockFile file = open(io)) {
            assertThatThrownBy(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 2, 3, 4, 5)::get)
                    .hasRootCauseInstanceOf(BlockReads.BuffersExhaustedException.class)
                    .hasMessageContaining("needs 5 buffers");
            assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 2, 3, 4)
                            .get()
                            .right())
                    .hasSize(4);
        }
    }

    @Test
    void aSearchInItsCallersThreadReadsToo() throws Exception {
        try (BlockIo io = on(Backend.BEST).build();
                BlockFile file = open(io);
                BlockReads reads = io.reads()) {
            reads.read(SearchContext.outside((nodes, bytes) -> {}), file, new long[] {7, 8, 9}, 3);
            while (!reads.all().ready()) {
                Thread.onSpinWait();
            }
            assertThat(Disk.take(reads).right()).containsExactlyInAnyOrder(7L, 8L, 9L);
        }
    }

    @Test
    void whereTheKernelRefusesRingsThreadsReadAndTheStatsSayWhy() throws Exception {
        try (BlockIo io = BlockIo.builder(orchestrator)
                        .rings(depth -> {
                            throw LinuxException.refused("io_uring_setup", 1);
                        })
                        .build();
                BlockFile file = open(io)) {
            assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 2)
                            .get()
                            .right())
                    .hasSize(2);
            assertThat(io.stats().backend()).isEqualTo("positional reads");
            assertThat(io.stats().refusal()).isEqualTo("io_uring_setup: EPERM (not permitted)");
        }
    }

    @Test
    void whereNotEveryWorkerGetsARingThreadsReadForAll() throws Exception {
        FaultDevice fewRings = new FaultDevice(1).queues(1);
        try (BlockIo io = BlockIo.builder(orchestrator).rings(depth -> fewRings).build();
                BlockFile file = open(io)) {
            assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 1, 2)
                            .get()
                            .right())
                    .hasSize(2);
            assertThat(io.stats().backend()).isEqualTo("positional reads");
            assertThat(io.stats().refusal()).isEqualTo("no queue is left");
        }
        while (!fewRings.isClosed()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void whatBlockingCallsWriteAndSyncTheyRead() throws Exception {
        try (BlockIo io = on(Backend.BEST).build();
                BlockFile file = io.openForUpdate(folder.resolve("new"));
                var arena = Arena.ofConfined()) {
            var content = Disk.content(arena, 5);
            file.write(0, content);
            file.sync();
            assertThat(file.blocks()).isEqualTo(5);
            var read = arena.allocate(2L * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            file.read(3, read);
            assertThat(Disk.isBlock(read, 3)).isTrue();
            assertThatThrownBy(() -> file.read(4, read))
                    .hasMessageContaining("read of block 4 (byte 16384) of " + file.path());
            assertThatThrownBy(() -> file.write(0, content.asSlice(8, BlockIo.BLOCK_BYTES)))
                    .hasMessageContaining("aligned to 4,096 bytes");
            assertThat(Disk.readAll(io, orchestrator, id, SubmitOptions.DEFAULT, file, 4)
                            .get()
                            .right())
                    .containsExactly(4L);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptedThreadReadsWritesAndSyncsAndItsFileStaysOpen(Backend backend) throws Exception {
        try (BlockIo io = on(backend).build();
                BlockFile file = io.openForUpdate(folder.resolve("new"));
                var arena = Arena.ofShared()) {
            Thread.currentThread().interrupt();
            file.write(0, Disk.content(arena, 5));
            file.sync();
            var read = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            file.read(3, read);
            assertThat(Thread.interrupted()).as("it is still interrupted").isTrue();
            assertThat(Disk.isBlock(read, 3)).isTrue();
            file.read(4, read);
            assertThat(Disk.isBlock(read, 4)).isTrue();
        }
    }

    @Tag("stress")
    @Test
    void interruptsInTheMidstOfReadsFailNoReadOfAnyThread() throws Exception {
        try (BlockIo io = on(Backend.POSITIONAL).build();
                BlockFile file = open(io)) {
            Thread interrupted = Thread.currentThread();
            CompletableFuture<Void> over = new CompletableFuture<>();
            CompletableFuture<Void> interrupts = CompletableFuture.runAsync(() -> {
                while (!over.isDone()) {
                    interrupted.interrupt();
                }
            });
            CompletableFuture<Void> others = CompletableFuture.runAsync(() -> readAll(file));
            try {
                readAll(file);
            } finally {
                over.complete(null);
                interrupts.join();
                assertThat(Thread.interrupted()).isTrue();
            }
            others.get();
        }
    }

    private static void readAll(BlockFile file) {
        try (var arena = Arena.ofConfined()) {
            var read = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int block = 0; block < BLOCKS; block++) {
                file.read(block, read);
                assertThat(Disk.isBlock(read, block)).isTrue();
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void aFileThatAnInterruptClosedIsNotTakenForTheOneThatReplacedIt() throws Exception {
        try (BlockIo io = on(Backend.POSITIONAL).build();
                BlockFile file = open(io)) {
            Path other = Disk.file(folder.resolve("other"), 1);
            CompletableFuture<Void> over = new CompletableFuture<>();
            Thread interrupted = Thread.currentThread();
            Files.move(other, file.path(), StandardCopyOption.REPLACE_EXISTING);
            CompletableFuture<Void> interrupts = CompletableFuture.runAsync(() -> {
                while (!over.isDone()) {
                    interrupted.interrupt();
                }
            });
            try {
                assertThatThrownBy(() -> {
                            while (true) {
                                readAll(file);
                            }
                        })
                        .hasMessageContaining(file.path() + " is another file by now");
            } finally {
                over.complete(null);
                interrupts.join();
                assertThat(Thread.interrupted()).isTrue();
            }
        }
    }
}
