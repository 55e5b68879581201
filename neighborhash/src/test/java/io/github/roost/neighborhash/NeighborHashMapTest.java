package io.github.roost.neighborhash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.neighborhash.kernel.BatchLookup;
import io.github.roost.neighborhash.kernel.BatchLookups;
import io.github.roost.neighborhash.kernel.Slots;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against a map of the JDK's, and by a look at every slot. */
class NeighborHashMapTest {
    private static final long ODD = 0x9E3779B97F4A7C15L;
    private static final long SECOND = 0xD6E8FEB86659FD93L;

    /** A change. */
    record Change(boolean isRemoval, long key, long payload) {}

    @Property(tries = 300)
    void holdsWhatAMapHoldsAndItsChainsAreWholeAfterEveryChange(@ForAll("changes") List<Change> changes) {
        try (NeighborHashMap table = NeighborHashMap.builder(0).build()) {
            Map<Long, Long> expected = new HashMap<>();
            for (Change change : changes) {
                Long before = change.isRemoval()
                        ? expected.remove(change.key())
                        : expected.put(change.key(), change.payload());
                long was = change.isRemoval() ? table.remove(change.key()) : table.put(change.key(), change.payload());
                assertThat(was).isEqualTo(before == null ? NeighborHashMap.ABSENT : before);
                ChainCheck.requireWhole(table, expected);
            }
            requireFound(
                    table, expected, changes.stream().mapToLong(Change::key).toArray());
        }
    }

    /** Few keys, that come again, many of which belong into few slots while the table is small. */
    @Provide
    Arbitrary<List<Change>> changes() {
        Arbitrary<Long> keys = Arbitraries.oneOf(
                Arbitraries.of(0L, -1L, 1L, Long.MIN_VALUE, Long.MAX_VALUE),
                Arbitraries.longs().between(-20, 20),
                Arbitraries.longs().between(0, 30).map(low -> colliding(7L << 60 | low)),
                Arbitraries.longs());
        Arbitrary<Long> payloads = Arbitraries.oneOf(
                Arbitraries.of(0L, NeighborHashMap.MAX_PAYLOAD),
                Arbitraries.longs().between(0, NeighborHashMap.MAX_PAYLOAD));
        return Combinators.combine(Arbitraries.integers().between(0, 3).map(n -> n == 0), keys, payloads)
                .as(Change::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(120);
    }

    @ParameterizedTest
    @MethodSource("keyFamilies")
    void keysOfAnyPatternAreSpreadAsRandomOnesAre(LongUnaryOperator keyOf) {
        int keys = (int) (.79 * (1 << 16));
        try (NeighborHashMap table = NeighborHashMap.builder(keys).build()) {
            Map<Long, Long> expected = new HashMap<>();
            for (long i = 0; i < keys; i++) {
                long key = keyOf.applyAsLong(i);
                table.put(key, i);
                expected.put(key, i);
            }
            assertThat(table.stats().capacity()).isEqualTo(1 << 16);
            assertThat(table.stats().averageProbedLines()).isLessThan(1.15);
            ChainCheck.requireWhole(table, expected);
        }
    }

    static List<LongUnaryOperator> keyFamilies() {
        return List.of(
                i -> i,
                i -> -i,
                i -> i << 16,
                i -> i << 32,
                i -> i << 48,
                i -> i * 1_000_003,
                i -> (i >>> 8) << 32 | (i & 0xff),
                i -> Double.doubleToLongBits((double) i),
                i -> Long.reverse(i),
                i -> i ^ i << 63);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 18, 20})
    void aLookupTouchesThePapersNumberOfCacheLines(int bits) {
        assertLines(bits);
    }

    @Test
    @Tag("stress")
    void aLookupInALargeTableDoesToo() {
        assertLines(24);
    }

    private static void assertLines(int bits) {
        SplittableRandom random = new SplittableRandom(bits);
        try (NeighborHashMap table =
                NeighborHashMap.builder((long) (.79 * (1 << bits))).build()) {
            for (long i = 0; i < (long) (.79 * (1 << bits)); i++) {
                table.put(random.nextLong(), i);
            }
            assertThat(table.stats().averageProbedLines()).isCloseTo(1.140, within(.005));
            assertThat(table.stats().capacity()).isEqualTo(1 << bits);
            assertThat(table.stats().rebuilds()).isZero();
            // The published code kicks two of a hundred.
            assertThat((double) table.stats().kicks() / table.size()).isCloseTo(.018, within(.002));
        }
    }

