package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.ImageHeader;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.testkit.Damage;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.Checksum;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Pools whose file is damaged: refused by name when they are opened, searched or changed, or right. A pool whose checksums fit its bytes may
 * be one that this library would not have written: it is refused, or used without any other failure. The words that change have no
 * checksum.
 */
@Tag("stress")
@SuppressWarnings("NullAway.Init")
class FuzzedPoolTest {
    private static final int ROWS = 240;
    private static final int PARTITIONS = 5;
    private static final int K = 10;
    private static final long LONG_SECONDS = 30;

    private static Orchestrator orchestrator;
    private static RemoteMemory memory;
    private static Path folder;
    private static Path file;
    private static float[][] rows;
    private static byte[] good;
    private static int files;

    @BeforeContainer
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        folder = Files.createTempDirectory("roost-fuzzed");
        file = folder.resolve("good.pool");
        memory = RemoteMemory.mapped(folder);
        rows = Pools.rows(ROWS + 12, 1);
        Pools.build(
                orchestrator,
                PartitionedIndex.builder().partitions(PARTITIONS).visited(2).lease(Duration.ofMillis(50)),
                Arrays.copyOf(rows, ROWS),
                file);
        try (MutableRemoteTable table = open()) {
            for (int row = ROWS; row < rows.length; row++) {
                table.put(2L * row, rows[row]);
            }
        }
        good = Files.readAllBytes(file);
    }

    @AfterContainer
    static void close() throws IOException {
        memory.close();
        orchestrator.close();
        Files.delete(file);
        Files.delete(folder);
    }

    private static MutableRemoteTable open() throws IOException {
        return RemoteTable.builder()
                .transferTimeout(Duration.ofSeconds(5))
                .open(orchestrator, "fuzzed", memory, file.getFileName().toString());
    }

    /** Into another file each time: the one before may be mapped for a while after its table was closed, and must not become shorter. */
    private static void write(byte[] bytes) throws IOException {
        Files.delete(file);
        file = Files.write(folder.resolve("fuzzed-" + files++ + ".pool"), bytes);
    }

    @Provide
    static Arbitrary<Damage> any() {
        return Damage.any();
    }

    @Provide
    static Arbitrary<Damage> inPlace() {
        return Damage.inPlace();
    }

    @Property(tries = 60)
    void aDamagedPoolIsRefusedOrRight(@ForAll("any") Damage damage, @ForAll boolean isInFront) throws Exception {
        int from = isInFront ? 0 : PoolHead.BYTES;
        byte[] bytes = damage.in(good, from, isInFront ? PoolHead.BYTES : good.length, 64);
        // What an answer depends on without a checksum is for the property of the words.
        int words = Math.min(bytes.length, (int) PoolHead.pairsEnd(PARTITIONS)) - PoolHead.ROOT_AT;
        if (words > 0) {
            System.arraycopy(good, PoolHead.ROOT_AT, bytes, PoolHead.ROOT_AT, words);
        }
        write(bytes);
        notFor(LONG_SECONDS, () -> {
            try (MutableRemoteTable table = open()) {
                for (int row = 0; row < rows.length; row++) {
                    float[] found = table.vector(2L * row);
                    if (found != null) {
                        assertThat(found).isEqualTo(rows[row]);
                    }
                }
                SearchResult found = table.search(rows[3], K, PARTITIONS).join();
                assertThat(found.size()).isEqualTo(K);
                for (int i = 0; i < K; i++) {
                    int row = Math.toIntExact(found.ids()[i] / 2);
                    assertThat((double) found.distances()[i])
                            .isCloseTo(Vectors.squaredDistance(rows[3], rows[row]), within(1e-3));
                }
            } catch (IOException | UncheckedIOException | CompletionException refused) {
                assertRefused(refused);
            }
        });
    }

    @Property(tries = 120)
    void aPoolOfRightChecksumsIsRefusedOrUsed(
            @ForAll @IntRange(max = 4) int part, @ForAll @Size(min = 1, max = 2) List<@From("inPlace") Damage> all)
            throws Exception {
        byte[] bytes = good;
        int directory = directoryAt();
        int records = 64 + PARTITIONS * 24 + (PARTITIONS + 1) / 2 * 32;
        for (Damage damage : all) {
            bytes = switch (part) {
                case 0 -> damage.in(bytes, 12, 88, 4);
                case 1 -> damage.in(bytes, directory, directory + records, 8);
                case 2 -> damage.in(bytes, directory + 64, directory + records, 8);
                case 3 -> damage.in(bytes, partitionAt(0), partitionAt(0) + 256, 8);
                default -> damage.in(bytes, partitionAt(2), partitionAt(2) + 4_096, 8);
            };
        }
        sign(bytes);
        write(bytes);
        usedOrRefused();
    }

    @Property(tries = 60)
    void wordsThatChangeAreRefusedOrUsed(
            @ForAll boolean isPair, @ForAll @Size(min = 1, max = 2) List<@From("inPlace") Damage> all)
            throws Exception {
        byte[] bytes = good;
        for (Damage damage : all) {
            bytes = isPair
                    ? damage.in(bytes, PoolHead.PAIRS_AT, (int) PoolHead.pairsEnd(PARTITIONS), 8)
                    : damage.in(bytes, PoolHead.ROOT_AT, PoolHead.LOST_AT + 64, 8);
        }
        write(bytes);
        usedOrRefused();
    }

    private static int directoryAt() {
        long root = ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getLong(PoolHead.ROOT_AT);
        return (int) EpochRoot.of(root).directoryAt();
    }

    private static int partitionAt(int partition) {
        return (int) ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getLong(directoryAt() + 64 + partition * 24);
    }

    /** Gives head, directory and the partitions the checksums of what is there. */
    private static void sign(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(248, checksum(bytes, 0, 248));
        int directory = directoryAt();
        int free = buffer.getInt(directory + 28);
        if (free >= 0 && free <= Directory.maxFree(PARTITIONS)) {
            int end = 64 + PARTITIONS * 24 + (PARTITIONS + 1) / 2 * 32 + free * 24;
            buffer.putLong(directory + end, Integer.toUnsignedLong(checksum(bytes, directory, end)));
        }
        for (int partition = 0; partition < PARTITIONS; partition++) {
            int at = partitionAt(partition);
            int graphBytes =
                    (int) ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).getLong(at + 24);
            int header = (int) ImageHeader.bytes(graphBytes);
            for (int block = 0; block < ImageHeader.blocks(graphBytes); block++) {
                int begin = block * ImageHeader.BLOCK_BYTES;
                buffer.putInt(
                        at + ImageHeader.BYTES + 4 * block,
                        checksum(bytes, at + header + begin, Math.min(ImageHeader.BLOCK_BYTES, graphBytes - begin)));
            }
            buffer.putInt(
                    at + 60,
                    31 * checksum(bytes, at, 60) + checksum(bytes, at + ImageHeader.BYTES, header - ImageHeader.BYTES));
        }
    }

    private static int checksum(byte[] of, int at, int count) {
        return Checksum.of(MemorySegment.ofArray(of).asSlice(at, count));
    }

    private static void usedOrRefused() throws Exception {
        notFor(LONG_SECONDS, () -> {
            try (MutableRemoteTable table = open()) {
                refused(table::verify);
                refused(() -> table.vector(4));
                refused(() -> table.vector(1));
                float[] query = Arrays.copyOf(rows[3], table.dimension());
                refused(() -> assertThat(table.search(query, K, table.stats().parts())
                                .join()
                                .size())
                        .isBetween(0, K));
                refused(() -> table.put(1, query));
                refused(() -> table.remove(4));
                refused(() -> table.search(query, K, 1).join());
            } catch (IOException refused) {
                assertRefused(refused);
            } catch (IllegalArgumentException smallCache) {
                assertThat(smallCache).hasMessageContaining("cache");
            }
        });
    }

    private interface Use {
        void use() throws Exception;
    }

    private static void refused(Use use) throws Exception {
        try {
            use.use();
        } catch (IOException | UncheckedIOException | CompletionException refused) {
            assertRefused(refused);
        }
    }

    private static void assertRefused(Throwable refused) {
        Throwable named = refused;
        while (!(named instanceof RemoteMemoryException) && named.getCause() != null) {
            named = named.getCause();
        }
        assertThat(named).isInstanceOf(RemoteMemoryException.class).hasMessageContaining(file.toString());
    }

    /** In a thread of its own, whose stack is in the failure where it does not end. */
    private static void notFor(long seconds, Use use) throws Exception {
        FutureTask<Void> task = new FutureTask<>(() -> {
            use.use();
            return null;
        });
        Thread thread = Thread.ofPlatform().daemon().name("fuzzed-pool").start(task);
        try {
            task.get(seconds, TimeUnit.SECONDS);
        } catch (TimeoutException hangs) {
            AssertionError failed = new AssertionError("stands still for " + seconds + " s", hangs);
            failed.setStackTrace(thread.getStackTrace());
            throw failed;
        } catch (ExecutionException failed) {
            throw new AssertionError(String.valueOf(failed.getCause()), failed.getCause());
        }
    }
}
