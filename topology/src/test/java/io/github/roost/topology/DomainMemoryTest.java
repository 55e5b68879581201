package io.github.roost.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.testkit.ChildJvm;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.topology.system.MemoryResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class DomainMemoryTest {
    private static final long BYTES = 16L << 20;

    private final CacheDomain domain = TopologyReader.live().read().domains().getFirst();

    @Test
    void migratedMemoryLiesOnTheNodeOfItsDomainKeepsItsContentAndIsBoundToNone() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(BYTES);
            for (long at = 0; at < BYTES; at += 8) {
                segment.set(ValueLayout.JAVA_LONG, at, at);
            }
            // From the midst of a page to the midst of another.
            MemoryResult result = DomainMemory.migrate(segment.asSlice(1_000, BYTES - 2_000), domain);
            for (long at = 0; at < BYTES; at += 8) {
                assertThat(segment.get(ValueLayout.JAVA_LONG, at)).isEqualTo(at);
            }
            Assumptions.assumeTrue(result.done(), result.reason());
            assertThat(numaMapsLine(segment))
                    .contains(" N" + domain.numaNodes().getFirst() + "=")
                    .contains(" default ");
        }
    }

    @Test
    void memoryIsNotMigratedToANodeThatDoesNotExist() {
        CacheDomain elsewhere = new CacheDomain(0, 0, List.of(63), 0, domain.cores());
        CacheDomain unknown = new CacheDomain(7, 0, List.of(), 0, domain.cores());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(BYTES);
            segment.fill((byte) 1);
            assertThat(DomainMemory.migrate(segment, elsewhere).reason()).contains("NUMA node 63", "errno");
            assertThat(DomainMemory.migrate(segment, unknown).reason())
                    .isEqualTo("the NUMA nodes of domain 7 are not known");
        }
    }

    @Test
    void memoryOfTheHeapIsRefused() {
        MemorySegment heap = MemorySegment.ofArray(new long[8]);
        assertThat(DomainMemory.migrate(heap, domain).reason()).contains("heap");
    }

    @Test
    void allocatedMemoryStandsOnHugePagesOnceItIsTouched() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment huge = DomainMemory.allocate(BYTES + 1, arena);
            assertThat(huge.byteSize()).isEqualTo(BYTES + 1);
            assertThat(huge.get(ValueLayout.JAVA_BYTE, BYTES)).isZero();
            assumeHugePages();
            huge.fill((byte) 1);
            assertThat(hugeBytes(huge)).isGreaterThanOrEqualTo(BYTES);
        }
    }

    @Test
    void aSmallSegmentTakesNoMoreMemoryThanItsSize() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment small = DomainMemory.allocate(400_000, arena);
            small.fill((byte) 1);
            assertThat(hugeBytes(small)).isZero();
        }
    }

    @Test
    void closingTheArenaGivesTheMemoryBack() throws Exception {
        long address;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = DomainMemory.allocate(BYTES, arena);
            address = segment.address();
            assertThat(mapped(address)).isTrue();
        }
        assertThat(mapped(address)).isFalse();
    }

    @Test
    void uncountedMemoryIsZeroedAndReturned() throws Exception {
        long address;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = DomainMemory.allocateUncounted(BYTES + 1, arena);
            address = segment.address();
            assertThat(segment.byteSize()).isEqualTo(BYTES + 1);
            assertThat(address % 4096).isZero();
            assertThat(segment.get(ValueLayout.JAVA_BYTE, BYTES)).isZero();
            segment.set(ValueLayout.JAVA_BYTE, BYTES, (byte) 1);
        }
        assertThat(mapped(address)).isFalse();
    }

    @Test
    void uncountedMemoryIsThereWhereTheJvmGrantsNone() throws Exception {
        assertThat(new ChildJvm(BeyondTheLimit.class)
                        .with("-XX:MaxDirectMemorySize=1m")
                        .run())
                .contains("counted: refused", "uncounted: " + BYTES);
    }

    /** What the other JVM runs. */
    static final class BeyondTheLimit {
        private BeyondTheLimit() {}

        public static void main(String[] none) {
            try {
                System.out.println("counted: " + Arena.ofAuto().allocate(BYTES).byteSize());
            } catch (OutOfMemoryError refused) {
                System.out.println("counted: refused");
            }
            System.out.println("uncounted: "
                    + DomainMemory.allocateUncounted(BYTES, Arena.ofAuto()).byteSize());
        }
    }

    @Test
    void whatIsRefusedTakesNoAddresses() throws Exception {
        Arena closed = Arena.ofShared();
        closed.close();
        long before = addressKib();
        for (int time = 0; time < 100; time++) {
            assertThatThrownBy(() -> DomainMemory.allocate(1L << 30, closed)).isInstanceOf(IllegalStateException.class);
        }
        assertThat(addressKib() - before).isLessThan(10 << 20);
        assertThatThrownBy(() -> DomainMemory.allocate(Long.MAX_VALUE, Arena.ofAuto()))
                .isInstanceOf(OutOfMemoryError.class);
    }

    private static long addressKib() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmSize:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void nothingCannotBeAllocated() {
        assertThatThrownBy(() -> DomainMemory.allocate(0, Arena.global())).hasMessage("bytes must be 1 or more, got 0");
        assertThatThrownBy(() -> DomainMemory.allocateUncounted(0, Arena.global()))
                .hasMessage("bytes must be 1 or more, got 0");
    }

    private static void assumeHugePages() throws Exception {
        Path setting = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
        Assumptions.assumeTrue(
                Files.exists(setting) && !Files.readString(setting).contains("[never]"),
                "the kernel gives no huge pages");
    }

    private static String numaMapsLine(MemorySegment segment) {
        try {
            return Files.readAllLines(Path.of("/proc/self/numa_maps")).stream()
                    .filter(line -> Long.parseUnsignedLong(line.split(" ", -1)[0], 16) <= segment.address() + BYTES / 2)
                    .reduce("", (last, line) -> line);
        } catch (IOException absent) {
            return Assumptions.<String>abort("there is no /proc/self/numa_maps");
        }
    }

    private static boolean mapped(long address) throws Exception {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().anyMatch(line -> holds(line, address));
    }

    /** Bytes on huge pages in the mappings that overlap the segment. */
    private static long hugeBytes(MemorySegment segment) throws Exception {
        long bytes = 0;
        boolean inside = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                inside = overlaps(line, segment);
            } else if (inside && line.startsWith("AnonHugePages:")) {
                bytes += Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        return bytes;
    }

    private static boolean holds(String mapping, long address) {
        String[] range = mapping.substring(0, mapping.indexOf(' ')).split("-", -1);
        return Long.parseUnsignedLong(range[0], 16) <= address && address < Long.parseUnsignedLong(range[1], 16);
    }

    private static boolean overlaps(String mapping, MemorySegment segment) {
        String[] range = mapping.substring(0, mapping.indexOf(' ')).split("-", -1);
        return Long.parseUnsignedLong(range[0], 16) < segment.address() + segment.byteSize()
                && segment.address() < Long.parseUnsignedLong(range[1], 16);
    }

    @Test
    void releasedMemoryIsGivenBackWhileItsSegmentStaysAndReadsAsZeros() throws IOException {
        MemorySegment pages = DomainMemory.allocate(BYTES, Arena.ofAuto());
        MemorySegment heap = Arena.ofAuto().allocate(BYTES + 100, 8).asSlice(50, BYTES);
        for (MemorySegment memory : List.of(pages, heap)) {
            memory.fill((byte) 7);
            long before = residentBytes();
            Assumptions.assumeTrue(DomainMemory.release(memory).done());
            assertThat(before - residentBytes()).isGreaterThan(BYTES / 2);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, BYTES / 2)).isZero();
            memory.set(ValueLayout.JAVA_BYTE, BYTES / 2, (byte) 1);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, BYTES / 2)).isEqualTo((byte) 1);
        }
        assertThat(heap.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
        assertThat(DomainMemory.release(MemorySegment.ofArray(new byte[8])).done())
                .isFalse();
    }

    @Test
    void aReleasedMappingLetsGoOfItsFileWhichMayThenBeCutShort(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("mapped"), new byte[100_000]);
        MemorySegment mapped;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 100_000, Arena.ofAuto());
            assertThat(mapped.get(ValueLayout.JAVA_BYTE, 99_999)).isZero();
            Assumptions.assumeTrue(DomainMemory.release(mapped).done());
            channel.truncate(0);
        }
        assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain(file.toString());
        assertThat(mapped.get(ValueLayout.JAVA_BYTE, 99_999)).isZero();
    }

    private static long residentBytes() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("RssAnon:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        }
    }
}