    @Test
    void keysThatAllCollideMakeItTakePlacesThatTheyDoNotForesee() {
        Map<Long, Long> expected = new HashMap<>();
        try (NeighborHashMap table = NeighborHashMap.builder(0).build()) {
            for (long i = 0; i < 20_000; i++) {
                table.put(colliding(5L << 60 | i), i);
                expected.put(colliding(5L << 60 | i), i);
                if (i < 200 || i % 1_000 == 0) {
                    ChainCheck.requireWhole(table, expected);
                }
            }
            assertThat(table.slots().seed()).isNotZero();
            assertThat(table.stats().averageProbedLines()).isLessThan(1.2);
            ChainCheck.requireWhole(table, expected);
        }
    }

    @Test
    void aTableThatGrowsAndShedsRemovedKeysKeepsAllOthers() {
        SplittableRandom random = new SplittableRandom(7);
        Map<Long, Long> expected = new HashMap<>();
        try (NeighborHashMap table = NeighborHashMap.builder(0).build()) {
            for (int i = 0; i < 200_000; i++) {
                long key = random.nextLong(5_000);
                if (random.nextBoolean()) {
                    table.put(key, i);
                    expected.put(key, (long) i);
                } else {
                    table.remove(key);
                    expected.remove(key);
                }
                if (i % 20_000 == 0) {
                    ChainCheck.requireWhole(table, expected);
                }
            }
            ChainCheck.requireWhole(table, expected);
            Map<Long, Long> visited = new HashMap<>();
            table.forEach(visited::put);
            assertThat(visited).isEqualTo(expected);
        }
    }

    @Test
    void removedKeysDoNotMakeItGrow() {
        try (NeighborHashMap table = NeighborHashMap.builder(1_000).build()) {
            long capacity = table.stats().capacity();
            for (long i = 0; i < 100_000; i++) {
                table.put(i, i);
                if (i >= 500) {
                    assertThat(table.remove(i - 500)).isEqualTo(i - 500);
                }
            }
            assertThat(table.stats().capacity()).isLessThanOrEqualTo(2 * capacity);
            assertThat(table.size()).isEqualTo(500);
        }
    }

    @Test
    void whereThereIsNoMemoryToGrowNothingChanges() {
        boolean[] hasMemory = {true};
        Map<Long, Long> expected = new HashMap<>();
        NeighborHashMap.Memory memory = (slots, seed) -> {
            if (!hasMemory[0]) {
                throw new OutOfMemoryError("for this test");
            }
            return Slots.allocate(slots, seed);
        };
        try (NeighborHashMap table = NeighborHashMap.builder(0).memory(memory).build()) {
            for (long i = 0; i < 10_000; i++) {
                long key = i * ODD;
                hasMemory[0] = false;
                try {
                    table.put(key, i);
                } catch (OutOfMemoryError full) {
                    ChainCheck.requireWhole(table, expected);
                    assertThat(table.get(key, -7)).isEqualTo(-7);
                    assertThat(expected.isEmpty() || table.put((i - 1) * ODD, i - 1) == i - 1)
                            .as("a key that is there can be put")
                            .isTrue();
                    hasMemory[0] = true;
                    table.put(key, i);
                }
                expected.put(key, i);
            }
            assertThat(table.stats().rebuilds()).isGreaterThan(5);
            ChainCheck.requireWhole(table, expected);
        }
    }

    @Test
    void anErrorWhileAKeyIsMovedLosesNoKeyAndLeavesNoneTwice() {
        SplittableRandom random = new SplittableRandom(13);
        boolean[] throwsNext = {false};
        int errors = 0;
        Map<Long, Long> expected = new HashMap<>();
        try (Slots slots = Slots.allocate(1_024, 0)) {
            Chains chains = new Chains(slots, () -> {
                if (throwsNext[0]) {
                    throw new StackOverflowError("for this test");
                }
            });
            for (long i = 0; expected.size() < 800; i++) {
                long key = random.nextLong();
                throwsNext[0] = random.nextBoolean();
                try {
                    assertThat(chains.add(key, i)).isTrue();
                    expected.put(key, i);
                } catch (StackOverflowError overflow) {
                    errors++;
                    ChainCheck.requireWhole(slots, expected);
                }
            }
            ChainCheck.requireWhole(slots, expected);
            assertThat(errors).isGreaterThan(10);
        }
    }

