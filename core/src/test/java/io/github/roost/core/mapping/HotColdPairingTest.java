package io.github.roost.core.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class HotColdPairingTest {
    /** Mean 75. 50 -> 0, and 10 with it (60). 40 -> 1, and 20 with it (60). 30: both hold 60 -> 0. */
    @Test
    void theHottestIsPairedWithTheColdest() {
        assertThat(HotColdPairing.assign(new long[] {10, 20, 30, 40, 50}, 2)).containsExactly(0, 1, 0, 1, 0);
    }

    /** Mean 52. 100 -> 0, beside which nothing fits. The others go to 1: of each two the second fits as the coldest. */
    @Test
    void besideAnItemAboveTheMeanThereIsNoRoom() {
        assertThat(HotColdPairing.assign(new long[] {1, 1, 100, 1, 1}, 2)).containsExactly(1, 1, 0, 1, 1);
    }

    /** Mean 11 2/3. 7 -> 0, beside which 7 do not fit. */
    @Test
    void equalItemsAreTakenByAscendingIdAndEqualDomainsByAscendingIndex() {
        assertThat(HotColdPairing.assign(new long[] {7, 7, 7, 7, 7}, 3)).containsExactly(0, 1, 2, 0, 1);
    }

    /** Mean 10 1/3: 10 is at most that, 11 is not. */
    @Test
    void whatFitsIsComparedExactly() {
        assertThat(HotColdPairing.assign(new long[] {8, 8, 8, 5, 2}, 3)).containsExactly(0, 1, 2, 1, 0);
        assertThat(HotColdPairing.assign(new long[] {8, 8, 8, 4, 3}, 3)).containsExactly(0, 1, 2, 0, 1);
    }

    /** They fit beside whatever is there, since there is always room for nothing. */
    @Test
    void itemsWithoutTrafficJoinTheHottest() {
        assertThat(HotColdPairing.assign(new long[] {0, 5, 0}, 2)).containsExactly(1, 0, 0);
        assertThat(HotColdPairing.assign(new long[] {0, 0, 0}, 4)).containsExactly(0, 0, 0);
    }

    @Test
    void noItemsGiveNoHomes() {
        assertThat(HotColdPairing.assign(new long[0], 3)).isEmpty();
    }

    @Test
    void badArgumentsAreNamed() {
        assertThatThrownBy(() -> HotColdPairing.assign(new long[] {1}, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 1, got 0");
        assertThatThrownBy(() -> HotColdPairing.assign(new long[] {1, -2}, 2))
                .hasMessageContaining("item 1 must not be negative, got -2");
        assertThatThrownBy(() -> HotColdPairing.assign(new long[] {Long.MAX_VALUE, 1}, 2))
                .hasMessageContaining("below 2^63");
    }

    @Property
    void assignsAsThePaperDoes(@ForAll("traffic") long[] traffic, @ForAll @IntRange(min = 1, max = 24) int domains) {
        assertThat(HotColdPairing.assign(traffic, domains)).isEqualTo(asPublished(traffic, domains));
    }

    @Provide
    Arbitrary<long[]> traffic() {
        return Arbitraries.oneOf(
                        Arbitraries.longs().between(0, 5),
                        Arbitraries.longs().between(0, 1_000),
                        Arbitraries.longs().between(0, 1L << 55))
                .array(long[].class)
                .ofMaxSize(200);
    }

    /** Line by line, with mu and cap times the number of domains, so that they are whole numbers. */
    private static int[] asPublished(long[] traffic, int domains) {
        BigInteger m = BigInteger.valueOf(domains);
        BigInteger[] t = Arrays.stream(traffic).mapToObj(BigInteger::valueOf).toArray(BigInteger[]::new);
        BigInteger timesMu = Arrays.stream(t).reduce(BigInteger.ZERO, BigInteger::add);
        Deque<Integer> a = new ArrayDeque<>(IntStream.range(0, traffic.length)
                .boxed()
                .sorted(Comparator.<Integer>comparingLong(item -> traffic[item])
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .toList());
        BigInteger[] l = new BigInteger[domains];
        Arrays.fill(l, BigInteger.ZERO);
        int[] mapping = new int[traffic.length];
        while (!a.isEmpty()) {
            int r = IntStream.range(0, domains)
                    .boxed()
                    .min(Comparator.comparing(domain -> l[domain]))
                    .orElseThrow();
            int hot = a.removeFirst();
            BigInteger cap = timesMu.subtract(l[r].add(t[hot]).multiply(m)).max(BigInteger.ZERO);
            mapping[hot] = r;
            l[r] = l[r].add(t[hot]);
            if (!a.isEmpty() && t[a.getLast()].multiply(m).compareTo(cap) <= 0) {
                int cold = a.removeLast();
                mapping[cold] = r;
                l[r] = l[r].add(t[cold]);
            }
        }
        return mapping;
    }
}
