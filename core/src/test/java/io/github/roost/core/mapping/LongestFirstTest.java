package io.github.roost.core.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LongestFirstTest {
    @Test
    void theHottestItemsGetDomainsOfTheirOwnAndColdOnesFillUp() {
        // 50 -> 0, 40 -> 1, 30 -> 1 holds 40, 0 holds 50: 1; 20 -> 0 (50 < 70); 10: both hold 70 -> 0.
        assertThat(LongestFirst.assign(new long[] {10, 20, 30, 40, 50}, 2)).containsExactly(0, 0, 1, 1, 0);
    }

    @Test
    void equalItemsAreTakenByAscendingIdAndEqualDomainsByAscendingIndex() {
        assertThat(LongestFirst.assign(new long[] {7, 7, 7, 7, 7}, 3)).containsExactly(0, 1, 2, 0, 1);
    }

    @Test
    void itemsWithoutTrafficAllGoToTheDomainThatIsLeastLoaded() {
        assertThat(LongestFirst.assign(new long[] {0, 5, 0}, 2)).containsExactly(1, 0, 1);
        assertThat(LongestFirst.assign(new long[] {0, 0, 0}, 4)).containsExactly(0, 0, 0);
    }

    @Test
    void oneHotItemAmongColdOnesIsAlone() {
        assertThat(LongestFirst.assign(new long[] {1, 1, 100, 1, 1}, 2)).containsExactly(1, 1, 0, 1, 1);
    }

    @Test
    void noItemsGiveNoHomes() {
        assertThat(LongestFirst.assign(new long[0], 3)).isEmpty();
    }

    @Test
    void badArgumentsAreNamed() {
        assertThatThrownBy(() -> LongestFirst.assign(new long[] {1}, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 1, got 0");
        assertThatThrownBy(() -> LongestFirst.assign(new long[] {1, -2}, 2))
                .hasMessageContaining("item 1 must not be negative, got -2");
        assertThatThrownBy(() -> LongestFirst.assign(new long[] {Long.MAX_VALUE, 1}, 2))
                .hasMessageContaining("below 2^63");
    }

    @Test
    void trafficTooLargeToPackWithItsIdIsSortedTheSame() {
        long huge = Long.MAX_VALUE / 8;
        assertThat(LongestFirst.assign(new long[] {1, huge, huge, huge - 1, 2}, 2))
                .containsExactly(1, 0, 1, 0, 1)
                .isEqualTo(textbook(new long[] {1, huge, huge, huge - 1, 2}, 2));
    }

    @Property
    void assignsAsTheTextbookDoes(@ForAll("traffic") long[] traffic, @ForAll @IntRange(min = 1, max = 24) int domains) {
        assertThat(LongestFirst.assign(traffic, domains)).isEqualTo(textbook(traffic, domains));
    }

    @Property
    void noDomainExceedsGrahamsBound(
            @ForAll("traffic") long[] traffic, @ForAll @IntRange(min = 1, max = 24) int domains) {
        int[] homes = LongestFirst.assign(traffic, domains);
        long[] loads = new long[domains];
        for (int item = 0; item < homes.length; item++) {
            loads[homes[item]] += traffic[item];
        }
        double mean = (double) Arrays.stream(traffic).sum() / domains;
        long hottest = Arrays.stream(traffic).max().orElse(0);
        assertThat((double) Arrays.stream(loads).max().orElse(0))
                .isLessThanOrEqualTo(mean + hottest * (1 - 1.0 / domains) + 1);
    }

    @Provide
    Arbitrary<long[]> traffic() {
        return Arbitraries.oneOf(
                        Arbitraries.longs().between(0, 5), Arbitraries.longs().between(0, 1L << 45))
                .array(long[].class)
                .ofMaxSize(200);
    }

    /** The rule as one would write it on paper. */
    private static int[] textbook(long[] traffic, int domains) {
        long[] loads = new long[domains];
        int[] homes = new int[traffic.length];
        List<Integer> order = IntStream.range(0, traffic.length)
                .boxed()
                .sorted(Comparator.<Integer>comparingLong(item -> traffic[item])
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
        for (int item : order) {
            int least = 0;
            for (int domain = 1; domain < domains; domain++) {
                least = loads[domain] < loads[least] ? domain : least;
            }
            homes[item] = least;
            loads[least] += traffic[item];
        }
        return homes;
    }
}