    /** A free slot has key 0. */
    @Tag("stress")
    @ParameterizedTest
    @MethodSource("lookups")
    void noLookupFindsKeysThatAreAbsentAtAnyLoad(BatchLookup lookup) {
        long[] wanted = new long[600];
        Arrays.setAll(wanted, i -> -(i & 1));
        long[] found = new long[wanted.length];
        for (int bits : new int[] {4, 8, 11, 12, 13, 16, 17, 19}) {
            int keys = (int) (.8 * (1 << bits));
            for (int seed = 0; seed < 8; seed++) {
                SplittableRandom random = new SplittableRandom(seed);
                try (NeighborHashMap table = NeighborHashMap.builder(keys).build()) {
                    for (int percent : new int[] {0, 5, 50, 100}) {
                        while (table.size() < (long) keys * percent / 100) {
                            table.put(random.nextLong(1, Long.MAX_VALUE), 5);
                        }
                        int there = lookup.find(
                                table.slots(), MemorySegment.ofArray(wanted), 600, MemorySegment.ofArray(found));
                        assertThat(there)
                                .as("%d bits, seed %d, %d %%", bits, seed, percent)
                                .isZero();
                        assertThat(found).containsOnly(NeighborHashMap.ABSENT);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("lookups")
    void everyLookupFindsInABatchWhatGetFinds(BatchLookup lookup) {
        SplittableRandom random = new SplittableRandom(3);
        for (int bits : new int[] {4, 8, 12, 19}) {
            int keys = (int) (.8 * (1 << bits));
            try (NeighborHashMap table = NeighborHashMap.builder(keys).build();
                    Arena arena = Arena.ofConfined()) {
                long[] present = random.longs(keys - 1).toArray();
                table.put(0, 77);
                for (int i = 0; i < present.length; i++) {
                    table.put(present[i], i);
                    if (i % 5 == 0) {
                        table.remove(present[i]);
                    }
                }
                for (int n : new int[] {0, 1, 7, 8, 9, 31, 32, 33, 64, 500, 1_023, 1_025, 5_000}) {
                    long[] wanted = random.longs(n).toArray();
                    for (int i = 0; i < n; i++) {
                        wanted[i] = switch (random.nextInt(10)) {
                            case 0 -> wanted[i];
                            case 1 -> 0;
                            case 2 -> -1;
                            default -> present[random.nextInt(present.length)];
                        };
                    }
                    long[] expected = Arrays.stream(wanted)
                            .map(key -> table.get(key, NeighborHashMap.ABSENT))
                            .toArray();
                    int there = (int) Arrays.stream(expected)
                            .filter(payload -> payload != NeighborHashMap.ABSENT)
                            .count();
                    long[] found = new long[n];
                    assertThat(lookup.find(
                                    table.slots(), MemorySegment.ofArray(wanted), n, MemorySegment.ofArray(found)))
                            .isEqualTo(there);
                    assertThat(found).isEqualTo(expected);
                    // Off-heap, at odd addresses, between bytes that stay what they are.
                    MemorySegment keySegment = arena.allocate(8L * n + 2).asSlice(1, 8L * n);
                    MemorySegment payloads = arena.allocate(8L * n + 2);
                    payloads.fill((byte) 99);
                    MemorySegment.copy(wanted, 0, keySegment, ValueLayout.JAVA_LONG_UNALIGNED, 0, n);
                    assertThat(lookup.find(table.slots(), keySegment, n, payloads.asSlice(1)))
                            .isEqualTo(there);
                    assertThat(payloads.asSlice(1, 8L * n).toArray(ValueLayout.JAVA_LONG_UNALIGNED))
                            .isEqualTo(expected);
                    assertThat(payloads.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 99);
                    assertThat(payloads.get(ValueLayout.JAVA_BYTE, 8L * n + 1)).isEqualTo((byte) 99);
                }
            }
        }
    }

    static List<BatchLookup> lookups() {
        return BatchLookups.available();
    }

    @Test
    void theNativeLookupIsThereWhereItWasBuilt() {
        boolean isBuilt = Slots.class.getResource("/native/linux-x86_64/libroost_table.so") != null
                && System.getProperty("os.arch").equals("amd64");
        assertThat(BatchLookups.available()).extracting(BatchLookup::name).endsWith("java");
        if (isBuilt) {
            assertThat(BatchLookups.available()).extracting(BatchLookup::name).contains("portable");
        }
    }

    @Test
    void aBatchIsLookedUpByWhatIsFasterForItsSize() {
        for (BatchLookup lookup : BatchLookups.available()) {
            boolean isJava = lookup.name().equals("java");
            for (boolean isBesideWriter : new boolean[] {false, true}) {
                assertThat(BatchLookups.forBatch(lookup, 1 << 24, 1, isBesideWriter)
                                .name())
                        .isEqualTo("java");
                assertThat(BatchLookups.forBatch(lookup, 1 << 24, 500, isBesideWriter)
                                .name())
                        .isEqualTo(lookup.name());
                assertThat(BatchLookups.forBatch(lookup, 1 << 14, 500, isBesideWriter)
                                .name())
                        .isEqualTo(lookup.name());
            }
            assertThat(BatchLookups.forBatch(lookup, 1 << 24, 10, false).name()).isEqualTo("java");
            assertThat(BatchLookups.forBatch(lookup, 1 << 24, 10, true).name())
                    .isEqualTo(isJava ? "java" : lookup.name());
        }
    }

    @Test
    void aBatchOfAnySizeFindsWhatGetFinds() {
        SplittableRandom random = new SplittableRandom(5);
        try (NeighborHashMap table = NeighborHashMap.builder(100_000).build();
                NeighborHashMap.Reader reader = table.reader()) {
            for (int i = 0; i < 100_000; i++) {
                table.put(3L * i, i);
            }
            for (int n : new int[] {1, 10, 20, 50, 10_000}) {
                long[] wanted = random.longs(n, 0, 300_000).toArray();
                long[] expected = Arrays.stream(wanted)
                        .map(key -> key % 3 == 0 ? key / 3 : NeighborHashMap.ABSENT)
                        .toArray();
                long[] found = new long[n];
                table.getAll(MemorySegment.ofArray(wanted), n, MemorySegment.ofArray(found));
                assertThat(found).isEqualTo(expected);
                long[] read = new long[n];
                reader.getAll(MemorySegment.ofArray(wanted), n, MemorySegment.ofArray(read));
                assertThat(read).isEqualTo(expected);
            }
        }
    }

    /** In a core's own cache and beyond: more keys are under way than a lookup has room for, if it begins new ones meanwhile. */
    @ParameterizedTest
    @ValueSource(ints = {1_000, 200_000})
    void aBatchOfKeysAtTheEndOfLongChainsFindsThemAll(int expected) {
        int chain = 60;
        long[] wanted = new long[3_000];
        long[] payloads = new long[wanted.length];
        for (int i = 0; i < wanted.length; i++) {
            // The last one again and again, then all in turn, then one more that is not there.
            payloads[i] = i < 1_000 ? chain - 1 : i < 2_000 ? i % chain : NeighborHashMap.ABSENT;
            wanted[i] = colliding(5L << 60 | (i < 2_000 ? payloads[i] : chain));
        }
        for (BatchLookup lookup : BatchLookups.available()) {
            try (NeighborHashMap table =
                    NeighborHashMap.builder(expected).lookup(lookup).build()) {
                for (int i = 0; i < chain; i++) {
                    table.put(colliding(5L << 60 | i), i);
                }
                assertThat(table.slots().seed()).isZero();
                long[] found = new long[wanted.length];
                int there = lookup.find(
                        table.slots(), MemorySegment.ofArray(wanted), wanted.length, MemorySegment.ofArray(found));
                assertThat(found).as(lookup.name()).isEqualTo(payloads);
                assertThat(there).isEqualTo(2_000);
            }
        }
    }

    @Test
    void aReaderReadsWhatWasPutAndTableAndReaderEndWhenClosed() {
        NeighborHashMap table = NeighborHashMap.builder(10).build();
        NeighborHashMap.Reader reader = table.reader();
        table.put(3, 4);
        assertThat(reader.get(3, -1)).isEqualTo(4);
        assertThat(reader.get(4, -5)).isEqualTo(-5);
        long[] found = new long[2];
        assertThat(reader.getAll(MemorySegment.ofArray(new long[] {3, 9}), 2, MemorySegment.ofArray(found)))
                .isEqualTo(1);
        assertThat(found).containsExactly(4, NeighborHashMap.ABSENT);
        NeighborHashMap.Reader other = table.reader();
        other.close();
        other.close();
        assertThatThrownBy(() -> other.get(3, -1)).isInstanceOf(IllegalStateException.class);
        table.close();
        table.close();
        MemorySegment longs = MemorySegment.ofArray(new long[100]);
        List<Runnable> uses = new ArrayList<>(List.of(
                () -> table.get(3, -1),
                () -> table.put(3, 1),
                () -> table.put(5, 1),
                () -> table.remove(3),
                () -> table.stats(),
                () -> table.forEach((key, payload) -> {}),
                () -> reader.get(3, -1),
                () -> reader.getAll(longs, 100, MemorySegment.ofArray(new long[100])),
                () -> table.getAll(longs, 100, MemorySegment.ofArray(new long[100]))));
        uses.forEach(use -> assertThatThrownBy(use::run).isInstanceOf(IllegalStateException.class));
    }

    @Test
    void whatIsOutOfRangeIsRefusedAndChangesNothing() {
        assertThatThrownBy(() -> NeighborHashMap.builder(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got -1");
        try (NeighborHashMap table = NeighborHashMap.builder(10).build()) {
            table.put(1, 2);
            assertThatThrownBy(() -> table.put(1, -1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("payload must be between 0 and 4503599627370494, got -1");
            assertThatThrownBy(() -> table.put(2, NeighborHashMap.MAX_PAYLOAD + 1))
                    .isInstanceOf(IllegalArgumentException.class);
            MemorySegment two = MemorySegment.ofArray(new long[2]);
            assertThatThrownBy(() -> table.getAll(two, 3, MemorySegment.ofArray(new long[3])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("keys and payloads must have 24 bytes for 3 keys, got 16 and 24");
            assertThatThrownBy(() -> table.getAll(two, -1, MemorySegment.ofArray(new long[3])))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> table.getAll(two, 2, two)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> table.getAll(
                            two, 2, MemorySegment.ofArray(new long[2]).asReadOnly()))
                    .isInstanceOf(IllegalArgumentException.class);
            ChainCheck.requireWhole(table, Map.of(1L, 2L));
        }
    }

    @Test
    void theKeysOfOneShardFillItsTableAsWellAsAnyOthers() {
        int keys = (int) (.79 * (1 << 16));
        int[] counts = new int[8];
        try (NeighborHashMap table = NeighborHashMap.builder(keys).build()) {
            for (long key = 0; table.size() < keys; key++) {
                counts[NeighborHashMap.shard(key, 8)]++;
                if (NeighborHashMap.shard(key, 8) == 3) {
                    table.put(key, key);
                }
            }
            assertThat(table.stats().averageProbedLines()).isLessThan(1.15);
        }
        int all = Arrays.stream(counts).sum();
        assertThat(Arrays.stream(counts).boxed().toList())
                .allSatisfy(count -> assertThat((double) count / all).isCloseTo(.125, within(.005)));
        assertThatThrownBy(() -> NeighborHashMap.shard(1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    /** The key with a hash: what an adversary computes. */
    private static long colliding(long hash) {
        long product = hash * inverse(SECOND);
        return (product ^ product >>> 32) * inverse(ODD);
    }

    /** Newton's iteration for the inverse of an odd number among the 64-bit ones. */
    private static long inverse(long odd) {
        long inverse = odd;
        for (int i = 0; i < 6; i++) {
            inverse *= 2 - odd * inverse;
        }
        return inverse;
    }

    private static void requireFound(NeighborHashMap table, Map<Long, Long> expected, long[] keys) {
        for (long key : keys) {
            assertThat(table.get(key, -9)).isEqualTo(expected.getOrDefault(key, -9L));
        }
    }
}
