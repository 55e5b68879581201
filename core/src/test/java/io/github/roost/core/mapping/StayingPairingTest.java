package io.github.roost.core.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.monitor.Traffic;
import io.github.roost.core.remap.DomainLoads;
import io.github.roost.core.remap.RemapRule;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StayingPairingTest {
    private final MappingPolicy policy = new StayingPairing();

    @Test
    void aBalancedMappingStays() {
        Mapping current = Mapping.of(2, new int[] {0, 1, 0, 1});
        assertThat(policy.next(current, new long[] {50, 50, 10, 10}).sameHomes(current))
                .isTrue();
    }

    @Test
    void anItemHotterThanAFairShareGetsAsManyHomesAsItNeeds() {
        Mapping next = policy.next(Mapping.of(4, new int[] {0, 1, 2, 3}), new long[] {700, 100, 100, 100});
        assertThat(next.homeCount(0)).isEqualTo(3);
        assertThat(next.homes(0)).doesNotHaveDuplicates();
    }

    @Test
    void onlyAsMuchMovesAsBalanceNeeds() {
        Mapping current = Mapping.of(2, new int[] {0, 0, 0, 1});
        Mapping next = policy.next(current, new long[] {40, 30, 10, 20});
        assertThat(DomainLoads.movedBytes(current, next, new long[] {40, 30, 10, 20}))
                .isEqualTo(30);
        assertThat(DomainLoads.of(next, new long[] {40, 30, 10, 20})).containsExactly(50, 50);
    }

    @Property(tries = 300)
    void everyIdHasHomesAndNoDomainIsMuchFullerThanUnderLongestFirst(
            @ForAll("traffic") long[] traffic, @ForAll @IntRange(min = 1, max = 12) int domains, @ForAll long seed) {
        int[] homes = new Random(seed).ints(traffic.length, 0, domains).toArray();
        Mapping next = policy.next(Mapping.of(domains, homes), traffic);
        assertThat(next.slots()).isEqualTo(traffic.length);
        double longestFirst = Arrays.stream(DomainLoads.of(new LongestFirst().next(next, traffic), traffic))
                .max()
                .orElse(0);
        double ours = Arrays.stream(DomainLoads.of(next, traffic)).max().orElse(0);
        assertThat(ours).isLessThanOrEqualTo(longestFirst * 1.05 + domains);
    }

    @Property(tries = 300)
    void isAPureFunction(@ForAll("traffic") long[] traffic, @ForAll @IntRange(min = 1, max = 12) int domains) {
        Mapping current = Mapping.of(domains, new int[traffic.length]);
        assertThat(policy.next(current, traffic).sameHomes(policy.next(current, traffic)))
                .isTrue();
    }

    @Provide
    Arbitrary<long[]> traffic() {
        return Arbitraries.longs().between(0, 1_000_000).array(long[].class).ofMaxSize(100);
    }

    /** How the traffic of Zipf-distributed items changes from window to window. */
    enum Drift {
        /** Neighbors in popularity change places. */
        NEIGHBORS {
            @Override
            void next(int[] rank, double[] factor, Random random) {
                for (int i = 0; i < rank.length / 10; i++) {
                    int place = random.nextInt(rank.length - 1);
                    swap(rank, indexOf(rank, place), indexOf(rank, place + 1));
                }
            }
        },
        /** The traffic of each item goes up and down by itself. */
        WALK {
            @Override
            void next(int[] rank, double[] factor, Random random) {
                for (int item = 0; item < factor.length; item++) {
                    factor[item] = Math.clamp(factor[item] * Math.exp(.1 * random.nextGaussian()), .125, 8);
                }
            }
        },
        /** Any two change places, and what a window counts of each is a matter of chance. */
        COUNTED {
            @Override
            void next(int[] rank, double[] factor, Random random) {
                swap(rank, random.nextInt(rank.length), random.nextInt(rank.length));
                for (int item = 0; item < factor.length; item++) {
                    double mean = 2_000. / (1 + rank[item]);
                    factor[item] = Math.max(0, 1 + random.nextGaussian() / Math.sqrt(mean));
                }
            }
        },
        /**
         * Any two change places and nothing else ever changes. Kind to Algorithm 1, which then moves those two alone;
         * with few domains balance demands nearly as much.
         */
        EXACT {
            @Override
            void next(int[] rank, double[] factor, Random random) {
                swap(rank, random.nextInt(rank.length), random.nextInt(rank.length));
            }
        };

        abstract void next(int[] rank, double[] factor, Random random);
    }

    @ParameterizedTest
    @CsvSource({
        "NEIGHBORS, 60,12,.5",
        "NEIGHBORS, 60,4,.5",
        "NEIGHBORS, 60,2,.5",
        "NEIGHBORS, 1000,24,.5",
        "WALK, 60,12,.5",
        "WALK, 60,4,.5",
        "WALK, 60,2,.5",
        "WALK, 1000,24,.5",
        "COUNTED, 60,12,.5",
        "COUNTED, 60,4,.5",
        "COUNTED, 60,2,.5",
        "COUNTED, 1000,24,.5",
        "EXACT, 60,12,.6",
        "EXACT, 60,6,.6",
        "EXACT, 60,4,.7",
        "EXACT, 60,2,.7",
        "EXACT, 200,12,.6",
    })
    void aDriftingZipfWorkloadMovesMuchLessThanAlgorithm1Moves(Drift drift, int items, int domains, double maxShare) {
        for (int seed = 1; seed <= 3; seed++) {
            Random random = new Random(seed);
            int[] rank = random.ints(0, items).distinct().limit(items).toArray();
            double[] factor = new double[items];
            Arrays.fill(factor, 1);
            Mapping ours = Mapping.of(domains, HotColdPairing.assign(zipf(rank, factor), domains));
            Mapping theirs = ours;
            long weMoved = 0;
            long theyMoved = 0;
            for (int window = 0; window < 200; window++) {
                drift.next(rank, factor, random);
                long[] traffic = zipf(rank, factor);
                Mapping ourNext = policy.next(ours, traffic);
                Mapping theirNext = new HotColdPairing().next(theirs, traffic);
                weMoved += DomainLoads.movedBytes(ours, ourNext, traffic);
                theyMoved += DomainLoads.movedBytes(theirs, theirNext, traffic);
                Mapping longestFirst = Mapping.of(domains, LongestFirst.assign(traffic, domains));
                assertThat(max(ourNext, traffic)).isLessThanOrEqualTo(max(longestFirst, traffic) * 1.05);
                ours = ourNext;
                theirs = theirNext;
            }
            assertThat((double) weMoved / theyMoved).as("seed %d", seed).isLessThanOrEqualTo(maxShare);
        }
    }

    @Test
    void anItemAboutAFairShareKeepsItsHomes() {
        Mapping mapping = policy.next(Mapping.of(2, new int[] {0, 1, 1}), new long[] {52, 24, 24});
        assertThat(mapping.homeCount(0)).isEqualTo(2);
        assertThat(policy.next(mapping, new long[] {48, 26, 26}).homeCount(0)).isEqualTo(2);
        assertThat(policy.next(mapping, new long[] {20, 40, 40}).homeCount(0)).isEqualTo(1);
    }

    @Test
    void poissonNoiseNeverRemapsAStationaryWorkload() {
        int items = 60;
        int domains = 12;
        Random random = new Random(11);
        int[] rank = random.ints(0, items).distinct().limit(items).toArray();
        long[] mean = zipf(rank);
        Mapping mapping = policy.next(Mapping.of(domains, HotColdPairing.assign(mean, domains)), mean);
        RemapTrigger trigger = new RemapTrigger(.15, 6);
        for (int searchesPerWindow : new int[] {500, 5_000, 50_000}) {
            for (int window = 0; window < 100; window++) {
                Traffic traffic = poisson(mean, searchesPerWindow, random);
                assertThat(RemapRule.pays(trigger, mapping, policy.next(mapping, traffic.bytes()), traffic, 0))
                        .as("window %d of %d searches", window, searchesPerWindow)
                        .isFalse();
            }
        }
    }

    @Test
    void aRealShiftIsSeenInOneWindow() {
        int[] homes = {0, 0, 0, 0, 1, 1, 1, 1};
        Traffic shifted = new Traffic(
                new long[] {900_000, 900_000, 900_000, 900_000, 1_000, 1_000, 1_000, 1_000},
                new long[] {900, 900, 900, 900, 1, 1, 1, 1});
        Mapping mapping = Mapping.of(2, homes);
        assertThat(RemapRule.pays(new RemapTrigger(.15, 6), mapping, policy.next(mapping, shifted.bytes()), shifted, 0))
                .isTrue();
    }

    private static Traffic poisson(long[] mean, int searches, Random random) {
        double total = Arrays.stream(mean).sum();
        long[] bytes = new long[mean.length];
        long[] counts = new long[mean.length];
        for (int item = 0; item < mean.length; item++) {
            double lambda = searches * mean[item] / total;
            long count = Math.max(0, Math.round(lambda + Math.sqrt(lambda) * random.nextGaussian()));
            counts[item] = count;
            bytes[item] = count * 100_000;
        }
        return new Traffic(bytes, counts);
    }

    private static int indexOf(int[] values, int wanted) {
        return IntStream.range(0, values.length)
                .filter(i -> values[i] == wanted)
                .findFirst()
                .orElseThrow();
    }

    private static long[] zipf(int[] rank, double[] factor) {
        return IntStream.range(0, rank.length)
                .mapToLong(item -> (long) (1e9 / (1 + rank[item]) * factor[item]))
                .toArray();
    }

    private static long[] zipf(int[] rank) {
        return Arrays.stream(rank).mapToLong(r -> (long) (1e9 / (1 + r))).toArray();
    }

    private static void swap(int[] values, int i, int j) {
        int kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }

    private static double max(Mapping mapping, long[] traffic) {
        return Arrays.stream(DomainLoads.of(mapping, traffic)).max().orElse(0);
    }
}
